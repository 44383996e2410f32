//! What is asked for: objects by kind and id, and how much of them.

use std::fmt;

/// A group of attributes that is only sent if it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Mappings of Fibre Channel ports.
    ViosFibreChannelMappings,
    /// Shared Ethernet adapters and trunks.
    ViosNetwork,
    /// Mappings of disks and media.
    ViosScsiMappings,
    /// Disks, volume groups, media repositories. The slow one.
    ViosStorage,
    /// The NVRAM of a partition.
    Nvram,
}

impl Group {
    fn word(self) -> &'static str {
        match self {
            Self::ViosFibreChannelMappings => "ViosFCMapping",
            Self::ViosNetwork => "ViosNetwork",
            Self::ViosScsiMappings => "ViosSCSIMapping",
            Self::ViosStorage => "ViosStorage",
            Self::Nvram => "NVRAM",
        }
    }
}

/// The path of an object or a feed, from the service on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    path: String,
    groups: Vec<Group>,
}

impl Path {
    /// All objects of a kind.
    pub fn feed(kind: &str) -> Self {
        Self { path: format!("uom/{kind}"), groups: Vec::new() }
    }

    /// One object.
    pub fn entry(kind: &str, id: &str) -> Self {
        Self { path: format!("uom/{kind}/{id}"), groups: Vec::new() }
    }

    /// All objects of a kind that belong to this one.
    #[must_use]
    pub fn child(&self, kind: &str) -> Self {
        Self { path: format!("{}/{kind}", self.path), groups: Vec::new() }
    }

    /// One object of this feed.
    #[must_use]
    pub fn item(&self, id: &str) -> Self {
        Self { path: format!("{}/{id}", self.path), groups: self.groups.clone() }
    }

    /// With more attributes.
    #[must_use]
    pub fn with(mut self, groups: &[Group]) -> Self {
        self.groups.extend(groups);
        self.groups.sort_unstable_by_key(|group| group.word());
        self.groups.dedup();
        self
    }

    /// With the groups that the server asks for: nothing is asked for twice, and nothing in vain.
    pub(super) fn query(&self) -> String {
        let words: Vec<&str> = self.groups.iter().map(|group| group.word()).collect();
        let words = if words.is_empty() { "None".to_owned() } else { words.join(",") };
        format!("{}?group={words}", self.path)
    }

    /// Without any question about attributes.
    pub(super) fn bare(&self) -> &str {
        &self.path
    }
}

/// For messages: `LogicalPartition/…` without the service.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path.split_once('/').map_or(&self.path, |(_, rest)| rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_and_named_once() {
        let path = Path::entry("VirtualIOServer", "A").with(&[
            Group::ViosStorage,
            Group::ViosScsiMappings,
            Group::ViosStorage,
        ]);
        assert_eq!(path.query(), "uom/VirtualIOServer/A?group=ViosSCSIMapping,ViosStorage");
        assert_eq!(path.child("VolumeGroup").query(), "uom/VirtualIOServer/A/VolumeGroup?group=None");
        assert_eq!(path.to_string(), "VirtualIOServer/A");
    }
}
