//! The cluster's own image in a shared storage pool, which the disks of its machines are clones of.
//!
//! Nothing says of an image how much of it was written. So a marker stands beside it while it is, as the platform's own tools have
//! it: a unit of almost no size, whose name is `part`, eight digits, and the name of the image. Who finds the cluster's own marker
//! has been here before and did not finish.
//!
//! And nothing says of an image whose it is but its name, which anyone can give to another. So a seal stays beside it for as long as it
//! is there: another unit of almost no size, whose name is `own`, eight digits of a digest of the image's id, and the name of the image.

use std::{fmt::Write as _, path::Path};

use async_trait::async_trait;
use futures::future::try_join_all;
use landfall_platform::{Context, Outputs, Step, StepError};
use landfall_wire::Images;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    Client, Error,
    client::{Before, FileKind, LogicalUnit, LogicalUnitSpec, Source, Tier, Upload},
    site::{Member, Site},
};

const MARKER_GIB: f64 = 0.001;
const GIB: f64 = 1_073_741_824.0;

/// The cluster's own image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Its name.
    pub name: String,
    /// Path or URL of what is in it.
    pub source: String,
    /// The pool; the only one if it is left out.
    pub pool: Option<String>,
    /// The tier; the default one if it is left out.
    pub tier: Option<String>,
}

pub(super) struct ImageStep {
    pub(super) site: Site,
    pub(super) images: Images,
    pub(super) desired: Image,
}

