//! Members, and when one of them may leave.

use std::net::IpAddr;

use serde::Deserialize;
use url::Url;

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdMember {
    /// Its id, as etcd writes it.
    #[serde(rename = "ID")]
    pub id: String,
    /// Its name; empty until it has started.
    #[serde(default)]
    pub name: String,
    /// Whether it only listens and has no vote yet.
    #[serde(default)]
    pub is_learner: bool,
    /// Where it listens to clients.
    #[serde(default, rename = "clientURLs")]
    pub client_urls: Vec<String>,
    /// Where it listens to other members.
    #[serde(default, rename = "peerURLs")]
    pub peer_urls: Vec<String>,
}

impl EtcdMember {
    /// Where it listens to clients; none before it has started.
    pub(super) fn endpoint(&self) -> Option<Url> {
        self.client_urls.iter().find_map(|url| Url::parse(url).ok())
    }

    fn is_on(&self, addresses: &[IpAddr]) -> bool {
        let hosts = self.peer_urls.iter().filter_map(|url| Url::parse(url).ok()?.host_str().map(str::to_owned));
        let mut addresses_of_it = hosts.filter_map(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        addresses_of_it.any(|address| addresses.contains(&address))
    }
}

/// A master that goes.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Its name, which its member has too.
    pub name: &'a str,
    /// Its addresses. A member that never started has no name, and is known by them.
    pub addresses: &'a [IpAddr],
}

impl Leaving<'_> {
    pub(super) fn is(&self, member: &EtcdMember) -> bool {
        member.name == self.name || (member.name.is_empty() && member.is_on(self.addresses))
    }
}

/// What is to be done before or about a member that shall leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// It has left.
    Gone,
    /// The others cannot do without it yet.
    NotYet(String),
    /// It may leave; the other is the one that should lead.
    MayLeave {
        /// The member that leaves.
        leaving: String,
        /// A member that stays.
        successor: String,
    },
}

/// Whether the member called `name` may leave: all of `stay` members have started and vote.
///
/// Losing it earlier would leave a cluster that cannot lose another one.
pub(super) fn departure(members: &[EtcdMember], name: &str, stay: usize) -> Departure {
    let Some(leaving) = members.iter().find(|member| member.name == name) else { return Departure::Gone };
    let others = members.iter().filter(|member| member.name != name);
    if let Some(late) = others.clone().find(|member| member.is_learner || member.name.is_empty()) {
        let name = if late.name.is_empty() { &late.id } else { &late.name };
        return Departure::NotYet(format!("etcd member {name} has no vote yet"));
    }
    let voters: Vec<&EtcdMember> = others.collect();
    match voters.first() {
        Some(successor) if voters.len() >= stay => {
            Departure::MayLeave { leaving: leaving.id.clone(), successor: successor.id.clone() }
        }
        _ => Departure::NotYet(format!("{} of {stay} etcd members that stay are there", voters.len())),
    }
}

