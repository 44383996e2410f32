//! Services without transactions and conditions: two clusters can mark one name at the same moment. So a mark is made first and
//! read back, and if there are two, the older one has the name and the other one is taken back before any record is made. A run
//! that dies just then leaves a mark without records, which names its owner and goes when that cluster is destroyed.

use async_trait::async_trait;

use crate::{Backend, Change, Data, Error, Guard, Mark, Name, RecordSet, Type, Zone};

/// What such a service can do: single records, one call each.
#[async_trait]
pub(super) trait RecordApi: Send + Sync {
    /// What it is, for people.
    fn describe(&self) -> String;

    /// Finds the zone.
    async fn zone(&self) -> Result<Zone, Error>;

    /// The records at a name, or all of the zone.
    async fn records(&self, name: Option<&Name>) -> Result<Vec<Record>, Error>;

    /// Makes a record. That it is there already is as good.
    async fn add(&self, name: &Name, ttl: u32, data: &Data) -> Result<(), Error>;

    /// Removes a record. That it is gone already is as good.
    async fn delete(&self, record: &Record) -> Result<(), Error>;
}

/// A record of a type known here.
pub(super) struct Record {
    pub(super) id: String,
    /// When it was made, in a form that sorts.
    pub(super) created_on: String,
    pub(super) name: Name,
    pub(super) ttl: u32,
    pub(super) data: Data,
}

/// A service of that kind as a backend.
pub(crate) struct Contended<A>(pub(super) A);

impl<A: RecordApi> Contended<A> {
    fn guard(&self, name: &Name, answer: impl Into<String>) -> Error {
        Error::Guard { name: name.clone(), service: self.describe(), answer: answer.into() }
    }

    /// Whether a guard holds at this moment.
    async fn check(&self, change: &Change) -> Result<(), Error> {
        match &change.guard {
            Guard::Unchanged(set) => {
                let now = self.read(&[&set.name]).await?;
                if now.contains(set) { Ok(()) } else { Err(self.guard(&set.name, "the mark is another one now")) }
            }
            Guard::Free => {
                for set in &change.add {
                    let there = self.read(&[&set.name]).await?;
                    let clash = there.iter().find(|other| {
                        other.kind == set.kind && !is_note(other)
                            || (other.kind == Type::Cname) != (set.kind == Type::Cname)
                    });
                    if let Some(clash) = clash {
                        return Err(self.guard(&set.name, format!("there is {clash}")));
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the name is ours after our mark has been made: the older of two marks has it.
    async fn contend(&self, place: &Name, text: &str) -> Result<(), Error> {
        let mut marks: Vec<Record> = self.0.records(Some(place)).await?;
        marks.retain(|record| matches!(&record.data, Data::Txt(text) if Mark::parse(text).is_some()));
        marks.sort_by(|a, b| (&a.created_on, &a.id).cmp(&(&b.created_on, &b.id)));
        let is_ours = |record: &Record| matches!(&record.data, Data::Txt(other) if other == text);
        if marks.first().is_some_and(is_ours) {
            return Ok(());
        }
        for mark in marks.iter().filter(|record| is_ours(record)) {
            self.0.delete(mark).await?;
        }
        Err(self.guard(place, "another cluster was faster"))
    }
}

/// Whether a set of texts holds no mark: it can stand beside one.
fn is_note(set: &RecordSet) -> bool {
    set.kind == Type::Txt && Mark::all_in(std::slice::from_ref(set), &set.name).is_empty()
}

#[async_trait]
impl<A: RecordApi> Backend for Contended<A> {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn reads_exactly(&self) -> bool {
        true
    }

    async fn zone(&self) -> Result<Zone, Error> {
        self.0.zone().await
    }

    async fn read(&self, names: &[&Name]) -> Result<Vec<RecordSet>, Error> {
        let mut records = Vec::new();
        for name in names {
            records.extend(self.0.records(Some(name)).await?);
        }
        Ok(RecordSet::gather(records.into_iter().map(|record| (record.name, record.ttl, record.data))))
    }

    async fn change(&self, change: &Change) -> Result<(), Error> {
        self.check(change).await?;
        let stays = |name: &Name, ttl: u32, data: &Data| {
            change.add.iter().any(|set| set.name == *name && set.ttl == ttl && set.data.contains(data))
        };
        let mut old = Vec::new();
        for set in &change.delete {
            let there = self.0.records(Some(&set.name)).await?;
            old.extend(there.into_iter().filter(|record| set.data.contains(&record.data)));
        }
        let is_new = |set: &RecordSet, data: &Data| {
            !old.iter().any(|record| record.name == set.name && record.ttl == set.ttl && record.data == *data)
        };
        let (marks, records): (Vec<&RecordSet>, Vec<&RecordSet>) =
            change.add.iter().partition(|set| set.kind == Type::Txt);
        let (old_marks, old_records): (Vec<&Record>, Vec<&Record>) = old
            .iter()
            .filter(|record| !stays(&record.name, record.ttl, &record.data))
            .partition(|record| record.data.kind() == Type::Txt);
        // Whatever happens in between, records are there only while a mark is.
        for set in marks {
            for data in set.data.iter().filter(|data| is_new(set, data)) {
                self.0.add(&set.name, set.ttl, data).await?;
                if let (Data::Txt(text), Guard::Free) = (data, &change.guard) {
                    self.contend(&set.name, text).await?;
                }
            }
        }
        for record in old_records {
            self.0.delete(record).await?;
        }
        for set in records {
            for data in set.data.iter().filter(|data| is_new(set, data)) {
                self.0.add(&set.name, set.ttl, data).await?;
            }
        }
        for mark in old_marks {
            self.0.delete(mark).await?;
        }
        Ok(())
    }

    async fn list(&self) -> Result<Option<Vec<RecordSet>>, Error> {
        let records = self.0.records(None).await?;
        Ok(Some(RecordSet::gather(records.into_iter().map(|record| (record.name, record.ttl, record.data)))))
    }
}
