//! Answers of the config server: a function of the request, of the credentials that are accepted, and of the configs.

use std::{net::IpAddr, sync::Arc, time::Instant};

use bytes::Bytes;
use landfall_machine_api::{Credential, Subject};
use landfall_platform::error_chain;
use tracing::{info, warn};

use super::{Admission, Configs, MachineId, Redemption, Unreadable, negotiation, throttle::Throttle};

/// Answers machines.
pub struct ConfigServer {
    configs: Arc<dyn Configs>,
    admission: Arc<dyn Admission>,
    /// Wrong credentials.
    wrong: Throttle,
    /// Lines in the log about refusals.
    told: Throttle,
}

/// A credential is a name, a uid and 64 digits; hashing more than this is work for nothing.
const LONGEST_CREDENTIAL: usize = 512;
/// The role whose root the installer's credential is made from.
const INSTALLERS_ROLE: &str = "worker";

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
    /// A server of these configs, for machines that are let in.
    pub fn new(configs: Arc<dyn Configs>, admission: Arc<dyn Admission>) -> Self {
        Self { configs, admission, wrong: Throttle::default(), told: Throttle::default() }
    }

    /// Answers a request. Every config that is handed out leaves a line in the log, and so do the first refusals of an address in a minute.
    pub async fn answer(&self, query: &Query<'_>, now: Instant) -> Answer {
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
        let answer = self.config(role, query, now).await;
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
        let installer = |subject: &Subject| (*subject == Subject::Installer).then_some(());
        if let Err(refusal) = self.verified(INSTALLERS_ROLE, query, now, installer) {
            return refusal;
        }
        match self.configs.progress() {
            Ok(Some(progress)) => Answer::config(progress),
            Ok(None) => Answer::text(404, "there is no bootstrap on this machine\n"),
            Err(error) => unreadable(&error),
        }
    }

    /// Returns what is `wanted` of whose credential a request has, if it is one of the role's, or else the answer.
    fn verified<T>(
        &self,
        role: &str,
        query: &Query<'_>,
        now: Instant,
        wanted: impl Fn(&Subject) -> Option<T>,
    ) -> Result<T, Answer> {
        // The credential first: others behind the same address say nothing about the machine that has the right one.
        let text = query.authorization.and_then(|value| value.strip_prefix("Bearer "));
        let credential = text.filter(|text| text.len() <= LONGEST_CREDENTIAL).and_then(Credential::parse);
        if let Some(credential) = credential
            && let Some(wanted) = wanted(credential.subject())
            && self.admission.admits(role, &credential).map_err(|error| unreadable(&error))?
        {
            return Ok(wanted);
        }
        if self.wrong.blocks(query.peer, now) {
            return Err(Answer::text(503, "too many wrong credentials from this address, try again in a minute\n"));
        }
        self.wrong.count(query.peer, now);
        Err(Answer::text(401, "the machine's credential is missing, wrong or revoked\n"))
    }

    async fn config(&self, role: &str, query: &Query<'_>, now: Instant) -> Answer {
        if !self.admission.knows(role) {
            return Answer::text(
                503,
                "credentials of this role are not known here yet, another machine may know them\n",
            );
        }
        let machine = |subject: &Subject| match subject {
            Subject::Machine { name, maker } => Some((name.clone(), maker.clone())),
            Subject::Installer => None,
        };
        let (name, maker) = match self.verified(role, query, now, machine) {
            Ok(machine) => machine,
            Err(refusal) => return refusal,
        };
        if !negotiation::reads_served(query.accept) {
            return Answer::text(400, "this Ignition does not read spec 3.3: boot a newer operating system image\n");
        }
        let config = match self.configs.config(role) {
            Ok(Some(config)) => config,
            // The credential was right, so the role is; its config is just not there yet.
            Ok(None) => return Answer::text(503, "the config of this role is not ready\n"),
            Err(error) => return unreadable(&error),
        };
        // Last, so that nothing but the way to the machine can keep it from what it has used its credential for.
        let machine = MachineId { name: &name, maker: &maker };
        match self.admission.redeem(role, machine, query.peer).await {
            Ok(Redemption::Granted) => Answer::config(config),
            Ok(Redemption::Refused(reason)) => {
                if !self.told.blocks(query.peer, now) {
                    warn!(peer = %query.peer, role, machine = name, reason, "credential refused");
                }
                Answer::text(401, "the machine's credential has been used or has ended\n")
            }
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
    use crate::config_server::Roots;

    struct Fixed;

    impl Configs for Fixed {
        fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
            Ok((role == "master").then(|| Bytes::from_static(b"{\"ignition\":{\"version\":\"3.3.0\"}}")))
        }

        fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
            Ok(Some(Bytes::from_static(b"{\"status\":\"progressing\"}")))
        }
    }

    fn server() -> (ConfigServer, Arc<Roots>) {
        let roots = Arc::new(Roots::new([("master", "m-root"), ("worker", "w-root")]));
        (ConfigServer::new(Arc::new(Fixed), Arc::<Roots>::clone(&roots)), roots)
    }

    fn bearer(subject: &Subject, root: &str) -> String {
        format!("Bearer {}", subject.credential(root))
    }

    fn master() -> String {
        bearer(&Subject::named("m0"), "m-root")
    }

    fn worker() -> String {
        bearer(&Subject::named("w0"), "w-root")
    }

    fn query<'a>(path: &'a str, authorization: Option<&'a str>) -> Query<'a> {
        Query { method: "GET", path, accept: None, authorization, peer: IpAddr::from([192, 0, 2, 1]) }
    }

    fn installer() -> String {
        bearer(&Subject::Installer, "w-root")
    }

    async fn status(server: &ConfigServer, path: &str, authorization: Option<&str>) -> u16 {
        server.answer(&query(path, authorization), Instant::now()).await.status
    }

    #[tokio::test]
    async fn the_right_credential_gets_the_config() {
        let (server, _) = server();
        let answer = server.answer(&query("/config/master", Some(&master())), Instant::now()).await;
        assert_eq!((answer.status, answer.body.starts_with(b"{\"ignition\"")), (200, true));
    }

    #[tokio::test]
    async fn no_credential_another_roles_and_a_revoked_one_get_nothing() {
        let (server, roots) = server();
        let basic = master().replace("Bearer", "Basic");
        for authorization in [
            None,
            Some(worker().as_str()),
            Some("Bearer "),
            Some("m-root"),
            Some("Bearer m-root"),
            Some(basic.as_str()),
        ] {
            assert_eq!(status(&server, "/config/master", authorization).await, 401, "{authorization:?}");
        }
        roots.revoke("master");
        assert_eq!(status(&server, "/config/master", Some(&master())).await, 401);
    }

    #[tokio::test]
    async fn what_may_pass_is_no_client_error() {
        let (server, _) = server();
        let answer = status(&server, "/config/worker", Some(&worker())).await;
        assert_eq!(answer, 503, "not ready yet: Ignition must try again");
        for _ in 0..10 {
            status(&server, "/config/master", Some("Bearer guess")).await;
        }
        let answer = status(&server, "/config/master", Some("Bearer guess")).await;
        assert_eq!(answer, 503, "throttled, not refused for good");
    }

    #[tokio::test]
    async fn a_guesser_behind_the_same_address_holds_back_no_machine() {
        let (server, _) = server();
        let now = Instant::now();
        let status = async |path: &str, text: &str| server.answer(&query(path, Some(text)), now).await.status;
        for number in 0..1000 {
            let wrong = if number < 10 { 401 } else { 503 };
            assert_eq!(status("/config/master", "Bearer guess").await, wrong, "{number}");
        }
        assert_eq!(status("/config/master", &master()).await, 200);
        assert_eq!(status("/progress", &installer()).await, 200);
        assert_eq!(status("/config/master", &worker()).await, 503, "one of another role is wrong too");
    }

    #[tokio::test]
    async fn refusals_fill_no_log() {
        let (server, _) = server();
        let now = Instant::now();
        for _ in 0..1000 {
            server.answer(&query("/config/master", Some("Bearer guess")), now).await;
            server.answer(&query("/config/other", None), now).await;
        }
        let peer = query("/", None).peer;
        assert!(server.told.blocks(peer, now), "told for the tenth time");
        let other = Query { peer: IpAddr::from([192, 0, 2, 9]), ..query("/config/master", None) };
        server.answer(&other, now).await;
        assert!(!server.told.blocks(other.peer, now), "each address has its own lines");
    }

    #[tokio::test]
    async fn a_credential_of_any_length_is_refused_like_another() {
        let (server, _) = server();
        let long = bearer(&Subject::named("x".repeat(1 << 20)), "m-root");
        assert_eq!(status(&server, "/config/master", Some(&long)).await, 401);
    }

    /// Knows the roots, and what becomes of credentials; not those of masters yet.
    struct Deciding(Roots, Result<Redemption, ()>);

    #[async_trait::async_trait]
    impl Admission for Deciding {
        fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
            self.0.admits(role, credential)
        }

        async fn redeem(&self, _: &str, _: MachineId<'_>, _: IpAddr) -> Result<Redemption, Unreadable> {
            self.1.clone().map_err(|()| Unreadable::new(std::path::Path::new("the cluster"), "it is away"))
        }

        fn knows(&self, role: &str) -> bool {
            role != "later"
        }
    }

    fn deciding(decision: Result<Redemption, ()>) -> ConfigServer {
        let roots = Roots::new([("master", "m-root"), ("later", "l-root"), ("worker", "w-root")]);
        ConfigServer::new(Arc::new(Fixed), Arc::new(Deciding(roots, decision)))
    }

    #[tokio::test]
    async fn a_credential_that_was_used_is_refused_for_good_and_one_that_cannot_be_looked_up_is_not() {
        let used = deciding(Ok(Redemption::Refused("it was used by 192.0.2.7".to_owned())));
        let answer = used.answer(&query("/config/master", Some(&master())), Instant::now()).await;
        assert_eq!(
            (answer.status, &*answer.body),
            (401, &b"the machine's credential has been used or has ended\n"[..])
        );
        assert_eq!(status(&deciding(Err(())), "/config/master", Some(&master())).await, 503);
        assert_eq!(status(&deciding(Ok(Redemption::Granted)), "/config/master", Some(&master())).await, 200);
    }

    #[tokio::test]
    async fn who_cannot_be_told_yet_is_not_refused_for_good() {
        let server = deciding(Ok(Redemption::Granted));
        for _ in 0..20 {
            let answer = server.answer(&query("/config/later", Some(&master())), Instant::now()).await;
            assert_eq!(answer.status, 503);
            assert!(answer.body.starts_with(b"credentials of this role are not known here yet"), "{answer:?}");
        }
        // And that it asked has not made it suspect.
        assert_eq!(status(&server, "/config/worker", Some("Bearer guess")).await, 401);
    }

    #[tokio::test]
    async fn progress_is_for_the_installer_and_configs_are_for_machines() {
        let (server, _) = server();
        assert_eq!(status(&server, "/progress", Some(&installer())).await, 200);
        for other in [None, Some("Bearer guess"), Some(worker().as_str()), Some(master().as_str())] {
            assert_eq!(status(&server, "/progress", other).await, 401, "{other:?}");
        }
        assert_eq!(status(&server, "/config/worker", Some(&installer())).await, 401);
    }

    #[tokio::test]
    async fn other_paths_and_methods() {
        let (server, _) = server();
        for (method, path, status) in [
            ("GET", "/healthz", 200),
            ("POST", "/config/master", 405),
            ("GET", "/", 404),
            ("GET", "/config/", 404),
            ("GET", "/config/master/../worker", 404),
        ] {
            let answer = server.answer(&Query { method, ..query(path, None) }, Instant::now()).await;
            assert_eq!(answer.status, status, "{path}");
        }
        let master = master();
        let old = Query {
            accept: Some("application/vnd.coreos.ignition+json;version=3.1.0"),
            ..query("/config/master", Some(&master))
        };
        assert_eq!(server.answer(&old, Instant::now()).await.status, 400);
    }
}
