//! The search language of the collections at the root: `name=web* and Clusters.name="a b" sortby name desc page 2`.

mod fields;
mod lexer;
mod matching;
mod parser;
mod related;
mod values;

use std::cmp::Ordering;

use fields::{fields, object};
use lexer::Operator;
pub(crate) use lexer::SyntaxError;
use matching::Pattern;
use parser::{Condition, Search, Sort};
use related::related;
use values::{Datum, lineage, visit};

use super::api::found::Found;
use super::api::kind::{Kind, Subject};
use super::api::params::Params;
use super::fault::Fault;
use super::state::State;
use super::table::Id;

/// How many a page has if the client gives no `max`.
const PAGE: usize = 100;

/// The collection of a kind, with whatever search the request has.
pub(crate) fn collection(state: &State, kind: Kind) -> Found<'_> {
    Found::fallible(move |view, element| {
        let subjects = select(state, kind, view.params)?;
        Found::subjects(kind, subjects).render(view, element)
    })
}

/// The entities of a kind that the request asks for, in the order that it asks for.
pub(crate) fn select<'s>(state: &'s State, kind: Kind, params: &Params) -> Result<Vec<Subject<'s>>, Fault> {
    let text = params.get("search").filter(|_| fields(kind).is_some()).unwrap_or_default();
    let case_sensitive = params.flag("case_sensitive").unwrap_or(false);
    let refuse = |error: SyntaxError| Fault::invalid(format!("The search is not valid: {error}."));
    let search = parser::parse(text).map_err(refuse)?;
    let filter = search.condition.as_ref().map(|condition| compile(kind, condition, case_sensitive)).transpose();
    let filter = filter.map_err(refuse)?;
    let mut found: Vec<Subject<'s>> = match &filter {
        Some(filter) => candidates(state, kind, filter).filter(|subject| filter.holds(state, *subject)).collect(),
        None => kind.all(state).collect(),
    };
    if kind == Kind::Job {
        found.sort_by_key(|job| match job {
            Subject::Job(job) => std::cmp::Reverse(job.started),
            _ => std::cmp::Reverse(state.now),
        });
    }
    if let Some(sort) = &search.sort {
        sort_by(state, kind, sort, &mut found).map_err(refuse)?;
    }
    if let (Kind::Event, Some(from)) = (kind, params.number("from")) {
        found.retain(|event| matches!(event, Subject::Event(event) if i64::try_from(event.index).is_ok_and(|index| index > from)));
    }
    Ok(page(found, &search, params))
}

fn page<'s>(found: Vec<Subject<'s>>, search: &Search, params: &Params) -> Vec<Subject<'s>> {
    let Some(page) = search.page else { return found };
    let size = params.number("max").and_then(|max| usize::try_from(max).ok()).filter(|max| *max > 0).unwrap_or(PAGE);
    found.into_iter().skip((page - 1).saturating_mul(size)).take(size).collect()
}

/// A condition that was checked against the kind it is for.
enum Filter {
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    /// A field of the entity itself, or of what is related to it.
    Field {
        via: Option<Kind>,
        field: &'static str,
        operator: Operator,
        value: String,
        pattern: Pattern,
    },
    /// The text in any of the fields that people read.
    Free(Pattern),
}

/// The fields that a bare word is looked for in.
const READABLE: [&str; 5] = ["name", "description", "comment", "status", "message"];

fn compile(kind: Kind, condition: &Condition, case_sensitive: bool) -> Result<Filter, SyntaxError> {
    let inner = |condition| compile(kind, condition, case_sensitive).map(Box::new);
    Ok(match condition {
        Condition::And(left, right) => Filter::And(inner(left)?, inner(right)?),
        Condition::Or(left, right) => Filter::Or(inner(left)?, inner(right)?),
        Condition::Free(text) => Filter::Free(Pattern::new(Operator::Equal, &format!("*{text}*"), case_sensitive)),
        Condition::Compare { field, operator, value } => {
            let (via, field) = resolve(kind, field)?;
            let pattern = Pattern::new(*operator, value, case_sensitive);
            Filter::Field { via, field, operator: *operator, value: value.clone(), pattern }
        }
    })
}

/// What a field's name stands for: an own field, a field of another object, or another object's name.
fn resolve(kind: Kind, name: &str) -> Result<(Option<Kind>, &'static str), SyntaxError> {
    let own = |kind: Kind, name: &str| {
        fields(kind).and_then(|known| known.iter().find(|known| known.eq_ignore_ascii_case(name)).copied())
    };
    if let Some(field) = own(kind, name) {
        return Ok((None, field));
    }
    let unknown = || SyntaxError::new(format!("{} has no field {name}", kind.path()));
    let (via, field) = match name.split_once('.') {
        Some((via, field)) => (object(via).ok_or_else(unknown)?, field),
        None => (object(name).ok_or_else(unknown)?, "name"),
    };
    let field = own(via, field).ok_or_else(unknown)?;
    Ok(if via == kind { (None, field) } else { (Some(via), field) })
}

