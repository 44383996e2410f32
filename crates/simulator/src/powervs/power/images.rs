//! Images: those in stock, and those imported from object storage.

use serde_json::{Value, json};

use super::{Image, Job, Workspace, crn, log, workspace, workspace_mut};
use crate::core::Instant;
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, json_reply};
use crate::powervs::{cos, places, tags};

/// What everybody may copy into a workspace.
const STOCK: [(&str, &str); 4] =
    [("CentOS-Stream-9", "rhel"), ("RHEL9-SP4", "rhel"), ("SLES15-SP6", "sles"), ("7300-02-02", "aix")];

/// Tiers of storage, and how many operations per second they have for each GB.
pub(super) const TIERS: [(&str, u32); 5] = [("tier0", 25), ("tier1", 10), ("tier3", 3), ("tier5k", 0), ("tier5K", 0)];

/// The disk of an imported machine image, whatever is in it.
const IMPORTED_GB: f64 = 120.0;

fn stock_images(cloud: &Cloud, own: &Workspace) -> Vec<Image> {
    let image = |(name, system): &(&str, &str)| {
        let digits = Cloud::fixed_hex(&format!("{}{name}{}", cloud.state.account, own.zone), 32);
        Image {
            id: format!(
                "{}-{}-{}-{}-{}",
                &digits[..8],
                &digits[8..12],
                &digits[12..16],
                &digits[16..20],
                &digits[20..]
            ),
            name: (*name).to_owned(),
            state: "active".to_owned(),
            kind: "stock".to_owned(),
            system: (*system).to_owned(),
            size_gb: 20.0,
            storage_type: "tier3".to_owned(),
            pool: "Tier3-Flash-1".to_owned(),
            created: Instant(std::time::Duration::ZERO),
            updated: Instant(std::time::Duration::ZERO),
        }
    };
    STOCK.iter().map(image).collect()
}

fn common(cloud: &Cloud, own: &Workspace, image: &Image) -> Value {
    json!({
        "imageID": image.id,
        "name": image.name,
        "description": "",
        "state": image.state,
        "storageType": image.storage_type,
        "storagePool": image.pool,
        "creationDate": cloud.time(image.created),
        "lastUpdateDate": cloud.time(image.updated),
        "specifications": {
            "imageType": image.kind,
            "operatingSystem": image.system,
            "architecture": "ppc64",
            "endianness": if image.system == "aix" { "big-endian" } else { "little-endian" },
            "containerFormat": "bare",
            "diskFormat": "raw",
            "hypervisorType": "phyp",
        },
        "crn": crn(cloud, own, "image", &image.id),
    })
}

fn row(cloud: &Cloud, own: &Workspace, image: &Image, place: &str) -> Value {
    let mut shown = common(cloud, own, image);
    shown["href"] = json!(format!("/pcloud/v1/cloud-instances/{}/{place}/{}", own.cloud_id, image.id));
    shown
}

fn detail(cloud: &Cloud, own: &Workspace, image: &Image) -> Value {
    let mut shown = common(cloud, own, image);
    let servers: Vec<&str> =
        own.instances.values().filter(|one| one.image == image.id).map(|one| one.id.as_str()).collect();
    let volume = Cloud::fixed_hex(&image.id, 32);
    shown["size"] = json!(image.size_gb);
    shown["userTags"] = json!(tags::of(cloud, &crn(cloud, own, "image", &image.id)));
    shown["maxImageVolumeSize"] = json!(image.size_gb);
    shown["servers"] = json!(servers);
    shown["volumes"] = json!([{ "bootable": true, "name": format!("{}-boot", image.name), "size": image.size_gb, "volumeID": volume }]);
    shown
}

fn find<'a>(own: &'a Workspace, id: &str) -> Result<&'a Image, Refusal> {
    let missing = || Refusal::new(404, "image not found", format!("image {id} not found"));
    own.images.get(id).ok_or_else(missing)
}

pub(super) fn list(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let shown: Vec<Value> = own.images.values().map(|image| row(cloud, own, image, "images")).collect();
    Ok(json_reply(200, &json!({ "images": shown })))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    Ok(json_reply(200, &detail(cloud, own, find(own, id)?)))
}

pub(super) fn stock(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let images = stock_images(cloud, own);
    let shown: Vec<Value> = images.iter().map(|image| row(cloud, own, image, "stock-images")).collect();
    Ok(json_reply(200, &json!({ "images": shown })))
}

pub(super) fn stock_one(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let found = stock_images(cloud, own).into_iter().find(|image| image.id == id);
    let found = found.ok_or_else(|| Refusal::new(404, "image not found", format!("stock image {id} not found")))?;
    Ok(json_reply(200, &detail(cloud, own, &found)))
}

pub(super) fn copy(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    match call.need("source")? {
        "root-project" => {}
        other => return Err(Refusal::invalid(format!("source {other} is not supported: only root-project is"))),
    }
    let id = call.need("imageID")?;
    let own = workspace(cloud, ws)?;
    let found = stock_images(cloud, own).into_iter().find(|image| image.id == id);
    let mut image = found.ok_or_else(|| Refusal::new(404, "image not found", format!("stock image {id} not found")))?;
    if own.images.values().any(|other| other.name == image.name) {
        return Err(Refusal::conflict(format!("image {} already exists", image.name)));
    }
    image.id = cloud.id();
    (image.created, image.updated) = (cloud.state.now, cloud.state.now);
    let shown = detail(cloud, workspace(cloud, ws)?, &image);
    workspace_mut(cloud, ws)?.images.insert(image.id.clone(), image);
    Ok(json_reply(201, &shown))
}

