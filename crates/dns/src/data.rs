//! Record sets: all records of one type at one name.

use std::{
    collections::BTreeSet,
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use crate::Name;

/// The types of records that are made here or looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Type {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Another name for a name.
    Cname,
    /// The name of an address.
    Ptr,
    /// Where a service is.
    Srv,
    /// Text.
    Txt,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::A, Self::Aaaa, Self::Cname, Self::Ptr, Self::Srv, Self::Txt];
    /// Those that an entry can hold besides its mark.
    pub const OWNABLE: [Self; 5] = [Self::A, Self::Aaaa, Self::Cname, Self::Ptr, Self::Srv];

    /// As zone files spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Cname => "CNAME",
            Self::Ptr => "PTR",
            Self::Srv => "SRV",
            Self::Txt => "TXT",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Type {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(())
    }
}

/// What one record says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "UPPERCASE")]
pub enum Data {
    /// IPv4 address.
    A(Ipv4Addr),
    /// IPv6 address.
    Aaaa(Ipv6Addr),
    /// Another name for a name.
    Cname(Name),
    /// The name of an address.
    Ptr(Name),
    /// Where a service is.
    Srv(Service),
    /// Text of at most 255 bytes, which is one string in DNS.
    Txt(String),
}

/// Where a service is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Service {
    /// Those with a lower number are asked first.
    pub priority: u16,
    /// How often it is asked, among those of one priority.
    pub weight: u16,
    /// Its port.
    pub port: u16,
    /// Its host.
    pub host: Name,
}

/// As zone files spell it.
impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.priority, self.weight, self.port, self.host.absolute())
    }
}

impl FromStr for Service {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split_whitespace();
        let mut number = || parts.next()?.parse::<u16>().ok();
        let (priority, weight, port) = (number().ok_or(())?, number().ok_or(())?, number().ok_or(())?);
        let host = parts.next().and_then(|name| name.parse().ok()).ok_or(())?;
        if parts.next().is_some() { Err(()) } else { Ok(Self { priority, weight, port, host }) }
    }
}

impl Data {
    /// Its type.
    pub fn kind(&self) -> Type {
        match self {
            Self::A(_) => Type::A,
            Self::Aaaa(_) => Type::Aaaa,
            Self::Cname(_) => Type::Cname,
            Self::Ptr(_) => Type::Ptr,
            Self::Srv(_) => Type::Srv,
            Self::Txt(_) => Type::Txt,
        }
    }
}

/// As zone files spell it.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::A(address) => address.fmt(f),
            Self::Aaaa(address) => address.fmt(f),
            Self::Cname(name) | Self::Ptr(name) => f.write_str(&name.absolute()),
            Self::Srv(service) => service.fmt(f),
            Self::Txt(text) => f.write_str(&quoted(text)),
        }
    }
}

/// A text in the quotes of zone files.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text in the quotes of zone files; several strings are one text. Text without quotes is taken as it is.
pub(crate) fn unquoted(text: &str) -> String {
    if !text.starts_with('"') {
        return text.to_owned();
    }
    let (mut result, mut inside, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => {
                result.push(c);
                escaped = false;
            }
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            c if inside => result.push(c),
            _ => {}
        }
    }
    result
}

/// All records of one type at one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSet {
    /// Where.
    pub name: Name,
    /// Of which type.
    pub kind: Type,
    /// Time to live in seconds.
    pub ttl: u32,
    /// What they say; never empty.
    pub data: BTreeSet<Data>,
}

impl RecordSet {
    /// A set with one record.
    pub fn one(name: Name, ttl: u32, data: Data) -> Self {
        Self { name, kind: data.kind(), ttl, data: BTreeSet::from([data]) }
    }

    /// Sets out of single records, in the order of their types. A set has the smallest time to live of its records.
    pub fn gather(records: impl IntoIterator<Item = (Name, u32, Data)>) -> Vec<Self> {
        let mut sets: std::collections::BTreeMap<(Name, Type), Self> = std::collections::BTreeMap::new();
        for (name, ttl, data) in records {
            let set = sets.entry((name.clone(), data.kind())).or_insert_with(|| Self::one(name, ttl, data.clone()));
            set.ttl = set.ttl.min(ttl);
            set.data.insert(data);
        }
        sets.into_values().collect()
    }

    /// What all its records say, for people.
    pub fn values(&self) -> String {
        self.data.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for RecordSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.kind, self.values())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn several_strings_are_one_text() {
        assert_eq!(unquoted("\"heritage=\" \"landfall\""), "heritage=landfall");
        assert_eq!(unquoted("plain text"), "plain text");
    }

    #[test]
    fn a_service_comes_back_as_it_was_written() {
        let text = "0 10 2380 etcd-0.demo.example.com.";
        assert_eq!(text.parse::<Service>().unwrap().to_string(), text);
        for wrong in ["", "0 10 2380", "0 10 x etcd-0", "0 10 2380 etcd-0 more"] {
            assert!(wrong.parse::<Service>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn quotes_come_off_again(text in "[ -~]{0,60}") {
            prop_assert_eq!(unquoted(&quoted(&text)), text);
        }
    }
}
