//! The table of operations.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use landfall_platform::error_chain;
use landfall_platform_powervm::client::{Group, JobLimits, Parameter, Path, Storage};
use landfall_platform_powervm::compute::{
    Blueprint, Devices, DiskPlace, Error, FibrePort, Growth, Mac, Memory, Network, Nic, OperationError, Power, Run,
    Shape, Volume, abort_migration, attach_fibre_ports, attach_nic, attach_volume, confirm_migration, destroy,
    detach_fibre_ports, detach_nic, detach_volume, eject_config_drive, live_migrate, migrate, power, rebuild,
    recover_migration, resize, revert_migration, scrub, snapshot, spawn,
};

use super::arena::Program;
use crate::compute::stage::{bare, blueprint, bridged, force, id, run, shape};

pub(crate) const NAME: &str = "node-0";

/// Something that can be done to a partition.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// The test that it belongs to.
    pub(crate) part: &'static str,
    /// Makes what there is before it.
    pub(crate) prepare: fn(Program) -> BoxFuture<'static, ()>,
    pub(crate) perform: fn(Program, Run) -> BoxFuture<'static, Result<(), Refusal>>,
    /// Whether all is as before if it fails. If not, it only goes forward: what is gone stays gone.
    pub(crate) undoes: bool,
    /// What stays as it is then, as words of lines of the inventory.
    pub(crate) keeps: &'static [&'static str],
    /// Whether programs that have done it before do it with fewer looks.
    pub(crate) learns: bool,
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Refusal {
    Operation(OperationError),
    Core(Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Operation(error) => error_chain(error),
            Self::Core(error) => error_chain(error),
        })
    }
}

