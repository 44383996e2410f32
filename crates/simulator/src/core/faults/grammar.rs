//! Rules as text and as JSON.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::clock::{display_duration, parse_duration};
use super::super::simulation::Injection;
use super::{Effect, ErrorBody, PathPattern, Rule, Trigger};

/// Every word that may follow the path, for messages.
const WORDS: &str = "nth=N, first=N, from=N, probability=P, latency=DURATION, late=DURATION, status=CODE, throttle[=DURATION], reset, \
                     lost-reply, truncate[=BYTES], html-page, token-expired, stuck-lock, no-capacity, slow-state=FACTOR, \
                     body=html|platform";

const POSITIVE: &str = "a whole number, at least 1";
const PROBABILITY: &str = "a number from 0 to 1";

/// Why a text is not a fault rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is no method and path to apply it to.
    #[error("a fault rule needs a method and a path, as in 'POST /api/vms* nth=3 lost-reply'")]
    Incomplete,
    /// The method is not one.
    #[error("'{0}' is not a method; write for example GET, 'POST,PUT', or * for all")]
    Method(String),
    /// The path cannot match anything.
    #[error("the path '{0}' matches nothing; it begins with / or *")]
    Path(String),
    /// A word is unknown.
    #[error("unknown word '{0}'; known are {WORDS}")]
    Word(String),
    /// A word has a value that it cannot have.
    #[error("{word} cannot be '{value}': {expected}")]
    Value {
        /// The word.
        word: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// The same thing is said twice.
    #[error("'{0}' is given more than once")]
    Twice(&'static str),
    /// There is more than one effect.
    #[error("a rule has one effect, but both '{0}' and '{1}' are given; add a second rule")]
    TwoEffects(&'static str, &'static str),
    /// There is no effect.
    #[error("the rule does nothing; add an effect, as in 'status=503' or 'lost-reply'")]
    NoEffect,
    /// There is a body, but the effect has none.
    #[error("body= applies to status and throttle only")]
    NoBody,
}

/// The rule's parts as JSON has them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFields {
    #[serde(default)]
    methods: Vec<String>,
    path: String,
    #[serde(default, skip_serializing_if = "is_default")]
    trigger: Trigger,
    /// As in the text, for example `status=503`.
    effect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<ErrorBody>,
}

fn is_default(trigger: &Trigger) -> bool {
    *trigger == Trigger::default()
}

impl From<Rule> for RuleFields {
    fn from(rule: Rule) -> Self {
        let body = match rule.effect {
            Effect::Status { body, .. } | Effect::Throttle { body, .. } if body != ErrorBody::default() => Some(body),
            _ => None,
        };
        let effect = display_effect(&rule.effect);
        Self { methods: rule.methods, path: rule.path.0, trigger: rule.trigger, effect, body }
    }
}

impl TryFrom<RuleFields> for Rule {
    type Error = RuleError;

    fn try_from(fields: RuleFields) -> Result<Self, RuleError> {
        let mut draft = Draft { trigger: fields.trigger, body: fields.body, ..Draft::default() };
        draft.word(&fields.effect)?;
        let methods = if fields.methods.is_empty() { Vec::new() } else { parse_methods(&fields.methods.join(","))? };
        draft.finish(methods, parse_path(&fields.path)?)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let mut words = text.split_whitespace();
        let (Some(methods), Some(path)) = (words.next(), words.next()) else { return Err(RuleError::Incomplete) };
        let (methods, path) = (parse_methods(methods)?, parse_path(path)?);
        let mut draft = Draft::default();
        words.try_for_each(|word| draft.word(word))?;
        draft.finish(methods, path)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods = if self.methods.is_empty() { "*".to_owned() } else { self.methods.join(",") };
        write!(f, "{methods} {}", self.path)?;
        let Trigger { nth, first, from, probability } = self.trigger;
        nth.map_or(Ok(()), |nth| write!(f, " nth={nth}"))?;
        first.map_or(Ok(()), |first| write!(f, " first={first}"))?;
        from.map_or(Ok(()), |from| write!(f, " from={from}"))?;
        probability.map_or(Ok(()), |probability| write!(f, " probability={probability}"))?;
        write!(f, " {}", display_effect(&self.effect))?;
        match self.effect {
            Effect::Status { body: ErrorBody::Platform, .. } | Effect::Throttle { body: ErrorBody::Platform, .. } => {
                f.write_str(" body=platform")
            }
            _ => Ok(()),
        }
    }
}

