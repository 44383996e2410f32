//! What to change, given what is there and what is wanted. Pure.

use std::collections::BTreeSet;

use landfall_platform::InfraId;

use crate::{Change, Data, Entry, Guard, Mark, Name, RecordSet, Type};

/// What follows from what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Everything is as it should be.
    Nothing,
    /// This has to change.
    Change(Change),
    /// The name belongs to another cluster.
    Foreign(InfraId),
    /// The name is ours, and yet it has records of a wanted type that our mark does not cover: somebody else's.
    Occupied(Vec<RecordSet>),
}

/// What has to change so that an entry is there.
///
/// Records without a mark are not judged here: they may be the answer of a wildcard. The guard of the change finds them.
pub fn ensure(entry: &Entry, owner: &InfraId, seen: &[RecordSet]) -> Decision {
    let place = Mark::place(&entry.name);
    let wanted_mark = entry.mark(owner);
    let marks = Mark::all_in(seen, &place);
    if let Some(other) = marks.iter().find(|mark| mark.owner != *owner) {
        return Decision::Foreign(other.owner.clone());
    }
    let mark_set = RecordSet::one(place.clone(), entry.ttl, Data::Txt(wanted_mark.text()));
    let wanted = entry.sets();
    let Some(marked) = at(seen, &place, Type::Txt).filter(|_| !marks.is_empty()) else {
        let add = std::iter::once(mark_set).chain(wanted).collect();
        return Decision::Change(Change { guard: Guard::Free, delete: Vec::new(), add });
    };

    let covered: BTreeSet<Type> = marks.iter().flat_map(|mark| mark.types.iter().copied()).collect();
    let strange: Vec<RecordSet> =
        in_the_way(entry, seen).into_iter().filter(|set| !covered.contains(&set.kind)).collect();
    if !strange.is_empty() {
        return Decision::Occupied(strange);
    }
    let ours = Type::OWNABLE.into_iter().filter(|kind| covered.contains(kind));
    let present: Vec<&RecordSet> = ours.filter_map(|kind| at(seen, &entry.name, kind)).collect();
    let same = marks == [wanted_mark] && present.iter().copied().eq(wanted.iter());
    if same {
        return Decision::Nothing;
    }
    let mut marked_after = strangers(marked);
    marked_after.insert(Data::Txt(entry.mark(owner).text()));
    let delete = std::iter::once(marked.clone()).chain(present.into_iter().cloned()).collect();
    let add = std::iter::once(RecordSet { data: marked_after, ..mark_set }).chain(wanted).collect();
    Decision::Change(Change { guard: Guard::Unchanged(marked.clone()), delete, add })
}

/// What has to change so that nothing of a cluster is at a name: what its mark covers, and the mark.
pub fn remove(name: &Name, owner: &InfraId, seen: &[RecordSet]) -> Option<Change> {
    let place = Mark::place(name);
    let marks: Vec<Mark> = Mark::all_in(seen, &place).into_iter().filter(|mark| mark.owner == *owner).collect();
    let marked = at(seen, &place, Type::Txt).filter(|_| !marks.is_empty())?;
    let covered: BTreeSet<Type> = marks.iter().flat_map(|mark| mark.types.iter().copied()).collect();
    // At a service without transactions two clusters may have marked the name, and the records are those of the other one.
    let contested = Mark::all_in(seen, &place).iter().any(|mark| mark.owner != *owner);
    let records = covered.into_iter().filter(|_| !contested).filter_map(|kind| at(seen, name, kind)).cloned();
    let delete = records.chain([marked.clone()]).collect();
    let mut left = marked.data.clone();
    left.retain(|data| !is_mark_of(data, owner));
    let add = if left.is_empty() { Vec::new() } else { vec![RecordSet { data: left, ..marked.clone() }] };
    Some(Change { guard: Guard::Unchanged(marked.clone()), delete, add })
}

/// The records without a mark that keep an entry from being made: those at its name, and texts where its mark would stand.
pub fn in_the_way(entry: &Entry, seen: &[RecordSet]) -> Vec<RecordSet> {
    let (types, place) = (entry.mark_types(), Mark::place(&entry.name));
    let clashes = |kind: Type| types.contains(&kind) || kind == Type::Cname || types.contains(&Type::Cname);
    let is_note = |set: &RecordSet| {
        set.name == place && set.kind == Type::Txt && Mark::all_in(std::slice::from_ref(set), &place).is_empty()
    };
    seen.iter().filter(|set| set.name == entry.name && clashes(set.kind) || is_note(set)).cloned().collect()
}

impl Entry {
    fn mark_types(&self) -> BTreeSet<Type> {
        self.data.iter().map(Data::kind).collect()
    }
}