#[async_trait]
impl Step for ImageStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let member = self.member();
        let units = pool_units(&member.client, self.desired.pool.as_deref()).await?;
        let (name, marker) = (&self.desired.name, self.marker());
        let named = |name: &str| units.iter().find(|(_, unit)| unit.name == name);
        if let (Some((_, unit)), None) = (named(name), named(&marker)) {
            let is_sealed = named(&seal(name, &unit.id)).is_some();
            if !is_sealed && context.recorded::<String>("id").as_ref() != Some(&unit.id) {
                let object = format!("image {name}");
                return Err(Error::Foreign { object, host: member.name.clone() }.into());
            }
            return Ok(made(&unit.id));
        }
        let file = self.images.get(&self.desired.source, context.progress()).await.map_err(Error::from)?;
        let tier = self.tier(&member.client).await?;
        if named(&marker).is_none() {
            let spec = LogicalUnitSpec { name: &marker, gib: MARKER_GIB, is_image: false, clone_of: None };
            member.client.create_logical_unit(&tier.id, &spec).await?;
        }
        if let Some((tier, part)) = named(name) {
            member.client.delete_logical_unit(tier, &part.id).await?;
        }
        self.delete(member, |unit| is_seal(name, &unit.name)).await?;
        let id = self.upload(member, &tier, &file, context).await?;
        let spec = LogicalUnitSpec { name: &seal(name, &id), gib: MARKER_GIB, is_image: false, clone_of: None };
        member.client.create_logical_unit(&tier.id, &spec).await?;
        self.delete(member, |unit| unit.name == marker).await?;
        Ok(made(&id))
    }

    async fn remove(&self, _: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let mut silent = None;
        for member in self.site.members() {
            match self.delete_all(member, recorded.as_deref()).await {
                // Another server sees the same pool.
                Err(error) if error.class().is_retryable() => silent = Some(error),
                done => return Ok(done?),
            }
        }
        silent.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl ImageStep {
    /// All servers see the pool, so any will do.
    fn member(&self) -> &Member {
        &self.site.members()[0]
    }

    /// The name of the cluster's own marker.
    fn marker(&self) -> String {
        marker(&self.desired.name)
    }

    async fn tier(&self, client: &Client) -> Result<Tier, Error> {
        let wanted = self.desired.tier.as_deref();
        for pool in pools(client, self.desired.pool.as_deref()).await? {
            let tiers = client.tiers(&pool).await?;
            let found = tiers.into_iter().find(|tier| wanted.map_or(tier.is_default, |name| tier.name == name));
            if let Some(tier) = found {
                return Ok(tier);
            }
        }
        let what = match (&self.desired.pool, wanted) {
            (Some(pool), Some(tier)) => format!("tier {tier} in shared storage pool {pool}"),
            (Some(pool), None) => format!("shared storage pool {pool}"),
            (None, _) => "shared storage pool".to_owned(),
        };
        Err(Error::Lacks { host: self.member().name.clone(), what, field: "platform.powervm.storage" })
    }

    /// Makes the unit and fills it. Returns its id.
    async fn upload(&self, member: &Member, tier: &Tier, file: &Path, context: &Context) -> Result<String, StepError> {
        let failed = |source| Error::File { path: file.to_owned(), source };
        let bytes = std::fs::metadata(file).map_err(failed)?.len();
        #[expect(clippy::cast_precision_loss, reason = "images are far below 2^52 bytes")]
        let gib = ((bytes as f64 / GIB) * 1000.0).ceil().max(1.0) / 1000.0;
        let spec = LogicalUnitSpec { name: &self.desired.name, gib, is_image: true, clone_of: None };
        let unit = member.client.create_logical_unit(&tier.id, &spec).await?;
        context.note(made(&unit.id)).await?;
        let vios = member.host().await?.vioses().await.map_err(|error| Error::Compute(Box::new(error)))?.swap_remove(0);
        context.report(format!("uploading {} MiB", bytes >> 20));
        let kind = FileKind::DiskImage { device: unit.device };
        let upload = Upload { name: &self.desired.name, kind, vios: &vios.id, before: Before::Unknown };
        member.client.upload(&upload, Source::File(file), |_, _| ()).await?;
        Ok(unit.id)
    }

    /// Deletes the unit whose id was recorded, also one that was renamed, else the one with the name; then marker and seal. A name counts
    /// only beside one of these.
    async fn delete_all(&self, member: &Member, recorded: Option<&str>) -> Result<(), Error> {
        let (name, marker) = (&self.desired.name, self.marker());
        let units = pool_units(&member.client, self.desired.pool.as_deref()).await?;
        let has = |name: &str| units.iter().any(|(_, unit)| unit.name == name);
        let is_named = |unit: &LogicalUnit| unit.name == *name && (has(&marker) || has(&seal(name, &unit.id)));
        let is_own = |unit: &LogicalUnit| recorded.map_or_else(|| is_named(unit), |id| unit.id == id);
        self.delete(member, is_own).await?;
        self.delete(member, |unit| unit.name == marker || is_seal(name, &unit.name)).await
    }

    async fn delete(&self, member: &Member, is_meant: impl Fn(&LogicalUnit) -> bool) -> Result<(), Error> {
        for (tier, unit) in pool_units(&member.client, self.desired.pool.as_deref()).await? {
            if is_meant(&unit) {
                member.client.delete_logical_unit(&tier, &unit.id).await?;
            }
        }
        Ok(())
    }
}

/// What is recorded of an image.
fn made(id: &str) -> Outputs {
    Outputs::default().with("id", id)
}

/// Returns the name of the marker that stands beside an image while the cluster writes it.
fn marker(image: &str) -> String {
    format!("part{}{image}", digits(image))
}

/// Returns the name of the seal that stands beside the cluster's own image.
fn seal(image: &str, id: &str) -> String {
    format!("own{}{image}", digits(id))
}

/// Returns true if a name is that of a seal of an image, whichever id the image has or had.
fn is_seal(image: &str, name: &str) -> bool {
    let digits = name.strip_prefix("own").and_then(|rest| rest.strip_suffix(image));
    digits.is_some_and(|digits| digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns true if some of these units are the cluster's own image of a name, or what is left of the making or the removal of it.
pub(crate) fn is_among(image: &str, units: &[LogicalUnit]) -> bool {
    let marker = marker(image);
    units.iter().any(|unit| unit.name == marker || is_seal(image, &unit.name))
}

fn digits(text: &str) -> String {
    Sha256::digest(text).iter().take(4).fold(String::new(), |mut digits, byte| {
        let _infallible = write!(digits, "{byte:02x}");
        digits
    })
}

async fn pools(client: &Client, name: Option<&str>) -> Result<Vec<String>, Error> {
    let pools = client.pools().await?;
    Ok(pools.into_iter().filter(|pool| name.is_none_or(|name| pool.name == name)).map(|pool| pool.id).collect())
}

/// All units of a pool, or of all pools, with the ids of their tiers.
pub(crate) async fn pool_units(client: &Client, pool: Option<&str>) -> Result<Vec<(String, LogicalUnit)>, Error> {
    let mut found = Vec::new();
    for pool in pools(client, pool).await? {
        let tiers = client.tiers(&pool).await?;
        let units = try_join_all(tiers.iter().map(|tier| client.logical_units(&tier.id))).await?;
        for (tier, units) in tiers.iter().zip(units) {
            found.extend(units.into_iter().map(|unit| (tier.id.clone(), unit)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_of_one_image() {
        let own = seal("demo-x7k2p-image", "00c0ffee");
        assert!(is_seal("demo-x7k2p-image", &own) && own.len() == "own".len() + 8 + "demo-x7k2p-image".len());
        assert_ne!(own, seal("demo-x7k2p-image", "00c0ffef"));
        for other in ["demo-x7k2p-image", "own-demo-x7k2p-image", &marker("demo-x7k2p-image"), &format!("x{own}")] {
            assert!(!is_seal("demo-x7k2p-image", other), "{other}");
        }
        assert!(!is_seal("x7k2p-image", &own), "an image whose name ends like it");
    }
}
