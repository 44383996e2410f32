//! Buckets.

use std::collections::BTreeMap;

use super::access::{Caller, denied};
use super::xml::Element;
use super::{Bucket, objects};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty};
use crate::powervs::{places, resources};

fn find<'a>(cloud: &'a Cloud, name: &str) -> Result<&'a Bucket, Refusal> {
    let missing = || Refusal::new(404, "NoSuchBucket", "The specified bucket does not exist.");
    cloud.state.buckets.get(name).ok_or_else(missing)
}

/// The instance that a call is about.
fn instance(cloud: &Cloud, call: &Call, caller: &Caller) -> Result<String, Refusal> {
    match caller {
        Caller::Key { instance } => Ok(instance.clone()),
        Caller::Nobody => Err(denied("Access Denied")),
        Caller::Owner => {
            let id = call.header("ibm-service-instance-id").unwrap_or_default();
            let found = resources::find(cloud, id);
            let found = found.filter(|guid| cloud.state.instances[guid].service == "cloud-object-storage");
            found.ok_or_else(|| Refusal::new(400, "InvalidRequest", "ibm-service-instance-id names no object storage"))
        }
    }
}

pub(super) fn list(cloud: &Cloud, call: &Call, caller: &Caller) -> Answer {
    let guid = instance(cloud, call, caller)?;
    let mut all = Element::new("Buckets");
    for bucket in cloud.state.buckets.values().filter(|bucket| bucket.instance == guid) {
        let one = Element::new("Bucket").text("Name", &bucket.name).text("CreationDate", &cloud.time(bucket.created));
        all = all.with(&one);
    }
    let owner = Element::new("Owner").text("ID", &guid).text("DisplayName", &guid);
    Ok(Element::new("ListAllMyBucketsResult").with(&owner).with(&all).reply(200))
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call, caller: &Caller, name: &str) -> Answer {
    match call.method.as_str() {
        "PUT" => create(cloud, call, caller, name),
        "HEAD" => {
            let bucket = find(cloud, name)?;
            caller.may_read(bucket)?;
            Ok(empty(200))
        }
        "GET" if call.has_query("location") => {
            let bucket = find(cloud, name)?;
            caller.may_read(bucket)?;
            Ok(Element::new("LocationConstraint").plain(&bucket.location).reply(200))
        }
        "GET" => {
            let bucket = find(cloud, name)?;
            caller.may_read(bucket)?;
            objects::list(cloud, call, bucket)
        }
        "POST" if call.has_query("delete") => {
            caller.may_write(find(cloud, name)?)?;
            objects::delete_many(cloud, call, name)
        }
        "DELETE" => {
            let bucket = find(cloud, name)?;
            caller.may_write(bucket)?;
            if !bucket.objects.is_empty() {
                return Err(Refusal::new(409, "BucketNotEmpty", "The bucket you tried to delete is not empty."));
            }
            cloud.state.buckets.remove(name);
            Ok(empty(204))
        }
        _ => Err(Refusal::new(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")),
    }
}

fn create(cloud: &mut Cloud, call: &Call, caller: &Caller, name: &str) -> Answer {
    let guid = instance(cloud, call, caller)?;
    let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    if !(3..=63).contains(&name.len()) || !name.bytes().all(valid) {
        return Err(Refusal::new(400, "InvalidBucketName", "The specified bucket is not valid."));
    }
    if let Some(bucket) = cloud.state.buckets.get(name) {
        return Err(if bucket.instance == guid {
            Refusal::new(
                409,
                "BucketAlreadyOwnedByYou",
                "Your previous request to create the named bucket succeeded and you already own it.",
            )
        } else {
            Refusal::new(409, "BucketAlreadyExists", "The requested bucket name is not available.")
        });
    }
    let body = String::from_utf8_lossy(&call.body);
    let location =
        body.split_once("<LocationConstraint>").and_then(|(_, rest)| rest.split_once("</LocationConstraint>"));
    let location = location.map_or("us-south-standard", |(location, _)| location.trim()).to_owned();
    let regions = places::cos_regions();
    let region = regions.iter().find(|region| location.starts_with(&format!("{region}-")) || location == **region);
    let Some(region) = region else {
        let message = format!("The specified location constraint {location} is not valid");
        return Err(Refusal::new(400, "InvalidLocationConstraint", message));
    };
    let bucket = Bucket {
        name: name.to_owned(),
        instance: guid,
        region: (*region).to_owned(),
        location,
        public: false,
        all_images: false,
        created: cloud.state.now,
        objects: BTreeMap::new(),
    };
    cloud.state.buckets.insert(name.to_owned(), bucket);
    Ok(empty(200))
}
