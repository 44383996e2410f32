//! What machines run, how it gets there, and where they fetch it.

use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Question};

use super::{Stop, Survey, key, or_by_hand, typed};
use crate::Client;

/// Started from the network; any other value of the question is the slug of a system of the platform's own.
pub(super) const IPXE: &str = "ipxe";

/// Asset hosts, as values of the question for them.
pub(super) const LANDFALL: &str = "landfall";
pub(super) const URL: &str = "url";
pub(super) const BUCKET: &str = "bucket";

/// Families of systems that read Ignition.
const READ_IGNITION: [&str; 2] = ["flatcar", "coreos"];

pub(super) fn applies(key: Key, answers: &Answers) -> bool {
    let is = |question: Key, value: &str| !answers.is_given(question) && answers.text(question) == Some(value);
    match key {
        key::KERNEL | key::INITRAMFS | key::ROOTFS | key::DISK => is(key::OS, IPXE),
        // The platform starts machines from the network only with a public address.
        key::WORKERS_PUBLIC => answers.has(key::OS) && !answers.is_given(key::OS) && !is(key::OS, IPXE),
        key::ASSET_PUBLIC => is(key::ASSET_HOST, LANDFALL),
        key::ASSET_URL => is(key::ASSET_HOST, URL),
        key::BUCKET | key::BUCKET_ENDPOINT | key::BUCKET_REGION => is(key::ASSET_HOST, BUCKET),
        _ => true,
    }
}

impl Survey {
    pub(super) async fn compose_boot(&mut self, key: Key, answers: &Answers) -> Composed {
        match key {
            key::OS => match self.client(answers) {
                Some(client) => or_by_hand(systems(client).await, system(Vec::new())),
                None => Composed::ask(system(Vec::new())),
            },
            key::ASSET_HOST => Composed::ask(asset_host()),
            _ => Composed::ask(field(key, answers)),
        }
    }
}

async fn systems(client: &Client) -> Result<Composed, Stop> {
    let own = client.operating_systems().await?.into_iter();
    let own = own.filter(|system| READ_IGNITION.iter().any(|family| system.distro.contains(family)));
    Ok(Composed::ask(system(own.map(|system| Choice::new(system.slug, system.name)).collect())))
}

fn system(own: Vec<Choice>) -> Question {
    let mut choices = vec![Choice::new(IPXE, "Fedora CoreOS or RHEL CoreOS, started from the network")];
    choices.extend(own);
    Question::select("Operating system of the machines", choices).help("It must be one that reads Ignition")
}

fn asset_host() -> Question {
    let choices = vec![
        Choice::new(LANDFALL, "This computer, while it installs: machines must reach it"),
        Choice::new(BUCKET, "A bucket of an object store that speaks S3"),
        Choice::new(URL, "A web server of your own"),
    ];
    Question::select("Where do machines fetch what they boot with?", choices)
        .help("An iPXE script, and the config of the bootstrap machine, which holds secrets")
}

/// A question that fills one field by typing.
fn field(key: Key, answers: &Answers) -> Question {
    let (message, help) = wording(key);
    let optional = matches!(key, key::BUCKET_ENDPOINT | key::DISK);
    let field = if optional { Field::text(key).optional() } else { Field::text(key) };
    let question = typed(message, field, help);
    // The three files of a release are named alike.
    let beside = |name: &str| {
        let kernel = answers.text(key::KERNEL)?.trim();
        let (before, after) = kernel.rsplit_once("live-kernel")?;
        Some(format!("{before}live-{name}.{}.img", after.trim_start_matches(['.', '-'])))
    };
    let preset = match key {
        key::INITRAMFS => beside("initramfs"),
        key::ROOTFS => beside("rootfs"),
        key::DISK => Some("/dev/sda".to_owned()),
        key::BUCKET_REGION => Some("us-east-1".to_owned()),
        _ => None,
    };
    match preset {
        Some(text) => question.preset_text(text),
        None => question,
    }
}

fn wording(key: Key) -> (&'static str, &'static str) {
    match key {
        key::KERNEL => ("URL of the live kernel", "https; of Fedora CoreOS or RHEL CoreOS; machines must reach it"),
        key::INITRAMFS => ("URL of the live initramfs", "https; of the same release"),
        key::ROOTFS => ("URL of the live root file system", "Of the same release"),
        key::DISK => ("Disk to install to", "The system is installed to it when a machine boots for the first time"),
        key::ASSET_PUBLIC => {
            ("Address of this computer", "Name or address, with a port if it is not 8448, by which machines reach it")
        }
        key::ASSET_URL => {
            ("URL of the web server", "https; Landfall says which files to put below it, and checks them")
        }
        key::BUCKET => {
            ("Name of the bucket", "It must exist; credentials are those of the usual AWS variables and files")
        }
        key::BUCKET_ENDPOINT => ("URL of the object store", "Leave it empty for Amazon's own"),
        _ => ("Region of the bucket", "Object stores without regions take any"),
    }
}
