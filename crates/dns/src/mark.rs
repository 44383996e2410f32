//! The mark: a TXT record beside a name that says which cluster it belongs to, and which types of records it covers.
//!
//! The mark of `api.demo.example.com` stands at `_landfall.api.demo.example.com`, that of `*.apps.demo.example.com` at
//! `_landfall-wildcard.apps.demo.example.com`. It does not stand at the name itself, because nothing may stand beside a CNAME,
//! and because a wildcard in the zone would otherwise answer for it.

use std::collections::BTreeSet;

use landfall_platform::InfraId;

use crate::{Data, Name, RecordSet, Type};

const HERITAGE: &str = "heritage=landfall";
const LABEL: &str = "_landfall";
const WILDCARD_LABEL: &str = "_landfall-wildcard";

/// Whose the records at a name are, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The cluster.
    pub owner: InfraId,
    /// The types of records that it keeps there. Records of other types at the same name are somebody else's.
    pub types: BTreeSet<Type>,
}

impl Mark {
    /// Where the mark of a name stands.
    pub fn place(name: &Name) -> Name {
        let place = match name.as_str().strip_prefix("*.") {
            Some(rest) => format!("{WILDCARD_LABEL}.{rest}"),
            None => format!("{LABEL}.{name}"),
        };
        place.parse().expect("the name of a cluster leaves room for a label")
    }

    /// The name whose mark would stand at a place, if any would.
    pub fn subject(place: &Name) -> Option<Name> {
        let (label, rest) = place.as_str().split_once('.')?;
        match label {
            LABEL => rest.parse().ok(),
            WILDCARD_LABEL => format!("*.{rest}").parse().ok(),
            _ => None,
        }
    }

    /// The mark in a text, if the text is one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        if parts.next() != Some(HERITAGE) {
            return None;
        }
        let owner = parts.next()?.strip_prefix("owner=")?.parse().ok()?;
        let types =
            parts.next()?.strip_prefix("records=")?.split('+').map(str::parse).collect::<Result<_, ()>>().ok()?;
        parts.next().is_none().then_some(Self { owner, types })
    }

    /// The text of the mark.
    pub fn text(&self) -> String {
        let types: Vec<&str> = self.types.iter().map(|kind| kind.as_str()).collect();
        format!("{HERITAGE},owner={},records={}", self.owner, types.join("+"))
    }

    /// All marks among record sets at a place. There is more than one only for a moment, and not at every service.
    pub fn all_in(sets: &[RecordSet], place: &Name) -> Vec<Self> {
        let texts = sets.iter().filter(|set| set.name == *place && set.kind == Type::Txt).flat_map(|set| &set.data);
        texts
            .filter_map(|data| match data {
                Data::Txt(text) => Self::parse(text),
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_exact() {
        let mark = Mark { owner: "a-bcdfg".parse().unwrap(), types: BTreeSet::from([Type::A, Type::Aaaa]) };
        assert_eq!(mark.text(), "heritage=landfall,owner=a-bcdfg,records=A+AAAA");
        assert_eq!(Mark::parse(&mark.text()), Some(mark));
        for text in [
            "",
            "v=spf1 -all",
            "heritage=landfall",
            "heritage=landfall,owner=a-bcdfg",
            "heritage=landfall,owner=a-bcdfg,records=",
            "heritage=landfall,owner=A,records=A",
            "heritage=landfall,owner=a-bcdfg,records=A,more",
            " heritage=landfall,owner=a-bcdfg,records=A",
            "heritage=external-dns,owner=a-bcdfg,records=A",
        ] {
            assert_eq!(Mark::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_leads_back_to_its_name() {
        for name in ["api.demo.example.com", "*.apps.demo.example.com", "5.2.0.192.in-addr.arpa"] {
            let name: Name = name.parse().unwrap();
            assert_eq!(Mark::subject(&Mark::place(&name)), Some(name));
        }
        assert_eq!(Mark::subject(&"api.demo.example.com".parse().unwrap()), None);
    }
}
