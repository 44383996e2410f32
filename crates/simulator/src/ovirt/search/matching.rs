//! Whether a value is what a search asks for.

use jiff::{Timestamp, civil};

use super::lexer::Operator;
use super::values::Datum;

/// A value of a search, prepared for comparing it many times.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    operator: Operator,
    /// The text, folded if case does not count.
    text: String,
    /// The text without underscores: the engine's enumerations are written with and without.
    squeezed: String,
    number: Option<f64>,
    time: Option<i64>,
    case_sensitive: bool,
}

impl Pattern {
    /// Prepares a comparison with `value`.
    pub(super) fn new(operator: Operator, value: &str, case_sensitive: bool) -> Self {
        let text = if case_sensitive { value.to_owned() } else { value.to_lowercase() };
        let squeezed = text.replace('_', "");
        Self { operator, squeezed, number: value.trim().parse().ok(), time: seconds(value), text, case_sensitive }
    }

    /// Whether a field with these values passes: with `!=` none may be equal, with all else one must fit.
    pub(super) fn accepts<'d>(&self, values: impl Iterator<Item = Datum<'d>>, is_word: bool) -> bool {
        let mut values = values;
        match self.operator {
            Operator::NotEqual => !values.any(|value| self.equals(&value, is_word)),
            Operator::Equal => values.any(|value| self.equals(&value, is_word)),
            operator => values.any(|value| self.orders(&value, operator)),
        }
    }

    fn equals(&self, value: &Datum, is_word: bool) -> bool {
        match value {
            Datum::Text(text) => self.like(text, is_word),
            Datum::Made(text) => self.like(text, is_word),
            Datum::Number(number) => self.number.is_some_and(|wanted| wanted.total_cmp(number).is_eq()),
            Datum::Time(time) => self.time.is_some_and(|wanted| wanted == *time),
        }
    }

    fn like(&self, text: &str, is_word: bool) -> bool {
        let folded = if self.case_sensitive { text.to_owned() } else { text.to_lowercase() };
        wild(&self.text, &folded) || (is_word && self.squeezed == folded.replace('_', ""))
    }

    fn orders(&self, value: &Datum, operator: Operator) -> bool {
        let order = match value {
            Datum::Number(number) => self.number.map(|wanted| number.total_cmp(&wanted)),
            Datum::Time(time) => self.time.map(|wanted| time.cmp(&wanted)),
            Datum::Text(text) => Some(text.to_lowercase().cmp(&self.text)),
            Datum::Made(text) => Some(text.to_lowercase().cmp(&self.text)),
        };
        order.is_some_and(|order| match operator {
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Equal | Operator::NotEqual => false,
        })
    }
}

/// Whether `text` is like `pattern`, in which `*` stands for anything.
///
/// Greedy with one point to return to, so that a pattern of many stars takes no more than the product of the lengths.
pub(super) fn wild(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut last_star = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            last_star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((star, from)) = last_star {
            last_star = Some((star, from + 1));
            p = star + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// A date as people write it in a search.
fn seconds(value: &str) -> Option<i64> {
    if let Ok(time) = value.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    let date = value.parse::<civil::DateTime>().or_else(|_| value.parse::<civil::Date>().map(Into::into)).ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_underscores_for_themselves() {
        for (pattern, text, like) in [
            ("web*", "web-1", true),
            ("*1", "web-1", true),
            ("w*b*1", "web-1", true),
            ("*", "", true),
            ("web", "web-1", false),
            ("a_b", "axb", false),
            ("a_b", "a_b", true),
            ("w**1", "web-1", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(wild(pattern, text), like, "{pattern} {text}");
        }
        assert!(!wild(&"*a".repeat(200), &"a".repeat(150)));
    }

    fn accepts(operator: Operator, value: &str, data: &[Datum]) -> bool {
        Pattern::new(operator, value, false).accepts(data.iter().cloned(), false)
    }

    #[test]
    fn case_counts_only_when_asked() {
        let names = [Datum::Text("Web-1")];
        assert!(accepts(Operator::Equal, "wEB*", &names));
        assert!(!Pattern::new(Operator::Equal, "wEB*", true).accepts(names.into_iter(), false));
    }

    #[test]
    fn numbers_and_dates_are_ordered_as_such() {
        assert!(accepts(Operator::Greater, "9", &[Datum::Number(10.0)]));
        let midnight = [Datum::Time(1_704_067_200)];
        assert!(accepts(Operator::GreaterOrEqual, "2024-01-01", &midnight));
        assert!(accepts(Operator::Less, "2024-01-01T00:00:01Z", &midnight));
    }

    #[test]
    fn unequal_means_that_no_value_is_equal() {
        let tags = [Datum::Text("a"), Datum::Text("b")];
        assert!(!accepts(Operator::NotEqual, "b", &tags));
        assert!(accepts(Operator::NotEqual, "c", &tags));
        assert!(accepts(Operator::NotEqual, "c", &[]));
    }

    #[test]
    fn states_are_found_with_and_without_underscores() {
        let status = || [Datum::Text("image_locked")].into_iter();
        assert!(Pattern::new(Operator::Equal, "imagelocked", false).accepts(status(), true));
        assert!(!Pattern::new(Operator::Equal, "imagelocked", false).accepts(status(), false));
    }
}