/// Whether the member of a master that goes may leave: those that stay and answer are a majority of those that stay. `alive` are the ids of
/// members that answer; `least` must stay.
pub(super) fn dismissal(members: &[EtcdMember], alive: &[&str], leaving: &Leaving<'_>, least: usize) -> Departure {
    let Some(member) = members.iter().find(|member| leaving.is(member)) else { return Departure::Gone };
    let voters: Vec<&EtcdMember> = members.iter().filter(|other| other.id != member.id && !other.is_learner).collect();
    let well: Vec<&&EtcdMember> = voters.iter().filter(|other| alive.contains(&other.id.as_str())).collect();
    let (stay, needed) = (voters.len(), voters.len() / 2 + 1);
    match well.first() {
        // One without a vote is missed by nobody.
        Some(successor) if member.is_learner || (stay >= least && well.len() >= needed) => {
            Departure::MayLeave { leaving: member.id.clone(), successor: successor.id.clone() }
        }
        _ if stay < least => Departure::NotYet(format!("etcd would be left with {stay} members; add a master first")),
        _ => Departure::NotYet(format!("{} of etcd's other {stay} members answer, and {needed} must", well.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, name: &str, is_learner: bool) -> EtcdMember {
        let peer_urls = vec![format!("https://192.0.2.{id}:2380")];
        EtcdMember { id: id.to_owned(), name: name.to_owned(), is_learner, client_urls: Vec::new(), peer_urls }
    }

    #[test]
    fn a_master_goes_only_while_a_majority_stays_and_answers() {
        let three = [member("1", "m0", false), member("2", "m1", false), member("3", "m2", false)];
        let m0 = Leaving { name: "m0", addresses: &[] };
        let left = |leaving: &str, successor: &str| Departure::MayLeave {
            leaving: leaving.into(),
            successor: successor.into(),
        };
        assert_eq!(dismissal(&three, &["2", "3"], &m0, 2), left("1", "2"));
        assert_eq!(dismissal(&three, &["1", "2", "3"], &m0, 2), left("1", "2"));
        let one_away = Departure::NotYet("1 of etcd's other 2 members answer, and 2 must".into());
        assert_eq!(dismissal(&three, &["1", "3"], &m0, 2), one_away);
        assert_eq!(dismissal(&three[1..], &["2", "3"], &m0, 2), Departure::Gone);
        let alone = Departure::NotYet("etcd would be left with 1 members; add a master first".into());
        assert_eq!(dismissal(&three[..2], &["1", "2"], &m0, 2), alone);
        // One that joined only in part leaves what there was before it came, if that can do without it.
        assert_eq!(dismissal(&three[..2], &["1", "2"], &m0, 1), left("1", "2"));
        assert!(matches!(dismissal(&three[..2], &["1"], &m0, 1), Departure::NotYet(_)));
        let only = Departure::NotYet("etcd would be left with 0 members; add a master first".into());
        assert_eq!(dismissal(&three[..1], &["1"], &m0, 1), only);
        // Of five, two may be away, the one that goes among them.
        let five: Vec<_> = (0..5).map(|index| member(&index.to_string(), &format!("m{index}"), false)).collect();
        assert_eq!(dismissal(&five, &["2", "3", "4"], &m0, 2), left("0", "2"));
        assert!(matches!(dismissal(&five, &["3", "4"], &m0, 2), Departure::NotYet(_)));
    }

    #[test]
    fn a_member_that_never_started_is_known_by_its_address() {
        let members = [member("1", "m0", false), member("2", "m1", false), member("7", "", true)];
        let addresses = ["192.0.2.7".parse().unwrap()];
        let new = Leaving { name: "m9", addresses: &addresses };
        let gone = Departure::MayLeave { leaving: "7".into(), successor: "1".into() };
        assert_eq!(dismissal(&members, &["1", "2"], &new, 2), gone);
        assert_eq!(dismissal(&members, &["1", "2"], &Leaving { name: "m9", addresses: &[] }, 2), Departure::Gone);
    }

    #[test]
    fn the_bootstrap_member_leaves_when_all_others_vote() {
        let mut members = vec![member("1", "boot", false), member("2", "m0", false), member("3", "m1", false)];
        assert_eq!(departure(&members, "boot", 3), Departure::NotYet("2 of 3 etcd members that stay are there".into()));
        members.push(member("4", "", false));
        assert_eq!(departure(&members, "boot", 3), Departure::NotYet("etcd member 4 has no vote yet".into()));
        members[3] = member("4", "m2", true);
        assert_eq!(departure(&members, "boot", 3), Departure::NotYet("etcd member m2 has no vote yet".into()));
        members[3].is_learner = false;
        assert_eq!(departure(&members, "boot", 3), Departure::MayLeave { leaving: "1".into(), successor: "2".into() });
        members.remove(0);
        assert_eq!(departure(&members, "boot", 3), Departure::Gone);
    }
}