fn display_effect(effect: &Effect) -> String {
    let word = effect.word();
    match effect {
        Effect::Latency(latency) | Effect::Late(latency) => format!("{word}={}", display_duration(*latency)),
        Effect::Status { code, .. } => format!("{word}={code}"),
        Effect::Throttle { retry_after, .. } => {
            format!("{word}={}", display_duration(Duration::from_secs(*retry_after)))
        }
        Effect::Truncate(Some(bytes)) => format!("{word}={bytes}"),
        Effect::Inject(Injection::SlowState(factor)) => format!("{word}={factor}"),
        Effect::Reset | Effect::LostReply | Effect::Truncate(None) | Effect::HtmlPage | Effect::Inject(_) => {
            word.to_owned()
        }
    }
}

fn parse_methods(text: &str) -> Result<Vec<String>, RuleError> {
    if text == "*" {
        return Ok(Vec::new());
    }
    let method = |method: &str| {
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_method.then(|| method.to_ascii_uppercase()).ok_or_else(|| RuleError::Method(method.to_owned()))
    };
    text.split(',').map(method).collect()
}

fn parse_path(text: &str) -> Result<PathPattern, RuleError> {
    let matches_something = text.starts_with(['/', '*']) && !text.contains(char::is_whitespace);
    matches_something.then(|| PathPattern(text.to_owned())).ok_or_else(|| RuleError::Path(text.to_owned()))
}

/// A rule while its words are read.
#[derive(Default)]
struct Draft {
    trigger: Trigger,
    effect: Option<Effect>,
    body: Option<ErrorBody>,
}

