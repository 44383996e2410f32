//! Images in a pool, which disks are cloned from. All users of the pool share them, on every server.
//!
//! Who finds no image uploads it, and says so first with a marker: a unit of almost no size whose name is `part`, eight digits,
//! and the name of the image. Of several markers the first by name wins; the others withdraw and wait. An image without markers is
//! complete. This is how the platform's own tools do it, so theirs and ours share images. What they do not do is to take over from
//! somebody who is gone ([`super::stall`]).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use landfall_platform::Progress;

use super::{pool::Pool, stall::Sight};
use crate::client::{Before, FileKind, LogicalUnit, LogicalUnitSpec, Source, Upload};
use crate::compute::{Error, Host, Image, PartitionId};

const MARKER_GIB: f64 = 0.001;
/// Disks are whole multiples of this.
const GRAIN: u64 = 1 << 20;

/// The images of a pool, for one partition that needs one.
pub(super) struct ImageCache<'a> {
    host: &'a Arc<Host>,
    pool: &'a Pool,
    partition: &'a PartitionId,
}

impl<'a> ImageCache<'a> {
    pub(super) fn new(host: &'a Arc<Host>, pool: &'a Pool, partition: &'a PartitionId) -> Self {
        Self { host, pool, partition }
    }

    /// The image, uploaded if nobody has done so; only one of this program may be here at a time.
    pub(super) async fn ensure(&self, image: &Image, progress: Progress<'_>) -> Result<LogicalUnit, Error> {
        let mine = self.marker(&image.name);
        loop {
            let units = self.pool.units(self.host).await?;
            if let Some(unit) = complete(&units, &image.name) {
                return Ok(unit.clone());
            }
            let markers = markers(&units, &image.name);
            let own = markers.iter().find(|unit| unit.name == mine);
            let first = markers.iter().min_by_key(|unit| unit.name.as_str());
            match (own, first) {
                (Some(_), Some(first)) if first.name == mine => return self.upload(image, &units, progress).await,
                (Some(own), Some(_)) => self.pool.delete(self.host, own).await?,
                // Whoever waits here keeps others of this program from their turn, and one of them may be the one that is waited
                // for: it was cut off, and comes back. So waiting is for those who call this.
                (None, Some(other)) => {
                    if self.take_over(image, other, &units, progress).await? {
                        continue;
                    }
                    progress(format!("waits for image {}, which {} uploads", image.name, other.name));
                    let whom = format!(
                        "whoever made the unit {}; if that program is gone for good, delete the unit, or wait until nothing \
                         has come of it for half an hour",
                        other.name
                    );
                    let what = format!("image {}", image.name);
                    return Err(Error::Busy { what, host: self.host.label(), whom });
                }
                (_, None) => self.mark(&mine).await?,
            }
        }
    }

    /// Removes the marker of somebody else, with what they have uploaded, if nothing has come of it for too long.
    async fn take_over(
        &self,
        image: &Image,
        marker: &LogicalUnit,
        units: &[LogicalUnit],
        progress: Progress<'_>,
    ) -> Result<bool, Error> {
        let part = units.iter().find(|unit| unit.name == image.name);
        let sight = Sight { unit: part.map(|unit| unit.id.clone()), free_gib: self.pool.free_gib(self.host).await? };
        let (stalls, patience) = (&self.host.stalls, self.host.patience());
        let Some(unchanged) = stalls.look(&marker.id, sight, Instant::now(), patience) else { return Ok(false) };
        // They may have finished just now.
        let units = self.pool.units(self.host).await?;
        if units.iter().any(|unit| unit.id == marker.id) {
            let minutes = unchanged.as_secs() / 60;
            progress(format!("takes over image {}: nothing has come of {} for {minutes} min", image.name, marker.name));
            // Without a marker it would be taken for complete: so this goes first.
            if let Some(part) = units.iter().find(|unit| unit.name == image.name) {
                self.pool.delete(self.host, part).await?;
            }
            self.pool.delete(self.host, marker).await?;
        }
        stalls.forget(&marker.id);
        Ok(true)
    }

