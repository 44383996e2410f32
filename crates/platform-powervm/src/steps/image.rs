//! The cluster's own image in a shared storage pool, which the disks of its machines are clones of.
//!
//! Nothing says of an image how much of it was written. So a marker stands beside it while it is, as the platform's own tools have
//! it: a unit of almost no size, whose name is `part`, eight digits, and the name of the image. Who finds the cluster's own marker
//! has been here before and did not finish.

use std::{fmt::Write as _, path::Path};

use async_trait::async_trait;
use futures::future::try_join_all;
use landfall_platform::{Context, Outputs, Progress, Step, StepError};
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
        if named(name).is_some() && named(&marker).is_none() {
            return Ok(Outputs::default());
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
        self.upload(member, &tier, &file, context.progress()).await?;
        self.delete(member, &marker).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let mut silent = None;
        for member in self.site.members() {
            match self.delete_all(member).await {
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

    async fn upload(&self, member: &Member, tier: &Tier, file: &Path, progress: Progress<'_>) -> Result<(), Error> {
        let failed = |source| Error::File { path: file.to_owned(), source };
        let bytes = std::fs::metadata(file).map_err(failed)?.len();
        #[expect(clippy::cast_precision_loss, reason = "images are far below 2^52 bytes")]
        let gib = ((bytes as f64 / GIB) * 1000.0).ceil().max(1.0) / 1000.0;
        let spec = LogicalUnitSpec { name: &self.desired.name, gib, is_image: true, clone_of: None };
        let unit = member.client.create_logical_unit(&tier.id, &spec).await?;
        let vios = member.host().await?.vioses().await.map_err(|error| Error::Compute(Box::new(error)))?.swap_remove(0);
        progress(format!("uploading {} MiB", bytes >> 20));
        let kind = FileKind::DiskImage { device: unit.device };
        let upload = Upload { name: &self.desired.name, kind, vios: &vios.id, before: Before::Unknown };
        member.client.upload(&upload, Source::File(file), |_, _| ()).await.map(drop)
    }

    async fn delete_all(&self, member: &Member) -> Result<(), Error> {
        self.delete(member, &self.desired.name).await?;
        self.delete(member, &self.marker()).await
    }

    async fn delete(&self, member: &Member, name: &str) -> Result<(), Error> {
        for (tier, unit) in pool_units(&member.client, self.desired.pool.as_deref()).await? {
            if unit.name == name {
                member.client.delete_logical_unit(&tier, &unit.id).await?;
            }
        }
        Ok(())
    }
}

/// The marker that stands beside an image while the cluster writes it.
pub(crate) fn marker(image: &str) -> String {
    let digits = Sha256::digest(image).iter().take(4).fold(String::new(), |mut digits, byte| {
        let _infallible = write!(digits, "{byte:02x}");
        digits
    });
    format!("part{digits}{image}")
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
