//! Single operations of the compute core, for programs that compare or measure it: `conformance/powervm` and `bench/compute-powervm`.
//!
//! The first line on stdin says which server; every other line is an operation, and is answered by a line on stdout when it is done:
//!
//! ```text
//! {"url": "http://127.0.0.1:12080", "user": "admin", "password": "…"}
//! {"do": "spawn", "blueprint": {"partition": {…}, "disks": […], "nics": […], "power_on": true}}
//! {"seconds": 1.2, "done": null}
//! {"do": "together", "operations": [{"do": "destroy", "partition": "…"}, …]}
//! ```

#![allow(clippy::disallowed_methods, reason = "measurements write what need not survive")]

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, FutureExt as _, join_all};
use landfall_platform::error_chain;
use landfall_platform_powervm::client::{Client, ConsoleUrl, JobLimits, Login};
use landfall_platform_powervm::compute::{
    Blueprint, ConfigDrive, Disk, Fabric, FibrePort, Host, Nic, PartitionId, PartitionSpec, Power, Run, Volume,
    assign_fibre_ports, attach_volume, config_drive_image, destroy, detach_volume, power, spawn,
};
use landfall_wire::{Limits, Trust};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where operations are done.
#[derive(Deserialize)]
struct Server {
    url: String,
    user: String,
    password: SecretString,
    /// The certificates to trust; those of the system if it is left out.
    ca_file: Option<PathBuf>,
    /// Between two looks at a job.
    #[serde(default = "a_second")]
    job_interval_ms: u64,
}

fn a_second() -> u64 {
    1000
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Operation {
    Spawn {
        blueprint: Box<Wanted>,
    },
    Destroy {
        partition: PartitionId,
    },
    Power {
        partition: PartitionId,
        wish: Power,
    },
    AttachVolume {
        partition: PartitionId,
        volume: Volume,
    },
    DetachVolume {
        partition: PartitionId,
        volume: Volume,
    },
    AssignFibrePorts {
        fabrics: Vec<Ports>,
    },
    /// Writes what is on a config drive into a file.
    ConfigDrive {
        drive: Drive,
        file: PathBuf,
    },
    Together {
        operations: Vec<Operation>,
    },
}

/// A [`Blueprint`], which is not read from anywhere otherwise, because it may hold secrets.
#[derive(Deserialize)]
struct Wanted {
    partition: PartitionSpec,
    #[serde(default)]
    disks: Vec<Disk>,
    #[serde(default)]
    nics: Vec<Nic>,
    #[serde(default)]
    volumes: Vec<Volume>,
    #[serde(default)]
    fibre_ports: Vec<FibrePort>,
    config_drive: Option<Drive>,
    #[serde(default)]
    power_on: bool,
}

#[derive(Deserialize)]
struct Drive {
    #[serde(rename = "meta_data")]
    meta: Value,
    #[serde(rename = "network_data")]
    network: Option<Value>,
    #[serde(rename = "user_data")]
    user: Option<SecretString>,
}

/// A fabric.
#[derive(Deserialize)]
struct Ports {
    ports: Vec<String>,
    wanted: usize,
}

impl From<Drive> for ConfigDrive {
    fn from(drive: Drive) -> Self {
        Self::Files { meta_data: drive.meta, network_data: drive.network, user_data: drive.user }
    }
}

impl From<Wanted> for Blueprint {
    fn from(wanted: Wanted) -> Self {
        Self {
            partition: wanted.partition,
            disks: wanted.disks,
            nics: wanted.nics,
            volumes: wanted.volumes,
            fibre_ports: wanted.fibre_ports,
            config_drive: wanted.config_drive.map(Into::into),
            power_on: wanted.power_on,
        }
    }
}

async fn connect(server: Server) -> Result<Arc<Host>, Failure> {
    let trust = match server.ca_file {
        Some(file) => Trust::Only(std::fs::read_to_string(file)?),
        None => Trust::System,
    };
    let login = Login::Password { user: server.user, password: server.password };
    let client = Client::new(ConsoleUrl::parse(&server.url)?, &trust, Limits::default(), login)?;
    let jobs = JobLimits { interval: Duration::from_millis(server.job_interval_ms), ..JobLimits::default() };
    Ok(Arc::new(Host::connect(Arc::new(client), None, jobs).await?))
}

fn carry_out(host: &Arc<Host>, operation: Operation) -> BoxFuture<'_, Result<Value, Failure>> {
    async move {
        let run = Run::default();
        Ok(match operation {
            Operation::Spawn { blueprint } => json!(spawn(host, &(*blueprint).into(), &run).await?),
            Operation::Destroy { partition } => json!(destroy(host, &partition, &run).await?),
            Operation::Power { partition, wish } => json!(power(host, &partition, wish).await?),
            Operation::AttachVolume { partition, volume } => {
                json!(attach_volume(host, &partition, &volume, &run).await?)
            }
            Operation::DetachVolume { partition, volume } => {
                json!(detach_volume(host, &partition, &volume, &run).await?)
            }
            Operation::AssignFibrePorts { fabrics } => {
                let fabric = |fabric: Ports| Fabric { ports: fabric.ports, wanted: fabric.wanted };
                let fabrics: Vec<Fabric> = fabrics.into_iter().map(fabric).collect();
                json!(assign_fibre_ports(host, &fabrics).await?)
            }
            Operation::ConfigDrive { drive, file } => json!(std::fs::write(file, config_drive_image(&drive.into()))?),
            Operation::Together { operations } => {
                let all = join_all(operations.into_iter().map(|operation| carry_out(host, operation))).await;
                json!(all.into_iter().collect::<Result<Vec<Value>, Failure>>()?)
            }
        })
    }
    .boxed()
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut lines = std::io::stdin().lines();
    let server = lines.next().ok_or("the first line says which server")??;
    let host = connect(serde_json::from_str(&server)?).await?;
    for line in lines {
        let operation = serde_json::from_str(&line?)?;
        let began = Instant::now();
        let done = carry_out(&host, operation).await;
        let seconds = began.elapsed().as_secs_f64();
        let answer = match done {
            Ok(done) => json!({ "seconds": seconds, "done": done }),
            Err(error) => json!({ "seconds": seconds, "failed": error_chain(&*error) }),
        };
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}
