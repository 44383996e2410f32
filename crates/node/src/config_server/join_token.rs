//! The token with which new workers join: one that is valid now and for a while.
//!
//! Tokens are Secrets of a type of their own in `kube-system`, the same that `kubeadm token` lists and makes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use landfall_assets::Token;
use serde_json::Value;

use crate::kubeadm::BootstrapToken;

/// For how long a new token is valid.
const LIFE: SignedDuration = SignedDuration::from_hours(24);
/// A token with less than this left is not handed out: a machine may boot slowly, and joins until it succeeds.
const SPARE: SignedDuration = SignedDuration::from_hours(12);
/// How much later the next master acts. So one of them makes the token, and the others find it.
const APART: SignedDuration = SignedDuration::from_mins(20);
const GROUP: &str = "system:bootstrappers:kubeadm:default-node-token";
/// By which tokens that are made here are told apart, for people.
const DESCRIPTION: &str = "Workers join, handed out by config servers";

/// A token and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JoinToken {
    /// `id.secret`.
    pub(super) text: String,
    ends: Option<Timestamp>,
}

impl JoinToken {
    /// The token of a list of Secrets that is valid for longest.
    pub(super) fn best(list: &Value, now: Timestamp) -> Option<Self> {
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let usable = items.iter().filter_map(Self::read).filter(|token| token.ends.is_none_or(|ends| ends > now));
        // The text decides among equals, so that all masters choose the same.
        usable.max_by_key(|token| (token.ends.unwrap_or(Timestamp::MAX), token.text.clone()))
    }

    /// Reads a Secret, if workers may join with it.
    fn read(secret: &Value) -> Option<Self> {
        let field = |key: &str| {
            let bytes = STANDARD.decode(secret["data"][key].as_str()?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let allowed = |usage: &str| field(usage).as_deref() == Some("true");
        let groups = field("auth-extra-groups")?;
        if !allowed("usage-bootstrap-authentication")
            || !allowed("usage-bootstrap-signing")
            || !groups.split(',').any(|group| group == GROUP)
        {
            return None;
        }
        let ends = match field("expiration") {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        Some(Self { text: format!("{}.{}", field("token-id")?, field("token-secret")?), ends })
    }

    /// Whether a machine at this place among the masters should make a new one.
    pub(super) fn is_short(best: Option<&Self>, place: usize, now: Timestamp) -> bool {
        let Some(ends) = best.map(|token| token.ends) else { return true };
        let late = APART * i32::try_from(place).unwrap_or(i32::MAX).min(30);
        ends.is_some_and(|ends| ends.duration_since(now) < SPARE - late)
    }

    /// A new one.
    pub(super) fn new(now: Timestamp) -> Self {
        Self { text: Token::bootstrap(&mut rand::rng()).expose().to_owned(), ends: Some(now + LIFE) }
    }

    /// The Secret's path and the Secret.
    pub(super) fn secret(&self) -> (String, Value) {
        let token = BootstrapToken {
            text: self.text.clone(),
            description: DESCRIPTION.to_owned(),
            groups: vec![GROUP.to_owned()],
            usages: vec!["authentication".to_owned(), "signing".to_owned()],
            ends: self.ends,
        };
        token.secret()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As the API server shows what was written.
    fn stored(token: &JoinToken) -> Value {
        let mut object = token.secret().1;
        let texts = object["stringData"].as_object().cloned().unwrap();
        let data: serde_json::Map<String, Value> =
            texts.into_iter().map(|(key, text)| (key, STANDARD.encode(text.as_str().unwrap()).into())).collect();
        object["data"] = data.into();
        object
    }

    fn token(text: &str, hours: Option<i64>) -> JoinToken {
        let ends = hours.map(|hours| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours));
        JoinToken { text: text.to_owned(), ends }
    }

    #[test]
    fn the_longest_valid_token_of_workers_is_chosen() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(10);
        let (ended, short, long) =
            (token("aaaaaa.1", Some(9)), token("bbbbbb.2", Some(11)), token("cccccc.3", Some(30)));
        let guarding = json!({ "data": { "token-id": "ZGRkZGRk", "token-secret": "NA==" } });
        let list = |tokens: &[&JoinToken]| {
            let items: Vec<Value> = tokens.iter().map(|token| stored(token)).chain([guarding.clone()]).collect();
            json!({ "items": items })
        };
        assert_eq!(JoinToken::best(&list(&[&ended, &long, &short]), now), Some(long.clone()));
        let endless = token("eeeeee.5", None);
        assert_eq!(JoinToken::best(&list(&[&long, &endless]), now), Some(endless));
        assert_eq!(JoinToken::best(&list(&[&ended]), now), None);
        assert_eq!(JoinToken::best(&Value::Null, now), None);
    }

    #[test]
    fn masters_act_one_after_the_other() {
        let now = Timestamp::UNIX_EPOCH;
        assert!(JoinToken::is_short(None, 2, now), "without any token nobody waits");
        let nearly = JoinToken { ends: Some(now + SignedDuration::from_mins(12 * 60 - 5)), ..token("a.b", None) };
        assert!(JoinToken::is_short(Some(&nearly), 0, now));
        assert!(!JoinToken::is_short(Some(&nearly), 1, now));
        assert!(!JoinToken::is_short(Some(&token("a.b", None)), 0, now));
    }

    #[test]
    fn a_new_token_has_the_form_that_kubeadm_asks_for() {
        let token = JoinToken::new(Timestamp::UNIX_EPOCH);
        let (id, secret) = token.text.split_once('.').unwrap();
        assert_eq!((id.len(), secret.len()), (6, 16));
        assert_eq!(JoinToken::read(&stored(&token)), Some(token));
    }
}
