//! Which records a list holds, and its pages.

use std::collections::BTreeMap;

use super::{envelope::Fault, record::Record};

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 5_000_000;

/// The query of a call.
pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        Self(url::form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The page that is asked for, and how many items a page has.
    pub(super) fn page(&self, smallest: usize) -> Result<(usize, usize), Fault> {
        let number = |name: &str, usual: usize| match self.get(name) {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| Fault::new(400, 1004, format!("{name} must be a number"))),
        };
        let (page, per_page) = (number("page", 1)?, number("per_page", DEFAULT_PAGE)?);
        if page == 0 || !(smallest..=LARGEST_PAGE).contains(&per_page) {
            return Err(Fault::new(400, 1004, "page or per_page is out of range"));
        }
        Ok((page, per_page))
    }

    /// Whether a record is asked for: by all filters, or by any if `match=any`.
    pub(super) fn matches(&self, record: &Record) -> bool {
        let mut verdicts = Vec::new();
        if let Some(kind) = self.get("type") {
            verdicts.push(record.kind.eq_ignore_ascii_case(kind));
        }
        for (field, value) in [("name", &record.name), ("content", &record.content)] {
            verdicts.extend(self.text(field, value));
        }
        match self.get("match") {
            Some("any") if !verdicts.is_empty() => verdicts.contains(&true),
            _ => !verdicts.contains(&false),
        }
    }

    /// Filters of a text: the plain one and `.exact` are the same.
    fn text(&self, field: &str, value: &str) -> Vec<bool> {
        let value = value.to_ascii_lowercase();
        let operand = |operator: &str| {
            let name = if operator.is_empty() { field.to_owned() } else { format!("{field}.{operator}") };
            self.get(&name).map(str::to_ascii_lowercase)
        };
        [
            operand("").map(|text| value == text),
            operand("exact").map(|text| value == text),
            operand("contains").map(|text| value.contains(&text)),
            operand("startswith").map(|text| value.starts_with(&text)),
            operand("endswith").map(|text| value.ends_with(&text)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
