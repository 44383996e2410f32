//! A collection of entities, found by id and by name without a scan.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The identifier of any entity.
pub(crate) type Id = Uuid;

/// What a [`Table`] holds.
pub(crate) trait Entity {
    /// The identifier, which never changes.
    fn id(&self) -> Id;
    /// The name, which changes only through [`Table::rename`].
    fn name(&self) -> &str;
    /// Sets the name. Called by the table alone, which keeps its index in step.
    fn set_name(&mut self, name: String);
}

/// Implements [`Entity`] for structures with the fields `id` and `name`.
macro_rules! entities {
    ($($name:ident),+ $(,)?) => { $(
        impl $crate::ovirt::table::Entity for $name {
            fn id(&self) -> $crate::ovirt::table::Id {
                self.id
            }

            fn name(&self) -> &str {
                &self.name
            }

            fn set_name(&mut self, name: String) {
                self.name = name.into();
            }
        }
    )+ };
}
pub(crate) use entities;

/// Entities by id, with an index by name. Lists come out in the order of names, as the engine sorts them by default.
#[derive(Debug)]
pub(crate) struct Table<T> {
    rows: BTreeMap<Id, T>,
    names: BTreeSet<(Box<str>, Id)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), names: BTreeSet::new() }
    }
}

impl<T: Entity> Table<T> {
    /// Adds an entity, replacing one of the same id.
    pub(crate) fn insert(&mut self, row: T) {
        let id = row.id();
        self.remove(id);
        self.names.insert((folded(row.name()), id));
        self.rows.insert(id, row);
    }

    /// Takes an entity out.
    pub(crate) fn remove(&mut self, id: Id) -> Option<T> {
        let row = self.rows.remove(&id)?;
        self.names.remove(&(folded(row.name()), id));
        Some(row)
    }

    /// Takes out all entities of which that is true.
    pub(crate) fn remove_where(&mut self, doomed: impl Fn(&T) -> bool) {
        let ids: Vec<Id> = self.rows.values().filter(|row| doomed(row)).map(Entity::id).collect();
        for id in ids {
            self.remove(id);
        }
    }

    /// Renames an entity.
    pub(crate) fn rename(&mut self, id: Id, name: &str) {
        if let Some(row) = self.rows.get_mut(&id) {
            self.names.remove(&(folded(row.name()), id));
            row.set_name(name.to_owned());
            self.names.insert((folded(name), id));
        }
    }

    /// The entity with that id.
    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        self.rows.get(&id)
    }

    /// The entity with that id, to change anything but its name.
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        self.rows.get_mut(&id)
    }

    /// Whether there is an entity with that id.
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.rows.contains_key(&id)
    }

    /// All entities in the order of their names.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.names.iter().filter_map(|(_, id)| self.rows.get(id))
    }

    /// All entities in no particular order, which is quicker.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &T> {
        self.rows.values()
    }

    /// All entities, to change anything but their names, in the order of their ids.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.values_mut()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The entities whose name is exactly that.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &T> {
        let folded = folded(name);
        self.names
            .range((folded.clone(), Uuid::nil())..=(folded, Uuid::max()))
            .filter_map(|(_, id)| self.rows.get(id))
            .filter(move |row| row.name() == name)
    }

    /// The entities whose name begins so, whatever the case, in the order of their names.
    pub(crate) fn prefixed(&self, prefix: &str) -> impl Iterator<Item = &T> {
        let prefix = folded(prefix);
        self.names
            .range((Bound::Included((prefix.clone(), Uuid::nil())), Bound::Unbounded))
            .take_while(move |(name, _)| name.starts_with(&*prefix))
            .filter_map(|(_, id)| self.rows.get(id))
    }
}

/// Names are sorted and looked up without regard to case.
fn folded(name: &str) -> Box<str> {
    name.to_lowercase().into()
}

impl<T: Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.values())
    }
}

impl<'de, T: Entity + Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        Vec::<T>::deserialize(deserializer)?.into_iter().for_each(|row| table.insert(row));
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Row {
        id: Id,
        name: Box<str>,
    }
    entities!(Row);

    fn table(names: &[&str]) -> Table<Row> {
        let mut table = Table::default();
        for (at, name) in names.iter().enumerate() {
            table.insert(Row { id: Uuid::from_u128(at as u128), name: (*name).into() });
        }
        table
    }

    fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a str> {
        rows.map(|row| &*row.name).collect()
    }

    #[test]
    fn rows_come_in_the_order_of_their_names() {
        assert_eq!(names(table(&["b", "C", "a"]).iter()), ["a", "b", "C"]);
    }

    #[test]
    fn names_are_found_exactly_and_by_prefix() {
        let table = table(&["web", "Web", "web-1", "wet", "we"]);
        assert_eq!(names(table.named("web")), ["web"]);
        assert_eq!(names(table.prefixed("WEB")), ["web", "Web", "web-1"]);
    }

    #[test]
    fn the_index_follows_renaming_and_removal() {
        let mut table = table(&["a", "b"]);
        table.rename(Uuid::from_u128(0), "z");
        assert_eq!(names(table.iter()), ["b", "z"]);
        assert_eq!(names(table.named("a")), [""; 0]);
        assert!(table.remove(Uuid::from_u128(0)).is_some());
        assert_eq!(names(table.iter()), ["b"]);
    }
}
