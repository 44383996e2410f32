//! The vocabulary in which every type of the API is described once: its element, its fields, and what each field holds.
//!
//! Readers are driven by these tables, and the tests read everything that the writers emit strictly back through them,
//! in both syntaxes, so that an element which is not in its type's table cannot be emitted unnoticed.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A type of the API, such as `vm` or `cpu`.
#[derive(Debug)]
pub(crate) struct Type {
    /// The name of an element that holds one of it.
    pub(crate) element: &'static str,
    /// The type whose fields it has too, if any.
    pub(crate) base: Option<&'static Type>,
    /// Its own fields.
    pub(crate) fields: &'static [Field],
}

/// A field of a [`Type`].
#[derive(Debug)]
pub(crate) struct Field {
    /// The element in XML and the key in JSON.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
}

/// What a [`Field`] holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A whole number of up to 64 bits.
    Integer,
    /// A number with a fraction.
    Decimal,
    /// `true` or `false`.
    Boolean,
    /// A point in time, `2024-01-31T10:20:30.000Z`.
    Date,
    /// One word of a closed list; the name is that of the enumeration, for messages.
    Word(&'static str, &'static [&'static str]),
    /// One of another type.
    Struct(&'static Type),
    /// Any number of another type, each in that type's element.
    List(&'static Type),
    /// Any number of texts, each in the named element.
    Texts(&'static str),
    /// The element itself any number of times, without an element around them; only links are written so.
    Repeated(&'static Type),
}

impl Type {
    /// The field of that name, own or inherited.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .or_else(|| self.base.and_then(|base| base.field(name)))
            .or_else(|| RESOURCE.iter().find(|field| field.name == name))
    }
}

/// What every type may carry: in XML `id` and `href` are attributes, all else are elements.
static RESOURCE: [Field; 4] = [
    Field { name: "id", kind: Kind::Text },
    Field { name: "href", kind: Kind::Text },
    Field { name: "link", kind: Kind::Repeated(&LINK) },
    Field { name: "actions", kind: Kind::Struct(&ACTIONS) },
];

/// A link to a sub-collection or to an action.
pub(crate) static LINK: Type = Type { element: "link", base: None, fields: &[Field { name: "rel", kind: Kind::Text }] };

static ACTIONS: Type = Type { element: "actions", base: None, fields: &[] };

/// The one copy of `name` that the tables hold, if any table has it as a field, an element or a word.
///
/// Stored documents name their fields with these, so a restored document costs no more than one that was read.
pub(crate) fn intern(name: &str) -> Option<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES
        .get_or_init(|| {
            let mut names = HashSet::new();
            let kinds = reachable();
            for kind in &kinds {
                names.insert(kind.element);
                kind.fields.iter().chain(&RESOURCE).for_each(|field| collect(field, &mut names, &mut Vec::new()));
            }
            names
        })
        .get(name)
        .copied()
}

/// All types of the tables.
pub(super) fn reachable() -> Vec<&'static Type> {
    let mut seen = HashSet::new();
    let mut kinds = Vec::new();
    let mut open: Vec<&'static Type> = super::types::ROOTS.to_vec();
    while let Some(kind) = open.pop() {
        if seen.insert(std::ptr::from_ref(kind)) {
            kinds.push(kind);
            open.extend(kind.base);
            kind.fields.iter().for_each(|field| collect(field, &mut HashSet::new(), &mut open));
        }
    }
    kinds
}

fn collect(field: &'static Field, names: &mut HashSet<&'static str>, open: &mut Vec<&'static Type>) {
    names.insert(field.name);
    match field.kind {
        Kind::Struct(kind) | Kind::List(kind) | Kind::Repeated(kind) => open.push(kind),
        Kind::Texts(item) => {
            names.insert(item);
        }
        Kind::Word(_, words) => names.extend(words),
        Kind::Text | Kind::Integer | Kind::Decimal | Kind::Boolean | Kind::Date => {}
    }
}

/// Declares the tables. A field is `name: kind`, where the kind is `text`, `int`, `decimal`, `bool`, `date`, `word(ENUM)`,
/// `texts("item")`, `one(TYPE)` or `list(TYPE)`.
macro_rules! types {
    ($( $(#[$meta:meta])* $name:ident = $element:literal $(: $base:ident)? { $( $field:literal : $kind:ident $(( $arg:tt ))? ),* $(,)? } )*) => {
        $(
            $(#[$meta])*
            pub(crate) static $name: $crate::ovirt::representation::schema::Type = $crate::ovirt::representation::schema::Type {
                element: $element,
                base: types!(@base $($base)?),
                fields: &[ $( $crate::ovirt::representation::schema::Field { name: $field, kind: types!(@kind $kind $($arg)?) } ),* ],
            };
        )*
    };
    (@base) => { None };
    (@base $base:ident) => { Some(&$base) };
    (@kind text) => { $crate::ovirt::representation::schema::Kind::Text };
    (@kind int) => { $crate::ovirt::representation::schema::Kind::Integer };
    (@kind decimal) => { $crate::ovirt::representation::schema::Kind::Decimal };
    (@kind bool) => { $crate::ovirt::representation::schema::Kind::Boolean };
    (@kind date) => { $crate::ovirt::representation::schema::Kind::Date };
    (@kind texts $item:tt) => { $crate::ovirt::representation::schema::Kind::Texts($item) };
    (@kind one $of:ident) => { $crate::ovirt::representation::schema::Kind::Struct(&$of) };
    (@kind list $of:ident) => { $crate::ovirt::representation::schema::Kind::List(&$of) };
    (@kind word $words:ident) => { $crate::ovirt::representation::schema::Kind::Word($words.0, $words.1) };
}
pub(super) use types;
