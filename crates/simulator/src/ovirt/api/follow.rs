//! The `follow` parameter: which links of a representation are replaced by what they lead to.

/// A tree of links to follow: `disk_attachments.disk,nics` has two branches, the first with a branch of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follow {
    branches: Vec<(String, Follow)>,
}

/// How deep following may go: each level multiplies the size of the answer.
const MAX_DEPTH: usize = 6;

impl Follow {
    /// Reads the parameter. Underscores do not count: `disk_attachments` is `diskattachments`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut root = Self::default();
        for path in text.split(',') {
            let mut at = &mut root;
            for name in path.split('.').map(normalised).filter(|name| !name.is_empty()).take(MAX_DEPTH) {
                let place = at.branches.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    at.branches.push((name, Self::default()));
                    at.branches.len() - 1
                });
                at = &mut at.branches[place].1;
            }
        }
        root
    }

    /// What to follow behind the link or reference of that name, if it is to be followed.
    pub(crate) fn branch(&self, name: &str) -> Option<&Self> {
        if self.branches.is_empty() {
            return None;
        }
        let name = normalised(name);
        self.branches.iter().find(|(known, _)| *known == name).map(|(_, branch)| branch)
    }
}

fn normalised(name: &str) -> String {
    name.trim().replace('_', "").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_nest_and_share_their_stems() {
        let follow = Follow::parse("disk_attachments.disk,nics, diskattachments.template ,");
        let disks = follow.branch("diskattachments").unwrap();
        assert!(disks.branch("disk").is_some() && disks.branch("template").is_some());
        assert_eq!(follow.branch("nics"), Some(&Follow::default()));
        assert_eq!(follow.branch("tags"), None);
    }

    #[test]
    fn nothing_and_very_deep_paths_are_harmless() {
        assert_eq!(Follow::parse(""), Follow::default());
        let deep = Follow::parse(&"vm.".repeat(1000));
        let mut depth = 0;
        let mut at = &deep;
        while let Some(next) = at.branch("vm") {
            at = next;
            depth += 1;
        }
        assert_eq!(depth, MAX_DEPTH);
    }
}