impl From<OperationError> for Refusal {
    fn from(error: OperationError) -> Self {
        Self::Operation(error)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

const BASE: Operation = Operation {
    name: "",
    part: "",
    prepare: |_| Box::pin(async {}),
    perform: |_, _| Box::pin(async { Ok(()) }),
    undoes: true,
    keeps: &[],
    learns: false,
};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "spawn in a pool",
        part: "making",
        perform: |program, run| Box::pin(async move { Ok(spawn(&program.host, &in_pool(&program), &run).await?) }),
        learns: true,
        ..BASE
    },
    Operation {
        name: "spawn in a volume group",
        part: "making",
        perform: |program, run| {
            Box::pin(async move { Ok(spawn(&program.host, &in_group(&program).await?, &run).await?) })
        },
        keeps: SWITCH,
        ..BASE
    },
    Operation {
        name: "destroy",
        part: "making",
        prepare: |program| Box::pin(async move { make(&program, in_pool(&program)).await }),
        perform: |program, run| Box::pin(async move { Ok(destroy(&program.host, &id(NAME), &run).await?) }),
        undoes: false,
        learns: true,
        ..BASE
    },
    Operation {
        name: "destroy in a volume group",
        part: "making",
        prepare: |program| Box::pin(async move { make(&program, in_group(&program).await.unwrap()).await }),
        perform: |program, run| Box::pin(async move { Ok(destroy(&program.host, &id(NAME), &run).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "rebuild",
        part: "making",
        prepare: |program| Box::pin(async move { make(&program, in_pool(&program)).await }),
        perform: |program, run| Box::pin(async move { Ok(rebuild(&program.host, &in_pool(&program), &run).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "scrub",
        part: "making",
        prepare: |program| {
            Box::pin(async move {
                make(&program, Blueprint { power_on: false, ..in_group(&program).await.unwrap() }).await;
                program.host.client().delete_partition(id(NAME).as_str()).await.unwrap();
            })
        },
        perform: |program, _| Box::pin(async move { Ok(scrub(&program.host).await.map(drop)?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "power on",
        part: "power",
        prepare: |program| Box::pin(async move { make(&program, off()).await }),
        perform: |program, _| Box::pin(async move { Ok(power(&program.host, &id(NAME), Power::On).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "power off",
        part: "power",
        prepare: |program| Box::pin(async move { make(&program, bare(NAME)).await }),
        perform: |program, _| Box::pin(async move { Ok(power(&program.host, &id(NAME), Power::Off).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "shut down",
        part: "power",
        prepare: |program| Box::pin(async move { connected(&program, bare(NAME)).await }),
        perform: |program, _| Box::pin(async move { Ok(power(&program.host, &id(NAME), Power::ShutDown).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "reboot",
        part: "power",
        prepare: |program| Box::pin(async move { connected(&program, bare(NAME)).await }),
        perform: |program, _| Box::pin(async move { Ok(power(&program.host, &id(NAME), Power::Reboot).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "eject the config drive",
        part: "power",
        prepare: |program| Box::pin(async move { connected(&program, in_pool(&program)).await }),
        perform: |program, _| Box::pin(async move { Ok(eject_config_drive(&program.host, &id(NAME)).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "attach a volume",
        part: "attachments",
        prepare: |program| Box::pin(async move { make(&program, off()).await }),
        perform: |program, run| {
            Box::pin(async move { Ok(attach_volume(&program.host, &id(NAME), &volume(), &run).await.map(drop)?) })
        },
        learns: true,
        ..BASE
    },
    Operation {
        name: "detach a volume",
        part: "attachments",
        prepare: |program| {
            Box::pin(async move { make(&program, Blueprint { volumes: vec![volume()], ..off() }).await })
        },
        perform: |program, run| {
            Box::pin(async move { Ok(detach_volume(&program.host, &id(NAME), &volume(), &run).await?) })
        },
        undoes: false,
        learns: true,
        ..BASE
    },
    Operation {
        name: "give Fibre Channel ports",
        part: "attachments",
        prepare: |program| Box::pin(async move { make(&program, off()).await }),
        perform: |program, run| {
            Box::pin(async move {
                let ports = fibre_ports(&program).await?;
                Ok(attach_fibre_ports(&program.host, &id(NAME), &ports, &run).await?)
            })
        },
        ..BASE
    },
    Operation {
        name: "take Fibre Channel ports",
        part: "attachments",
        prepare: |program| {
            Box::pin(async move {
                let fibre_ports = fibre_ports(&program).await.unwrap();
                make(&program, Blueprint { fibre_ports, ..off() }).await;
            })
        },
        perform: |program, run| {
            Box::pin(async move {
                let ports = fibre_ports(&program).await?;
                Ok(detach_fibre_ports(&program.host, &id(NAME), &ports, &run).await?)
            })
        },
        undoes: false,
        ..BASE
    },
    attach_to("attach to a bridged VLAN", |program, run| attach(program, run, bridged(100))),
    detach_from("detach from a bridged VLAN", |program| plugged(program, bridged(100))),
    attach_to("attach to an Open vSwitch", |program, run| attach(program, run, open_vswitch())),
    detach_from("detach from an Open vSwitch", |program| plugged(program, open_vswitch())),
    attach_to("attach to SR-IOV ports", |program, run| attach(program, run, sriov())),
    detach_from("detach from SR-IOV ports", |program| plugged(program, sriov())),
    Operation {
        name: "resize",
        part: "shape",
        prepare: |program| Box::pin(async move { make(&program, in_group(&program).await.unwrap()).await }),
        perform: |program, run| {
            Box::pin(async move {
                let larger = Shape { memory: Memory::fixed(4096), ..shape() };
                let growth = larger_boot_disk(&in_group(&program).await?);
                Ok(resize(&program.host, &id(NAME), &larger, &[growth], &run).await?)
            })
        },
        keeps: &["virtual disk"],
        ..BASE
    },
    Operation {
        name: "resize in a pool",
        part: "shape",
        prepare: |program| Box::pin(async move { make(&program, in_pool(&program)).await }),
        perform: |program, run| {
            Box::pin(async move {
                let larger = Shape { memory: Memory::fixed(4096), ..shape() };
                let growth = larger_boot_disk(&in_pool(&program));
                Ok(resize(&program.host, &id(NAME), &larger, &[growth], &run).await?)
            })
        },
        keeps: &["unit boot_"],
        ..BASE
    },
    Operation {
        name: "snapshot",
        part: "shape",
        prepare: |program| {
            Box::pin(async move { make(&program, Blueprint { power_on: false, ..in_pool(&program) }).await })
        },
        perform: |program, run| Box::pin(copy(program, run)),
        ..BASE
    },
    Operation {
        name: "migrate",
        part: "migration",
        prepare: |program| Box::pin(async move { make(&program, in_pool(&program)).await }),
        perform: |program, run| {
            Box::pin(async move { Ok(migrate(&program.host, &program.target, &in_pool(&program), &run).await?) })
        },
        ..BASE
    },
    Operation {
        name: "confirm a migration",
        part: "migration",
        prepare: |program| Box::pin(async move { migrated(&program).await }),
        perform: |program, run| Box::pin(async move { Ok(confirm_migration(&program.host, &id(NAME), &run).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "migrate and revert",
        part: "migration",
        prepare: |program| Box::pin(async move { make(&program, in_pool(&program)).await }),
        perform: |program, run| {
            Box::pin(async move {
                // Who has begun to go back does not go forth again.
                if !program.home.join(journal_mark(&run)).exists() {
                    migrate(&program.host, &program.target, &in_pool(&program), &run).await?;
                    std::fs::write(program.home.join(journal_mark(&run)), "").unwrap();
                }
                Ok(revert_migration(&program.host, &program.target, &id(NAME), &run).await?)
            })
        },
        undoes: false,
        ..BASE
    },
    Operation {
        name: "migrate live",
        part: "migration",
        prepare: |program| {
            Box::pin(async move {
                connected(&program, Blueprint { volumes: vec![volume()], ..in_pool(&program) }).await;
            })
        },
        perform: |program, run| {
            Box::pin(async move {
                let volumes = [volume()];
                Ok(live_migrate(&program.host, &program.target, &id(NAME), &volumes, &[], None, &run).await?)
            })
        },
        // It was for the first start, and goes before anything moves.
        keeps: &["cfg_"],
        ..BASE
    },
    Operation {
        name: "migrate live with Fibre Channel ports",
        part: "migration",
        prepare: |program| {
            Box::pin(async move {
                let fibre_ports = fibre_ports(&program).await.unwrap();
                connected(&program, Blueprint { fibre_ports, ..bare(NAME) }).await;
            })
        },
        perform: |program, run| {
            Box::pin(async move {
                let (here, there) = (program.host.vioses().await?, program.target.vioses().await?);
                let fabric: Vec<String> = here.iter().chain(&there).map(|vios| vios.ports[0].clone()).collect();
                Ok(live_migrate(&program.host, &program.target, &id(NAME), &[], &[fabric], None, &run).await?)
            })
        },
        ..BASE
    },
    Operation {
        name: "abort a migration",
        part: "migration",
        prepare: |program| Box::pin(async move { moving(&program).await }),
        perform: |program, _| Box::pin(async move { Ok(abort_migration(&program.host, &id(NAME)).await?) }),
        undoes: false,
        ..BASE
    },
    Operation {
        name: "recover a migration",
        part: "migration",
        prepare: |program| Box::pin(async move { moving(&program).await }),
        perform: |program, _| Box::pin(async move { Ok(recover_migration(&program.host, &id(NAME)).await?) }),
        undoes: false,
        ..BASE
    },
];

/// The switch of links to an Open vSwitch is made with the first of them, and stays for the next.
const SWITCH: &[&str] = &["switch NovaLinkVEABridge"];

const fn attach_to(
    name: &'static str,
    perform: fn(Program, Run) -> BoxFuture<'static, Result<(), Refusal>>,
) -> Operation {
    Operation {
        name,
        part: "attachments",
        prepare: |program| Box::pin(async move { make(&program, off()).await }),
        perform,
        keeps: SWITCH,
        ..BASE
    }
}

const fn detach_from(name: &'static str, prepare: fn(Program) -> BoxFuture<'static, ()>) -> Operation {
    Operation {
        name,
        part: "attachments",
        prepare,
        perform: |program, run| {
            Box::pin(async move { Ok(detach_nic(&program.host, &id(NAME), &nic(bridged(1)).mac, &run).await?) })
        },
        undoes: false,
        ..BASE
    }
}

fn attach(program: Program, run: Run, network: Network) -> BoxFuture<'static, Result<(), Refusal>> {
    Box::pin(async move { Ok(attach_nic(&program.host, &id(NAME), &nic(network), &run).await?) })
}

fn plugged(program: Program, network: Network) -> BoxFuture<'static, ()> {
    Box::pin(async move { make(&program, Blueprint { nics: vec![nic(network)], ..off() }).await })
}

fn nic(network: Network) -> Nic {
    Nic { mac: Mac::of(&id(NAME), 7), network }
}

fn open_vswitch() -> Network {
    Network::OpenVSwitch { bridge: "br-int".to_owned(), port: "4b1f0000-0000-1".to_owned(), mtu: None }
}

fn sriov() -> Network {
    Network::Sriov {
        physical_network: "physnet1".to_owned(),
        vlan: Some(100),
        redundancy: 2,
        capacity_percent: Some(4.0),
    }
}

fn volume() -> Volume {
    let targets = vec!["500507680B11AAAA".to_owned(), "500507680B22AAAA".to_owned()];
    Volume { id: "volume-1".to_owned(), targets, lun: 1, device: None }
}

async fn fibre_ports(program: &Program) -> Result<Vec<FibrePort>, Error> {
    let port = |(number, vios): (usize, &landfall_platform_powervm::compute::Vios)| FibrePort {
        vios: vios.id.clone(),
        port: "fcs0".to_owned(),
        wwpns: (format!("C05076000000AA{number}1"), format!("C05076000000AA{number}2")),
    };
    Ok(program.host.vioses().await?.iter().enumerate().map(port).collect())
}

fn off() -> Blueprint {
    Blueprint { power_on: false, ..bare(NAME) }
}

/// A disk from an image in the pool, a network adapter, a config drive.
fn in_pool(program: &Program) -> Blueprint {
    blueprint(&program.home, NAME)
}

/// A disk from an image in a volume group, a link to an Open vSwitch, a volume, Fibre Channel ports.
async fn in_group(program: &Program) -> Result<Blueprint, Error> {
    let mut blueprint = in_pool(program);
    blueprint.disks[0].place = DiskPlace::VolumeGroup { vios: "vios1".to_owned(), group: "datavg".to_owned() };
    blueprint.nics = vec![nic(open_vswitch())];
    blueprint.volumes = vec![volume()];
    blueprint.fibre_ports = fibre_ports(program).await?;
    Ok(blueprint)
}

fn larger_boot_disk(blueprint: &Blueprint) -> Growth {
    let disk = &blueprint.disks[0];
    Growth { number: 0, name: disk.name.clone(), place: disk.place.clone(), gib: disk.gib + 2.0, or_larger: false }
}

async fn make(program: &Program, blueprint: Blueprint) {
    spawn(&program.host, &blueprint, &run()).await.unwrap_or_else(|error| panic!("{}", error_chain(&error)));
}

/// A partition that runs, whose guest is connected.
async fn connected(program: &Program, blueprint: Blueprint) {
    make(program, blueprint).await;
    force(&program.admin, NAME, serde_json::json!({"ResourceMonitoringControlState": "active"})).await;
}

async fn migrated(program: &Program) {
    make(program, in_pool(program)).await;
    migrate(&program.host, &program.target, &in_pool(program), &run()).await.unwrap();
}

/// A partition on its way that does not arrive: nobody waits for it any more.
async fn moving(program: &Program) {
    connected(program, bare(NAME)).await;
    let client = program.host.client();
    let key = client.public_key().await.unwrap().unwrap();
    program.target.client().authorise_key(&key).await.unwrap();
    let path = Path::entry("LogicalPartition", id(NAME).as_str());
    let parameters = [("TargetManagedSystemName", Parameter::Text("power-b"))];
    let limits = JobLimits { timeout: Duration::from_mins(1), interval: Duration::from_mins(1) };
    crate::compute::stage::fault(&program.admin, "PUT */do/Migrate slow-state=1000000").await;
    let moving = async {
        while client.partition_state(id(NAME).as_str()).await.unwrap().unwrap() != "migrating running" {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        done = client.run_job(&path, "Migrate", &parameters, limits) => panic!("{done:?}"),
        () = moving => {}
    }
}

/// A file that says that a run has begun to go back.
fn journal_mark(run: &Run) -> String {
    let journal = run.journal.as_ref().unwrap().file_stem().unwrap().to_string_lossy().into_owned();
    format!("{journal}.back")
}

async fn copy(program: Program, run: Run) -> Result<(), Refusal> {
    // What the kernel would show.
    let directory = program.home.join("by-id");
    let shown = program.host.client().vioses(&[Group::ViosScsiMappings]).await;
    let shown =
        shown.map_err(|error| Refusal::Core(Error::Missing { what: error.to_string(), host: String::new() }))?;
    let device = shown.iter().flat_map(|vios| &vios.mappings).find_map(|mapping| match &mapping.storage {
        Some(Storage::LogicalUnit(device)) => Some(device.clone()),
        _ => None,
    });
    let device = device.unwrap();
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(format!("scsi-SAIX_VDASD_{}", &device[device.len() - 32..])), b"contents").unwrap();
    let devices = Devices { directory, scans: Vec::new(), interval: Duration::from_millis(5) };
    let into = program.home.join("copy.img");
    snapshot(&program.host, &id(NAME), &devices, &into, &run).await?;
    assert_eq!(std::fs::read(&into).unwrap(), b"contents");
    Ok(())
}
