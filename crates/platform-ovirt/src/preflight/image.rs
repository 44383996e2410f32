//! What machines are made from: a template that exists, or an image that can be uploaded.

use landfall_config::ovirt;
use landfall_platform::Finding;
use landfall_wire::{Client, Limits, Origin, Request, Trust};
use tokio::io::AsyncReadExt;

use super::{Subject, unanswered};
use crate::{Error, client::IGNITION_OS, image::Header};

const CHECK: &str = "image";
const TEMPLATE: &str = "platform.ovirt.image.template";

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    vec![match &subject.platform.image {
        Some(ovirt::Image::Template(name)) => template(subject, name).await,
        Some(ovirt::Image::Disk(source)) => match header(source).await {
            Ok(Some(Header { virtual_size })) => too_small(subject, source, virtual_size >> 30),
            Ok(None) => Finding::ok(CHECK, format!("{source}, compressed")),
            Err(error) => {
                let hint = "set platform.ovirt.image.disk to a qcow2 image";
                Finding::problem(CHECK, error.chain(), hint).blame("platform.ovirt.image.disk")
            }
        },
        None => Finding::problem(
            CHECK,
            "no image is given, and none is built in",
            "set platform.ovirt.image.template to a template in the engine, or platform.ovirt.image.disk to the path or \
             URL of a qcow2 image that is set up by Ignition on OpenStack (Fedora CoreOS, RHCOS, SCOS)",
        )
        .blame("platform.ovirt.image"),
    }]
}

async fn template(subject: &Subject<'_>, name: &str) -> Finding {
    let template = match subject.client.template(name).await {
        Ok(Some(template)) => template,
        Ok(None) => {
            let message = format!("there is no template '{name}' that the user can see");
            return Finding::problem(CHECK, message, "check platform.ovirt.image.template").blame(TEMPLATE);
        }
        Err(error) => return unanswered(CHECK, &error),
    };
    if template.status != "ok" {
        let message = format!("template {name} is {}", template.status);
        return Finding::problem(CHECK, message, "wait until it is made, or make it again");
    }
    match template.disks.as_slice() {
        [] => {
            Finding::problem(CHECK, format!("template {name} has no disk"), "choose one with an operating system on it")
                .blame(TEMPLATE)
        }
        _ if template.os != IGNITION_OS => Finding::notice(
            CHECK,
            format!("template {name} has operating system type '{}'", template.os),
            format!(
                "machines are made with type '{IGNITION_OS}', without which an engine breaks their Ignition configs"
            ),
        ),
        [disk, ..] => too_small(subject, &format!("template {name}"), disk.provisioned_size >> 30),
    }
}

/// A machine's disk is never made smaller than the one that it comes from.
fn too_small(subject: &Subject<'_>, image: &str, size_gib: u64) -> Finding {
    let smallest = subject.pools().map(|(pool, role)| subject.config.ovirt_pool(pool, role).os_disk_gib).min();
    match smallest {
        Some(smallest) if u64::from(smallest) < size_gib => Finding::notice(
            CHECK,
            format!("{image} has a disk of {size_gib} GiB, which is larger than an osDisk of {smallest} GiB"),
            "the machines get the larger disk",
        ),
        _ => Finding::ok(CHECK, format!("{image}, {size_gib} GiB")),
    }
}

/// The beginning of an image; none if it is compressed, so that nothing can be said about it.
async fn header(source: &str) -> Result<Option<Header>, Error> {
    let (bytes, name) = match Origin::read(source)? {
        Origin::File(path) => {
            let cannot = |source| Error::File { attempt: "reading", path: path.clone(), source };
            let file = tokio::fs::File::open(&path).await.map_err(cannot)?;
            let mut bytes = Vec::new();
            file.take(Header::LENGTH as u64).read_to_end(&mut bytes).await.map_err(cannot)?;
            (bytes, path.to_string_lossy().into_owned())
        }
        Origin::Url(url, _) => {
            let failed = |error| Error::Download { image: url.to_string(), source: Box::new(error) };
            let http = Client::builder(&Trust::System, Limits::default()).map_err(failed)?.follow_redirects();
            let range = format!("bytes=0-{}", Header::LENGTH - 1);
            let request = Request::get((*url).clone()).header("range", &range);
            // Servers that do not know ranges send everything; only the first piece is read.
            let mut download = http.build().map_err(failed)?.download(request).await.map_err(failed)?;
            (download.next().await.map_err(failed)?.unwrap_or_default().to_vec(), url.path().to_owned())
        }
    };
    if name.to_ascii_lowercase().ends_with(".gz") && bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(None);
    }
    let header = Header::read(&bytes);
    header.map(Some).map_err(|reason| Error::Image { image: source.to_owned(), reason: reason.to_owned() })
}
