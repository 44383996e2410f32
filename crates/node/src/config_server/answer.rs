//! What the config server answers: a function of the request, its tokens and its configs.

use std::{net::IpAddr, sync::Arc, time::Instant};

use bytes::Bytes;
use landfall_platform::error_chain;
use tracing::{info, warn};

use super::{Admission, Configs, Unreadable, negotiation, throttle::Throttle};

/// Answers machines.
pub struct ConfigServer {
    configs: Arc<dyn Configs>,
    tokens: Arc<dyn Admission>,
    /// Wrong tokens.
    wrong: Throttle,
    /// Lines in the log about refusals.
    told: Throttle,
}

/// A machine token has 64 characters; hashing more than this is work for nothing.
const LONGEST_TOKEN: usize = 256;

/// What matters of a request.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// The path.
    pub path: &'a str,
    /// The `Accept` header.
    pub accept: Option<&'a str>,
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// Who asks.
    pub peer: IpAddr,
}

/// What to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body; a config, or a line for people.
    pub body: Bytes,
}

impl Answer {
    fn config(body: Bytes) -> Self {
        Self { status: 200, body }
    }

    fn text(status: u16, text: &'static str) -> Self {
        Self { status, body: Bytes::from_static(text.as_bytes()) }
    }
}

impl ConfigServer {
    /// A server of these configs, for machines with these tokens.
    pub fn new(configs: Arc<dyn Configs>, tokens: Arc<dyn Admission>) -> Self {
        Self { configs, tokens, wrong: Throttle::default(), told: Throttle::default() }
    }

    /// Answers a request. Every config that is handed out leaves a line in the log, and so do the first refusals of an address in a minute.
    pub fn answer(&self, query: &Query<'_>, now: Instant) -> Answer {
        if !matches!(query.method, "GET" | "HEAD") {
            return Answer::text(405, "only GET and HEAD are answered here\n");
        }
        if query.path == "/healthz" {
            return Answer::text(200, "ok\n");
        }
        if query.path == "/progress" {
            return self.progress(query, now);
        }
        let Some(role) = query.path.strip_prefix("/config/").filter(|role| !role.is_empty() && !role.contains('/'))
        else {
            return Answer::text(404, "there is /config/<role>, /progress and /healthz\n");
        };
        let answer = self.config(role, query, now);
        if answer.status == 200 {
            info!(peer = %query.peer, role, bytes = answer.body.len(), "config handed out");
        } else {
            self.tell_refusal(role, &answer, query, now);
        }
        answer
    }

    fn tell_refusal(&self, role: &str, answer: &Answer, query: &Query<'_>, now: Instant) {
        if self.told.blocks(query.peer, now) {
            return;
        }
        warn!(peer = %query.peer, role, status = answer.status, "config refused");
        if self.told.count(query.peer, now) {
            warn!(peer = %query.peer, "further refusals of this address are not logged for up to a minute");
        }
    }

    fn progress(&self, query: &Query<'_>, now: Instant) -> Answer {
        if let Some(refusal) = self.refusal(query, now, |token| self.tokens.admits_any(token)) {
            return refusal;
        }
        match self.configs.progress() {
            Ok(Some(progress)) => Answer::config(progress),
            Ok(None) => Answer::text(404, "there is no bootstrap on this machine\n"),
            Err(error) => unreadable(&error),
        }
    }

    /// Returns the answer for a machine without the right token, if this one has not.
    fn refusal(
        &self,
        query: &Query<'_>,
        now: Instant,
        admits: impl Fn(&str) -> Result<bool, Unreadable>,
    ) -> Option<Answer> {
        // The token first: others behind the same address say nothing about the machine that has the right one.
        let token = query.authorization.and_then(|value| value.strip_prefix("Bearer "));
        match token.filter(|token| token.len() <= LONGEST_TOKEN).map_or(Ok(false), admits) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(error) => return Some(unreadable(&error)),
        }
        if self.wrong.blocks(query.peer, now) {
            return Some(Answer::text(503, "too many wrong tokens from this address, try again in a minute\n"));
        }
        self.wrong.count(query.peer, now);
        Some(Answer::text(401, "the machine token of the role is missing, wrong or revoked\n"))
    }

    fn config(&self, role: &str, query: &Query<'_>, now: Instant) -> Answer {
        if !self.tokens.knows(role) {
            return Answer::text(503, "the token of this role is not known here yet, another machine may know it\n");
        }
        if let Some(refusal) = self.refusal(query, now, |token| self.tokens.admits(role, token)) {
            return refusal;
        }
        if !negotiation::reads_served(query.accept) {
            return Answer::text(400, "this Ignition does not read spec 3.3: boot a newer operating system image\n");
        }
        match self.configs.config(role) {
            Ok(Some(config)) => Answer::config(config),
            // The token was right, so the role is; its config is just not there yet.
            Ok(None) => Answer::text(503, "the config of this role is not ready\n"),
            Err(error) => unreadable(&error),
        }
    }
}