pub(super) fn import(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let (name, bucket) = (call.need("imageName")?, call.need("bucketName")?);
    let (region, file) = (call.need("region")?, call.need("imageFilename")?);
    let access = call.text("bucketAccess").unwrap_or("public");
    if !matches!(access, "public" | "private") {
        return Err(Refusal::invalid("bucketAccess must be public or private"));
    }
    let tier = call.text("storageType").unwrap_or("tier3");
    if !TIERS.iter().any(|(known, _)| *known == tier) {
        return Err(Refusal::invalid(format!("storageType {tier} is not supported")));
    }
    if !places::cos_regions().contains(&region) {
        return Err(Refusal::invalid(format!("region {region} is not supported")));
    }
    let keys = (call.text("accessKey"), call.text("secretKey"));
    if access == "private" && !matches!(keys, (Some(_), Some(_))) {
        return Err(Refusal::invalid("accessKey and secretKey are required for a private bucket"));
    }
    let own = workspace(cloud, ws)?;
    if own.jobs.iter().any(|job| !matches!(job.state.as_str(), "completed" | "failed")) {
        return Err(Refusal::conflict("an image import is in progress already: try again when it is done"));
    }
    let tags = tags::of_call(call, "userTags")?;
    let flaw = cos::flaw(cloud, region, bucket, file, if access == "private" { keys } else { (None, None) });
    let (image_id, job_id) = (cloud.id(), cloud.id());
    let now = cloud.state.now;
    let image = Image {
        id: image_id.clone(),
        name: name.to_owned(),
        state: "queued".to_owned(),
        kind: "import".to_owned(),
        system: call.text("osType").unwrap_or("rhel").to_owned(),
        size_gb: IMPORTED_GB,
        storage_type: tier.to_owned(),
        pool: call.text("storagePool").unwrap_or("Tier3-Flash-1").to_owned(),
        created: now,
        updated: now,
    };
    let job = Job {
        id: job_id.clone(),
        image: image_id.clone(),
        state: "queued".to_owned(),
        progress: "0".to_owned(),
        message: String::new(),
        created: now,
        flaw,
    };
    let own = workspace_mut(cloud, ws)?;
    own.images.insert(image_id.clone(), image);
    own.jobs.push(job);
    let crn = crn(cloud, workspace(cloud, ws)?, "image", &image_id);
    tags::attach(cloud, &crn, &tags);
    let delay = cloud.options.delay(Kind::Image) * cloud.state.slow.unwrap_or(1) / 10;
    let due = crate::powervs::agenda::Due { kind: Kind::Image, id: job_id.clone(), event: Event::Begun };
    cloud.state.agenda.add(Instant(now.0 + delay), due);
    cloud.later(Kind::Image, &job_id, Event::Done);
    log(cloud, ws, "info", "image", "import", &format!("Import of image {name} is queued"));
    let href = workspace(cloud, ws)?.href(&format!("jobs/{job_id}"));
    Ok(json_reply(202, &json!({ "id": job_id, "href": href })))
}

fn job_of<'a>(cloud: &'a mut Cloud, id: &str) -> Option<(&'a mut Job, &'a mut Image)> {
    cloud.state.workspaces.values_mut().find_map(|own| {
        let job = own.jobs.iter_mut().find(|job| job.id == id)?;
        let image = own.images.get_mut(&job.image)?;
        Some((job, image))
    })
}

/// An import begins to be worked on.
pub(in crate::powervs) fn begun(cloud: &mut Cloud, id: &str) {
    let Some(name) = job_of(cloud, id).map(|(_, image)| image.name.clone()) else { return };
    if cloud.options.outcome(Kind::Image, &name) == Some(Outcome::Stuck) {
        return;
    }
    if let Some((job, image)) = job_of(cloud, id) {
        "running".clone_into(&mut job.state);
        "downloading the image".clone_into(&mut job.message);
        "10".clone_into(&mut job.progress);
        "importing".clone_into(&mut image.state);
    }
}

/// An import is done, or has failed: its image is not there then.
pub(in crate::powervs) fn done(cloud: &mut Cloud, id: &str) {
    let now = cloud.state.now;
    let Some(name) = job_of(cloud, id).map(|(_, image)| image.name.clone()) else { return };
    let told = match cloud.outcome(Kind::Image, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => Some("the image could not be converted".to_owned()),
        _ => None,
    };
    let Some((job, image)) = job_of(cloud, id) else { return };
    let Some(flaw) = job.flaw.clone().or(told) else {
        "completed".clone_into(&mut job.state);
        "the image import completed successfully".clone_into(&mut job.message);
        "100".clone_into(&mut job.progress);
        "active".clone_into(&mut image.state);
        image.updated = now;
        return;
    };
    "failed".clone_into(&mut job.state);
    job.message = format!("image import failed: {flaw}");
    let image = image.id.clone();
    for own in cloud.state.workspaces.values_mut() {
        own.images.shift_remove(&image);
    }
}

pub(super) fn delete(cloud: &mut Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let image = find(own, id)?;
    if image.state != "active" {
        return Err(Refusal::conflict(format!("image {id} is {}", image.state)));
    }
    workspace_mut(cloud, ws)?.images.shift_remove(id);
    log(cloud, ws, "info", "image", "delete", &format!("Image {id} deleted"));
    Ok(json_reply(200, &json!({})))
}