fn at<'a>(seen: &'a [RecordSet], name: &Name, kind: Type) -> Option<&'a RecordSet> {
    seen.iter().find(|set| set.name == *name && set.kind == kind)
}

/// Texts at the place of a mark that are no marks: somebody's, and kept.
fn strangers(set: &RecordSet) -> BTreeSet<Data> {
    set.data.iter().filter(|data| !matches!(data, Data::Txt(text) if Mark::parse(text).is_some())).cloned().collect()
}

fn is_mark_of(data: &Data, owner: &InfraId) -> bool {
    matches!(data, Data::Txt(text) if Mark::parse(text).is_some_and(|mark| mark.owner == *owner))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::Target;

    fn entry(addresses: &[&str]) -> Entry {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Entry::new("api.demo.example.com".parse().unwrap(), 300, &Target::Addresses(addresses))
    }

    fn owner(text: &str) -> InfraId {
        text.parse().unwrap()
    }

    /// What a zone holds after a change, which is what a backend does in one transaction.
    fn after(seen: &[RecordSet], change: &Change) -> Vec<RecordSet> {
        let mut sets: Vec<RecordSet> = seen.iter().filter(|set| !change.delete.contains(set)).cloned().collect();
        sets.extend(change.add.iter().cloned());
        sets
    }

    fn made(entry: &Entry, id: &str) -> Vec<RecordSet> {
        match ensure(entry, &owner(id), &[]) {
            Decision::Change(change) => after(&[], &change),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_made_is_left_alone_the_next_time() {
        let entry = entry(&["192.0.2.5", "2001:db8::5"]);
        let zone = made(&entry, "demo-x7k2p");
        assert_eq!(zone.len(), 3);
        assert_eq!(ensure(&entry, &owner("demo-x7k2p"), &zone), Decision::Nothing);
        assert_eq!(ensure(&entry, &owner("demo-zzzzz"), &zone), Decision::Foreign(owner("demo-x7k2p")));
    }

    #[test]
    fn what_changed_behind_our_back_is_put_right() {
        let wanted = entry(&["192.0.2.5"]);
        let mut zone = made(&wanted, "demo-x7k2p");
        zone[1].data = BTreeSet::from([Data::A("192.0.2.66".parse().unwrap())]);
        let Decision::Change(change) = ensure(&wanted, &owner("demo-x7k2p"), &zone) else { panic!("nothing") };
        assert!(matches!(&change.guard, Guard::Unchanged(set) if set.kind == Type::Txt));
        assert_eq!(ensure(&wanted, &owner("demo-x7k2p"), &after(&zone, &change)), Decision::Nothing);
    }

    #[test]
    fn records_of_other_types_and_other_texts_stay() {
        let wanted = entry(&["192.0.2.5"]);
        let mut zone = made(&wanted, "demo-x7k2p");
        let stranger = RecordSet::one(wanted.name.clone(), 60, Data::Aaaa("2001:db8::66".parse().unwrap()));
        zone.push(stranger.clone());
        zone[0].data.insert(Data::Txt("somebody's note".to_owned()));
        assert_eq!(ensure(&wanted, &owner("demo-x7k2p"), &zone), Decision::Nothing);
        let change = remove(&wanted.name, &owner("demo-x7k2p"), &zone).unwrap();
        let left = after(&zone, &change);
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(left.contains(&stranger));
        assert!(left.iter().any(|set| set.data == BTreeSet::from([Data::Txt("somebody's note".to_owned())])));
    }

    #[test]
    fn a_type_that_is_wanted_only_now_must_be_free() {
        let mut zone = made(&entry(&["192.0.2.5"]), "demo-x7k2p");
        let both = entry(&["192.0.2.5", "2001:db8::5"]);
        assert!(matches!(ensure(&both, &owner("demo-x7k2p"), &zone), Decision::Change(_)));
        let stranger = RecordSet::one(both.name.clone(), 60, Data::Aaaa("2001:db8::66".parse().unwrap()));
        zone.push(stranger.clone());
        assert_eq!(ensure(&both, &owner("demo-x7k2p"), &zone), Decision::Occupied(vec![stranger]));
    }

    #[test]
    fn only_the_owner_removes() {
        let wanted = entry(&["192.0.2.5"]);
        let zone = made(&wanted, "a-bcdfg");
        assert_eq!(remove(&wanted.name, &owner("ba-bcdfg"), &zone), None);
        assert_eq!(remove(&"pi.demo.example.com".parse().unwrap(), &owner("a-bcdfg"), &zone), None);
        assert_eq!(after(&zone, &remove(&wanted.name, &owner("a-bcdfg"), &zone).unwrap()), Vec::new());
    }
}