/// Too many open files, a disk that fails, half a file: whatever it is, it says nothing about the machine that asks, and may pass.
fn unreadable(error: &Unreadable) -> Answer {
    tracing::error!(error = error_chain(error), "cannot answer a machine");
    Answer::text(503, "this server cannot read its own files now, try again\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_server::Tokens;

    struct Fixed;

    impl Configs for Fixed {
        fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
            Ok((role == "master").then(|| Bytes::from_static(b"{\"ignition\":{\"version\":\"3.3.0\"}}")))
        }

        fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
            Ok(Some(Bytes::from_static(b"{\"status\":\"progressing\"}")))
        }
    }

    fn server() -> (ConfigServer, Arc<Tokens>) {
        let tokens = Arc::new(Tokens::new([("master", "m-secret"), ("worker", "w-secret")]));
        (ConfigServer::new(Arc::new(Fixed), Arc::<Tokens>::clone(&tokens)), tokens)
    }

    fn query<'a>(path: &'a str, authorization: Option<&'a str>) -> Query<'a> {
        Query { method: "GET", path, accept: None, authorization, peer: IpAddr::from([192, 0, 2, 1]) }
    }

    #[test]
    fn the_right_token_gets_the_config() {
        let (server, _) = server();
        let answer = server.answer(&query("/config/master", Some("Bearer m-secret")), Instant::now());
        assert_eq!((answer.status, answer.body.starts_with(b"{\"ignition\"")), (200, true));
    }

    #[test]
    fn no_token_another_roles_token_and_a_revoked_token_get_nothing() {
        let (server, tokens) = server();
        for authorization in [None, Some("Bearer w-secret"), Some("Bearer "), Some("m-secret"), Some("Basic m-secret")]
        {
            let answer = server.answer(&query("/config/master", authorization), Instant::now());
            assert_eq!(answer.status, 401, "{authorization:?}");
        }
        tokens.revoke("master");
        assert_eq!(server.answer(&query("/config/master", Some("Bearer m-secret")), Instant::now()).status, 401);
    }

    #[test]
    fn what_may_pass_is_no_client_error() {
        let (server, _) = server();
        let answer = server.answer(&query("/config/worker", Some("Bearer w-secret")), Instant::now());
        assert_eq!(answer.status, 503, "not ready yet: Ignition must try again");
        for _ in 0..10 {
            server.answer(&query("/config/master", Some("Bearer guess")), Instant::now());
        }
        let answer = server.answer(&query("/config/master", Some("Bearer guess")), Instant::now());
        assert_eq!(answer.status, 503, "throttled, not refused for good");
    }

    #[test]
    fn a_guesser_behind_the_same_address_holds_back_no_machine() {
        let (server, _) = server();
        let now = Instant::now();
        let status = |path: &str, token: &str| server.answer(&query(path, Some(token)), now).status;
        for number in 0..1000 {
            let wrong = if number < 10 { 401 } else { 503 };
            assert_eq!(status("/config/master", "Bearer guess"), wrong, "{number}");
        }
        assert_eq!(status("/config/master", "Bearer m-secret"), 200);
        assert_eq!(status("/progress", "Bearer w-secret"), 200);
        assert_eq!(status("/config/master", "Bearer w-secret"), 503, "the right token of another role is wrong too");
    }

    #[test]
    fn refusals_fill_no_log() {
        let (server, _) = server();
        let now = Instant::now();
        for _ in 0..1000 {
            server.answer(&query("/config/master", Some("Bearer guess")), now);
            server.answer(&query("/config/other", None), now);
        }
        let peer = query("/", None).peer;
        assert!(server.told.blocks(peer, now), "told for the tenth time");
        let other = Query { peer: IpAddr::from([192, 0, 2, 9]), ..query("/config/master", None) };
        server.answer(&other, now);
        assert!(!server.told.blocks(other.peer, now), "each address has its own lines");
    }

    #[test]
    fn a_token_of_any_length_is_refused_like_another() {
        let (server, _) = server();
        let long = format!("Bearer {}", "x".repeat(1 << 20));
        assert_eq!(server.answer(&query("/config/master", Some(&long)), Instant::now()).status, 401);
    }

    /// Of a cluster that does not know the masters' token yet.
    struct Ignorant;

    impl Admission for Ignorant {
        fn admits(&self, _: &str, _: &str) -> Result<bool, Unreadable> {
            Ok(false)
        }

        fn admits_any(&self, _: &str) -> Result<bool, Unreadable> {
            Ok(false)
        }

        fn knows(&self, role: &str) -> bool {
            role != "master"
        }
    }

    #[test]
    fn who_cannot_be_told_yet_is_not_refused_for_good() {
        let server = ConfigServer::new(Arc::new(Fixed), Arc::new(Ignorant));
        for _ in 0..20 {
            let answer = server.answer(&query("/config/master", Some("Bearer m-secret")), Instant::now());
            assert_eq!(answer.status, 503);
            assert!(answer.body.starts_with(b"the token of this role is not known here yet"), "{answer:?}");
        }
        // And that it asked has not made it suspect.
        assert_eq!(server.answer(&query("/config/worker", Some("Bearer guess")), Instant::now()).status, 401);
    }

    #[test]
    fn progress_is_for_those_with_a_token_of_any_role() {
        let (server, _) = server();
        let status = |authorization| server.answer(&query("/progress", authorization), Instant::now()).status;
        assert_eq!((status(Some("Bearer w-secret")), status(Some("Bearer m-secret"))), (200, 200));
        assert_eq!((status(None), status(Some("Bearer guess"))), (401, 401));
    }

    #[test]
    fn other_paths_and_methods() {
        let (server, _) = server();
        for (method, path, status) in [
            ("GET", "/healthz", 200),
            ("POST", "/config/master", 405),
            ("GET", "/", 404),
            ("GET", "/config/", 404),
            ("GET", "/config/master/../worker", 404),
        ] {
            assert_eq!(server.answer(&Query { method, ..query(path, None) }, Instant::now()).status, status, "{path}");
        }
        let old = Query {
            accept: Some("application/vnd.coreos.ignition+json;version=3.1.0"),
            ..query("/config/master", Some("Bearer m-secret"))
        };
        assert_eq!(server.answer(&old, Instant::now()).status, 400);
    }
}