impl Filter {
    fn holds(&self, state: &State, subject: Subject) -> bool {
        match self {
            Self::And(left, right) => left.holds(state, subject) && right.holds(state, subject),
            Self::Or(left, right) => left.holds(state, subject) || right.holds(state, subject),
            Self::Field { via, field, pattern, .. } => {
                let mut values = Vec::new();
                match via {
                    None => visit(state, subject, field, &mut |datum| values.push(datum)),
                    Some(via) => related(state, subject, *via)
                        .into_iter()
                        .for_each(|other| visit(state, other, field, &mut |datum| values.push(datum))),
                }
                pattern.accepts(values.into_iter(), matches!(*field, "status" | "type" | "severity"))
            }
            Self::Free(pattern) => READABLE.iter().any(|field| {
                let mut values = Vec::new();
                visit(state, subject, field, &mut |datum| values.push(datum));
                pattern.accepts(values.into_iter(), false)
            }),
        }
    }
}

/// The entities among which the result must be: found by an index where the search allows it.
fn candidates<'s>(state: &'s State, kind: Kind, filter: &Filter) -> Box<dyn Iterator<Item = Subject<'s>> + 's> {
    indexed(state, kind, filter).map_or_else(|| kind.all(state), |found| Box::new(found.into_iter()))
}

/// The entities that an index has for a condition, `None` if there is no index for it.
fn indexed<'s>(state: &'s State, kind: Kind, filter: &Filter) -> Option<Vec<Subject<'s>>> {
    match filter {
        Filter::And(left, right) => match (indexed(state, kind, left), indexed(state, kind, right)) {
            (Some(left), Some(right)) => Some(if left.len() <= right.len() { left } else { right }),
            (left, right) => left.or(right),
        },
        Filter::Field { via: None, field, operator: Operator::Equal, value, .. } => match *field {
            "name" | "alias" if kind != Kind::User => {
                kind.prefixed(state, value.split('*').next().unwrap_or_default()).map(Iterator::collect)
            }
            _ if value.contains('*') => None,
            "id" => Some(Id::try_parse(value).ok().and_then(|id| kind.get(state, id)).into_iter().collect()),
            "tag" if kind == Kind::Vm => Some(tagged(state, value)),
            "vm_names" => Some(disks_of(state, value)),
            _ => None,
        },
        _ => None,
    }
}

/// The disks of the VMs of that name.
fn disks_of<'s>(state: &'s State, name: &str) -> Vec<Subject<'s>> {
    // The index is in the order of the folded names, so those that are equal come first.
    let name = name.to_lowercase();
    let vms = state.vms.prefixed(&name).take_while(|vm| vm.name.to_lowercase() == name);
    let mut disks: Vec<_> = vms.flat_map(|vm| &vm.disks).filter_map(|disk| state.disks.get(disk.disk)).collect();
    disks.sort_by_cached_key(|disk| (disk.name.to_lowercase(), disk.id));
    disks.dedup_by_key(|disk| disk.id);
    disks.into_iter().map(Subject::Disk).collect()
}

/// The VMs with the tag of that name or one below it, in the order of their names.
fn tagged<'s>(state: &'s State, name: &str) -> Vec<Subject<'s>> {
    let name = name.to_lowercase();
    let named = |tag: Id| state.tags.get(tag).is_some_and(|tag| tag.name.to_lowercase() == name);
    let tags = state.tagged.iter().filter(|(tag, _)| lineage(state, **tag).any(named));
    let mut vms: Vec<_> = tags.flat_map(|(_, vms)| vms).filter_map(|vm| state.vms.get(*vm)).collect();
    vms.sort_by_cached_key(|vm| (vm.name.to_lowercase(), vm.id));
    vms.dedup_by_key(|vm| vm.id);
    vms.into_iter().map(Subject::Vm).collect()
}

fn sort_by(state: &State, kind: Kind, sort: &Sort, found: &mut [Subject]) -> Result<(), SyntaxError> {
    let (via, field) = resolve(kind, &sort.field)?;
    if via.is_some() {
        return Err(SyntaxError::new(format!("{} cannot be sorted by {}", kind.path(), sort.field)));
    }
    found.sort_by_cached_key(|subject| {
        let mut first = None;
        visit(state, *subject, field, &mut |datum| {
            first.get_or_insert(datum);
        });
        SortKey(first.map(owned))
    });
    if sort.descending {
        found.reverse();
    }
    Ok(())
}

fn owned(datum: Datum) -> Datum<'static> {
    match datum {
        Datum::Text(text) => Datum::Made(text.to_lowercase()),
        Datum::Made(text) => Datum::Made(text),
        Datum::Number(number) => Datum::Number(number),
        Datum::Time(time) => Datum::Time(time),
    }
}

struct SortKey(Option<Datum<'static>>);

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortKey {}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(Datum::Number(a)), Some(Datum::Number(b))) => a.total_cmp(b),
            (Some(Datum::Time(a)), Some(Datum::Time(b))) => a.cmp(b),
            (Some(Datum::Made(a)), Some(Datum::Made(b))) => a.cmp(b),
            (None, None) => Ordering::Equal,
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }
}