    /// Uploads the image. What an attempt before this one has left of it goes first: nobody knows how much it is.
    async fn upload(&self, image: &Image, units: &[LogicalUnit], progress: Progress<'_>) -> Result<LogicalUnit, Error> {
        if let Some(part) = units.iter().find(|unit| unit.name == image.name) {
            self.pool.delete(self.host, part).await?;
        }
        let vios = self.host.vioses().await?.remove(0);
        let gib = size(image, self.host)?;
        let spec = LogicalUnitSpec { name: &image.name, gib, is_image: true, clone_of: None };
        let client = self.host.client();
        let failed = |error| self.host.failed(format!("uploading image {}", image.name), error);
        let unit = client.create_logical_unit(&self.pool.tier, &spec).await.map_err(failed)?;
        progress(format!("uploads image {}", image.name));
        {
            let _place = self.host.uploads.acquire().await;
            let kind = FileKind::DiskImage { device: unit.device.clone() };
            let upload = Upload { name: &image.name, kind, vios: &vios.id, before: Before::Unknown };
            client.upload(&upload, Source::File(&image.file), |_, _| ()).await.map_err(failed)?;
        }
        self.withdraw(&image.name, units).await?;
        Ok(unit)
    }

    /// Removes what this partition has of an image: its marker with the part that it has uploaded, and the image itself if it is a
    /// copy in the cache and `gone` was the last that was made from it. `units` are those of the pool as they were before that was
    /// deleted.
    pub(super) async fn release(&self, image: &Image, units: Vec<LogicalUnit>, gone: &str) -> Result<(), Error> {
        let Some(unit) = units.iter().find(|unit| unit.name == image.name) else {
            return self.withdraw(&image.name, &units).await;
        };
        let mine = self.marker(&image.name);
        let markers = markers(&units, &image.name);
        let theirs = markers.iter().any(|marker| marker.name != mine);
        let is_clone =
            |other: &LogicalUnit| other.cloned_from.as_deref().is_some_and(|source| same(source, &unit.device));
        let used = units.iter().any(|other| other.name != gone && is_clone(other));
        let partial = markers.iter().any(|marker| marker.name == mine);
        if !theirs && !used && (partial || is_copy(&image.name)) {
            self.pool.delete(self.host, unit).await?;
        }
        self.withdraw(&image.name, &units).await
    }

    async fn mark(&self, name: &str) -> Result<(), Error> {
        let spec = LogicalUnitSpec { name, gib: MARKER_GIB, is_image: false, clone_of: None };
        let made = self.host.client().create_logical_unit(&self.pool.tier, &spec).await;
        made.map(drop).map_err(|error| self.host.failed(format!("making marker {name}"), error))
    }

    async fn withdraw(&self, image: &str, units: &[LogicalUnit]) -> Result<(), Error> {
        let mine = self.marker(image);
        match units.iter().find(|unit| unit.name == mine) {
            Some(marker) => {
                // Who has a marker is the one that uploads.
                self.host.forget_uploads(image).await?;
                self.pool.delete(self.host, marker).await
            }
            None => Ok(()),
        }
    }

    fn marker(&self, image: &str) -> String {
        marker(self.partition, image)
    }
}

/// The marker of a partition. It is always the same, so that who comes back after a crash knows its own.
fn marker(partition: &PartitionId, image: &str) -> String {
    format!("part{}{image}", partition.tail(8))
}

/// The image that a unit was cloned from, if it is still there.
pub(in crate::compute) fn image_of<'a>(unit: &LogicalUnit, units: &'a [LogicalUnit]) -> Option<&'a LogicalUnit> {
    let source = unit.cloned_from.as_deref()?;
    units.iter().find(|other| other.kind == "VirtualIO_Image" && same(&other.device, source))
}

