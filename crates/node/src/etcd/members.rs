//! Members, and when the one of the bootstrap machine may leave.

use serde::Deserialize;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, name: &str, is_learner: bool) -> EtcdMember {
        EtcdMember { id: id.to_owned(), name: name.to_owned(), is_learner }
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
