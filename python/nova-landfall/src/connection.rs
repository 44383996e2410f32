//! A server, connected to: where calls begin.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use landfall_engine::Event;
use landfall_platform_powervm::Client;
use landfall_platform_powervm::client::{ConsoleUrl, JobLimits, Login};
use landfall_platform_powervm::compute::{self, Encryption, Host, Run};
use landfall_wire::{Limits, Trust};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use secrecy::SecretString;
use serde::Deserialize;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::calls::console::Relay;
use crate::failure::Failure;
use crate::task::{Reporter, Task};

/// Threads that wait for the network; there is little else to do.
const THREADS: usize = 2;

/// How the server is reached.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    url: String,
    user: String,
    /// None for a program on the management partition, to which the console gives a token in a file.
    password: Option<SecretString>,
    /// The text of a bundle.
    ca_bundle: Option<String>,
    insecure: bool,
    /// The name of the server, if there are several behind the console.
    system: Option<String>,
    journals: PathBuf,
    job_timeout_seconds: f64,
    job_interval_seconds: f64,
    /// None for consoles that are not encrypted.
    console_encryption: Option<ConsoleEncryption>,
    /// Addresses of proxies; empty for any that reach the consoles.
    console_proxies: Vec<IpAddr>,
}

/// Files in PEM.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConsoleEncryption {
    ca_certs: PathBuf,
    server_cert: PathBuf,
    server_key: PathBuf,
}

/// What calls share.
pub(crate) struct Session {
    client: Arc<Client>,
    system: Option<String>,
    jobs: JobLimits,
    host: OnceCell<Arc<Host>>,
    /// Where the journals of operations are.
    pub(crate) journals: PathBuf,
    /// What viewers of consoles have to show, if anything.
    pub(crate) encryption: Option<Encryption>,
    /// Addresses of viewers that are let in; empty for any.
    pub(crate) proxies: Vec<IpAddr>,
    /// What lets viewers of consoles in, once somebody wants one.
    pub(crate) relay: OnceCell<Relay>,
    /// What lets them in to one instance each, where they cannot say which one they want.
    pub(crate) relays: Mutex<BTreeMap<Uuid, Relay>>,
}

impl Session {
    /// The server, connected to when it is first needed.
    pub(crate) async fn host(&self) -> Result<Arc<Host>, Failure> {
        let connect = async || {
            let host = Host::connect(Arc::clone(&self.client), self.system.as_deref(), self.jobs).await?;
            Ok::<_, compute::Error>(Arc::new(host.remembering_vlans(self.journals.join("vlans.json"))))
        };
        Ok(self.host.get_or_try_init(connect).await.map(Arc::clone)?)
    }

    /// How an operation is carried out whose steps are told to a reporter.
    pub(crate) fn run(journal: PathBuf, reporter: &Reporter, cancel: &CancellationToken) -> Run {
        let mut run = Run { journal: Some(journal), ..Run::default() };
        let reporter = reporter.clone();
        run.options.events = Arc::new(move |event: &Event| reporter.event(event));
        run.options.cancel = cancel.clone();
        run
    }

    /// Ends the session with the console, which keeps a limited number of them.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        self.client.logoff().await.map_err(|error| Failure::of(error.class(), &error))
    }
}

/// A connection to a server, and threads to work on it.
#[pyclass(frozen)]
pub(crate) struct Connection {
    runtime: Runtime,
    session: Arc<Session>,
}

#[pymethods]
impl Connection {
    /// Prepares a connection. Nothing is sent yet.
    #[new]
    fn new(settings: &str) -> PyResult<Self> {
        let settings: Settings =
            serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("landfall")
            .enable_all()
            .build()
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
        let refused =
            |error: landfall_platform_powervm::Error| PyValueError::new_err(landfall_platform::error_chain(&error));
        let trust = match (settings.insecure, settings.ca_bundle) {
            (true, _) => Trust::Unverified,
            (false, Some(bundle)) => Trust::Only(bundle),
            (false, None) => Trust::System,
        };
        let login = match settings.password {
            Some(password) => Login::Password { user: settings.user, password },
            None => Login::Local { user: settings.user },
        };
        let console = ConsoleUrl::parse(&settings.url).map_err(refused)?;
        let client = Client::new(console, &trust, Limits::default(), login).map_err(refused)?;
        let seconds = |seconds: f64| {
            Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))
        };
        let jobs = JobLimits {
            timeout: seconds(settings.job_timeout_seconds)?,
            interval: seconds(settings.job_interval_seconds)?,
        };
        let load = |files: ConsoleEncryption| {
            let encryption = Encryption::load(&files.ca_certs, &files.server_cert, &files.server_key);
            encryption.map_err(|error| {
                PyValueError::new_err(format!(
                    "consoles cannot be encrypted: {}",
                    landfall_platform::error_chain(&error)
                ))
            })
        };
        let session = Session {
            client: Arc::new(client),
            system: settings.system,
            jobs,
            host: OnceCell::new(),
            journals: settings.journals,
            encryption: settings.console_encryption.map(load).transpose()?,
            proxies: settings.console_proxies,
            relay: OnceCell::new(),
            relays: Mutex::default(),
        };
        Ok(Self { runtime, session: Arc::new(session) })
    }

    /// Begins a call, which a JSON object describes.
    fn start(&self, call: &str) -> PyResult<Task> {
        let call = serde_json::from_str(call).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Task::begin(&self.runtime, Arc::clone(&self.session), call))
    }
}