/// The names of images that a program may have left when it died while it uploaded one for this partition, or had just deleted the disk
/// that was cloned from one: those with this partition's marker, and copies that nothing was cloned from if the partition has no disks.
pub(in crate::compute) fn left_images(
    partition: &PartitionId,
    units: &[LogicalUnit],
    has_disks: bool,
) -> BTreeSet<String> {
    let beginning = marker(partition, "");
    let marked = units.iter().filter_map(|unit| unit.name.strip_prefix(&beginning));
    let is_used = |image: &LogicalUnit| {
        units.iter().any(|unit| unit.cloned_from.as_deref().is_some_and(|source| same(source, &image.device)))
    };
    let unused = units.iter().filter(|unit| !has_disks && is_copy(&unit.name) && !is_used(unit));
    marked.chain(unused.map(|unit| unit.name.as_str())).map(str::to_owned).collect()
}

/// Whether an image is a copy of something that is kept elsewhere, by its name: `image_`, a name, `_`, the checksum of what is in it.
/// That is how drivers of `OpenStack` have always called those that they upload. Any other image in a pool is somebody's own: nothing
/// brings it back.
pub(in crate::compute) fn is_copy(name: &str) -> bool {
    let checksum = name.strip_prefix("image_").and_then(|rest| rest.rsplit_once('_')).map(|(_, checksum)| checksum);
    checksum.is_some_and(|digits| digits.len() >= 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// The image, if it is there and nobody is at work on it.
pub(super) fn complete<'a>(units: &'a [LogicalUnit], name: &str) -> Option<&'a LogicalUnit> {
    units.iter().find(|unit| unit.name == name).filter(|_| markers(units, name).is_empty())
}

fn markers<'a>(units: &'a [LogicalUnit], name: &str) -> Vec<&'a LogicalUnit> {
    let is_marker = |unit: &&LogicalUnit| {
        unit.name
            .strip_suffix(name)
            .and_then(|rest| rest.strip_prefix("part"))
            .is_some_and(|digits| digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    units.iter().filter(is_marker).collect()
}

/// Whether two device ids mean one unit: the first two digits say only what it is used for.
fn same(one: &str, other: &str) -> bool {
    one.get(2..).is_some_and(|tail| Some(tail) == other.get(2..))
}

/// The size of an image.
fn size(image: &Image, host: &Host) -> Result<f64, Error> {
    let unreadable = |source| {
        host.failed(format!("reading image {}", image.name), crate::Error::File { path: image.file.clone(), source })
    };
    let bytes = std::fs::metadata(&image.file).map_err(unreadable)?.len().next_multiple_of(GRAIN);
    #[expect(clippy::cast_precision_loss, reason = "images are far below 2^52 bytes")]
    let gib = bytes as f64 / f64::from(1 << 30);
    Ok((gib * 1e6).ceil() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str) -> LogicalUnit {
        LogicalUnit {
            id: String::new(),
            name: name.to_owned(),
            device: String::new(),
            capacity_gib: 1.0,
            kind: String::new(),
            in_use: false,
            cloned_from: None,
        }
    }

    #[test]
    fn an_image_with_a_marker_is_not_complete() {
        let units = [unit("rhcos"), unit("part0123abcdrhcos-2"), unit("partrhcos"), unit("part0123abczrhcos")];
        assert!(complete(&units, "rhcos").is_some());
        let units = [unit("rhcos"), unit("part0123abcdrhcos")];
        assert!(complete(&units, "rhcos").is_none());
        assert!(complete(&units, "other").is_none());
    }

    #[test]
    fn only_names_with_a_checksum_are_those_of_copies() {
        let digits = "0123456789abcdef0123456789ABCDEF";
        assert!(is_copy(&format!("image_rhcos_4.19_{digits}")));
        assert!(is_copy(&format!("image__{digits}")));
        for name in ["fcos", "image_fcos", "image_fcos_12", &format!("fcos_{digits}"), &format!("image_x_g{digits}")] {
            assert!(!is_copy(name), "{name}");
        }
    }

    #[test]
    fn device_ids_are_compared_without_their_use() {
        assert!(same("27abc", "29abc"));
        assert!(!same("27abc", "29abd"));
        assert!(!same("", ""));
    }
}