impl Draft {
    fn word(&mut self, word: &str) -> Result<(), RuleError> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let effect = match (name, value) {
            ("nth", Some(value)) => return once("nth", &mut self.trigger.nth, positive("nth", value)?),
            ("first", Some(value)) => return once("first", &mut self.trigger.first, positive("first", value)?),
            ("from", Some(value)) => return once("from", &mut self.trigger.from, positive("from", value)?),
            ("probability", Some(value)) => {
                let probability = parse("probability", value, PROBABILITY)?;
                return once("probability", &mut self.trigger.probability, probability);
            }
            ("body", Some("html")) => return once("body", &mut self.body, ErrorBody::Html),
            ("body", Some("platform")) => return once("body", &mut self.body, ErrorBody::Platform),
            ("body", Some(value)) => return Err(bad("body", value, "html or platform")),
            ("latency", Some(value)) => Effect::Latency(duration("latency", value)?),
            ("late", Some(value)) => Effect::Late(duration("late", value)?),
            ("status", Some(value)) => Effect::Status { code: error_status(value)?, body: ErrorBody::default() },
            ("throttle", value) => {
                let retry_after = value.map_or(Ok(Duration::from_secs(1)), |value| duration("throttle", value))?;
                Effect::Throttle { retry_after: retry_after.as_secs(), body: ErrorBody::default() }
            }
            ("reset", None) => Effect::Reset,
            ("lost-reply", None) => Effect::LostReply,
            ("truncate", value) => {
                let bytes = value.map(|value| parse("truncate", value, "a number of bytes")).transpose()?;
                Effect::Truncate(bytes)
            }
            ("html-page", None) => Effect::HtmlPage,
            ("token-expired", None) => Effect::Inject(Injection::TokenExpired),
            ("stuck-lock", None) => Effect::Inject(Injection::StuckLock),
            ("no-capacity", None) => Effect::Inject(Injection::NoCapacity),
            ("slow-state", Some(value)) => {
                let factor = u32::try_from(positive("slow-state", value)?);
                let factor = factor.map_err(|_| bad("slow-state", value, "a factor that fits in 32 bits"))?;
                Effect::Inject(Injection::SlowState(factor))
            }
            _ => return Err(RuleError::Word(word.to_owned())),
        };
        match self.effect.replace(effect) {
            Some(first) => Err(RuleError::TwoEffects(first.word(), effect.word())),
            None => Ok(()),
        }
    }

    /// What the types alone cannot exclude.
    fn check_trigger(&self) -> Result<(), RuleError> {
        let Trigger { nth, first, from, probability } = self.trigger;
        match (nth, first, from, probability) {
            (Some(0), ..) => Err(bad("nth", "0", POSITIVE)),
            (_, Some(0), ..) => Err(bad("first", "0", POSITIVE)),
            (_, _, Some(0), _) => Err(bad("from", "0", POSITIVE)),
            (.., Some(probability)) if !(0.0..=1.0).contains(&probability) => {
                Err(bad("probability", &probability.to_string(), PROBABILITY))
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self, methods: Vec<String>, path: PathPattern) -> Result<Rule, RuleError> {
        self.check_trigger()?;
        let effect = self.effect.as_mut().ok_or(RuleError::NoEffect)?;
        match (effect, self.body) {
            (_, None) => {}
            (Effect::Status { body, .. } | Effect::Throttle { body, .. }, Some(chosen)) => *body = chosen,
            (_, Some(_)) => return Err(RuleError::NoBody),
        }
        let effect = self.effect.ok_or(RuleError::NoEffect)?;
        Ok(Rule { methods, path, trigger: self.trigger, effect })
    }
}

fn once<T>(word: &'static str, place: &mut Option<T>, value: T) -> Result<(), RuleError> {
    if place.replace(value).is_some() { Err(RuleError::Twice(word)) } else { Ok(()) }
}

fn bad(word: &'static str, value: &str, expected: &'static str) -> RuleError {
    RuleError::Value { word, value: value.to_owned(), expected }
}

fn parse<T: FromStr>(word: &'static str, value: &str, expected: &'static str) -> Result<T, RuleError> {
    value.parse().map_err(|_| bad(word, value, expected))
}

fn positive(word: &'static str, value: &str) -> Result<u64, RuleError> {
    let expected = "a whole number, at least 1";
    parse(word, value, expected)
        .and_then(|number| if number > 0 { Ok(number) } else { Err(bad(word, value, expected)) })
}

fn duration(word: &'static str, value: &str) -> Result<Duration, RuleError> {
    parse_duration(value).map_err(|_| bad(word, value, "a duration such as 250ms, 5s or 1h30m"))
}

fn error_status(value: &str) -> Result<u16, RuleError> {
    let expected = "an error status from 400 to 599";
    let code: u16 = parse("status", value, expected)?;
    if (400..600).contains(&code) { Ok(code) } else { Err(bad("status", value, expected)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(rule: &Rule) {
        assert_eq!(&rule.to_string().parse::<Rule>().unwrap(), rule);
        let json = serde_json::to_string(rule).unwrap();
        assert_eq!(&serde_json::from_str::<Rule>(&json).unwrap(), rule, "{json}");
    }

    #[test]
    fn every_effect_can_be_written_and_read() {
        let effects = [
            "latency=1m30s",
            "latency=1.5",
            "late=30s",
            "status=503",
            "status=500 body=platform",
            "throttle",
            "throttle=30s body=platform",
            "reset",
            "lost-reply",
            "truncate",
            "truncate=100",
            "html-page",
            "token-expired",
            "stuck-lock",
            "no-capacity",
            "slow-state=10",
        ];
        for effect in effects {
            round_trip(&format!("POST,put /api/* nth=3 first=4 probability=0.5 {effect}").parse().unwrap());
            round_trip(&format!("* * {effect}").parse().unwrap());
        }
    }

    #[test]
    fn the_text_is_canonical() {
        let rule: Rule = "post,PUT   /vms*  lost-reply probability=0.50 nth=3".parse().unwrap();
        assert_eq!(rule.to_string(), "POST,PUT /vms* nth=3 probability=0.5 lost-reply");
        let json = serde_json::to_value(&rule).unwrap();
        let expected = serde_json::json!({
            "methods": ["POST", "PUT"], "path": "/vms*", "trigger": {"nth": 3, "probability": 0.5}, "effect": "lost-reply",
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn mistakes_are_named() {
        let table = [
            ("", "a fault rule needs a method and a path, as in 'POST /api/vms* nth=3 lost-reply'"),
            ("GET", "a fault rule needs a method and a path, as in 'POST /api/vms* nth=3 lost-reply'"),
            ("/api GET reset", "'/api' is not a method; write for example GET, 'POST,PUT', or * for all"),
            ("GET api reset", "the path 'api' matches nothing; it begins with / or *"),
            ("GET /api", "the rule does nothing; add an effect, as in 'status=503' or 'lost-reply'"),
            ("GET /api nth=0 reset", "nth cannot be '0': a whole number, at least 1"),
            ("GET /api nth=1 nth=2 reset", "'nth' is given more than once"),
            ("GET /api probability=2 reset", "probability cannot be '2': a number from 0 to 1"),
            ("GET /api status=200", "status cannot be '200': an error status from 400 to 599"),
            ("GET /api latency=fast", "latency cannot be 'fast': a duration such as 250ms, 5s or 1h30m"),
            ("GET /api slow-state=0", "slow-state cannot be '0': a whole number, at least 1"),
            (
                "GET /api reset lost-reply",
                "a rule has one effect, but both 'reset' and 'lost-reply' are given; add a second rule",
            ),
            ("GET /api reset body=html", "body= applies to status and throttle only"),
        ];
        for (text, message) in table {
            assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), message, "{text}");
        }
        let unknown = "GET /api rest".parse::<Rule>().unwrap_err().to_string();
        assert!(unknown.starts_with("unknown word 'rest'; known are nth=N, "), "{unknown}");
    }

    #[test]
    fn json_is_checked_like_text() {
        let parse = |text: &str| serde_json::from_str::<Rule>(text).map_err(|error| error.to_string());
        assert!(parse(r#"{"path": "/a", "effect": "reset"}"#).is_ok());
        for (json, message) in [
            (r#"{"path": "/a", "effect": "reset", "nth": 1}"#, "unknown field `nth`"),
            (r#"{"path": "a", "effect": "reset"}"#, "the path 'a' matches nothing"),
            (r#"{"path": "/a", "effect": "nth=3"}"#, "the rule does nothing"),
            (r#"{"path": "/a", "effect": "reset", "trigger": {"probability": 7}}"#, "a number from 0 to 1"),
            (r#"{"path": "/a", "effect": "reset", "trigger": {"nth": 0}}"#, "at least 1"),
        ] {
            let error = parse(json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
    }

    fn effects() -> impl Strategy<Value = Effect> {
        let body = prop_oneof![Just(ErrorBody::Html), Just(ErrorBody::Platform)];
        prop_oneof![
            (0..u64::MAX / 4).prop_map(|nanos| Effect::Latency(Duration::from_nanos(nanos))),
            (0..u64::MAX / 4).prop_map(|nanos| Effect::Late(Duration::from_nanos(nanos))),
            (400..600_u16, body.clone()).prop_map(|(code, body)| Effect::Status { code, body }),
            (0..1_000_000_u64, body).prop_map(|(retry_after, body)| Effect::Throttle { retry_after, body }),
            Just(Effect::Reset),
            Just(Effect::LostReply),
            any::<Option<u64>>().prop_map(Effect::Truncate),
            Just(Effect::HtmlPage),
            Just(Effect::Inject(Injection::TokenExpired)),
            Just(Effect::Inject(Injection::StuckLock)),
            Just(Effect::Inject(Injection::NoCapacity)),
            (1..u32::MAX).prop_map(|factor| Effect::Inject(Injection::SlowState(factor))),
        ]
    }

    proptest! {
        #[test]
        fn any_rule_survives_text_and_json(
            methods in prop::collection::vec("[A-Z]{1,7}", 0..3),
            path in "[/*][a-z*?=/]{0,20}",
            nth in prop::option::of(1..u64::MAX),
            first in prop::option::of(1..u64::MAX),
            from in prop::option::of(1..u64::MAX),
            thousandths in prop::option::of(0..=1000_u16),
            effect in effects(),
        ) {
            let probability = thousandths.map(|number| f64::from(number) / 1000.0);
            let trigger = Trigger { nth, first, from, probability };
            round_trip(&Rule { methods, path: PathPattern(path), trigger, effect });
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = text.parse::<Rule>();
        }
    }
}
