//! Objects.

use aws_lc_rs::digest;
use bytes::Bytes;

use super::access::Caller;
use super::xml::Element;
use super::{Bucket, Object};
use crate::core::percent::percent_decode;
use crate::core::{Response, hex};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty};

fn missing() -> Refusal {
    Refusal::new(404, "NoSuchKey", "The specified key does not exist.")
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call, caller: &Caller, bucket: &str, key: &str) -> Answer {
    let own = cloud.state.buckets.get(bucket);
    let own = own.ok_or_else(|| Refusal::new(404, "NoSuchBucket", "The specified bucket does not exist."))?;
    match call.method.as_str() {
        "GET" | "HEAD" => {
            caller.may_read(own)?;
            let object = own.objects.get(key).ok_or_else(missing)?;
            Ok(show(cloud, call, object))
        }
        "PUT" => {
            caller.may_write(own)?;
            let now = cloud.state.now;
            let content = content(call)?;
            let tag = format!("\"{}\"", &hex::encode(digest::digest(&digest::SHA256, &content).as_ref())[..32]);
            let metadata = call.headers.iter().filter(|(name, _)| name.starts_with("x-amz-meta-")).cloned().collect();
            let kind = call.header("content-type").unwrap_or("binary/octet-stream").to_owned();
            let object = Object { content, kind, tag: tag.clone(), updated: now, metadata };
            if let Some(own) = cloud.state.buckets.get_mut(bucket) {
                own.objects.insert(key.to_owned(), object);
            }
            let mut reply = empty(200);
            reply.headers.push(("etag".to_owned(), tag));
            Ok(reply)
        }
        "DELETE" => {
            caller.may_write(own)?;
            if let Some(own) = cloud.state.buckets.get_mut(bucket) {
                own.objects.remove(key);
            }
            Ok(empty(204))
        }
        _ => Err(Refusal::new(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")),
    }
}

/// The content of an upload, which may come in chunks that are wrapped once more.
fn content(call: &Call) -> Result<Bytes, Refusal> {
    let wrapped = call.header("x-amz-content-sha256").is_some_and(|payload| payload.starts_with("STREAMING-"))
        || call.header("content-encoding").is_some_and(|encoding| encoding.contains("aws-chunked"));
    if !wrapped {
        return Ok(call.body.clone());
    }
    let broken = || Refusal::new(400, "IncompleteBody", "The request body is not in chunks as it says.");
    let mut rest: &[u8] = &call.body;
    let mut content = Vec::new();
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n").ok_or_else(broken)?;
        let head = std::str::from_utf8(&rest[..end]).map_err(|_| broken())?;
        let size = head.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(|_| broken())?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Ok(content.into());
        }
        content.extend_from_slice(rest.get(..size).ok_or_else(broken)?);
        rest = rest.get(size + 2..).ok_or_else(broken)?;
    }
}

fn show(cloud: &Cloud, call: &Call, object: &Object) -> Response {
    let total = object.content.len();
    let range = call.header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let range = range.and_then(|(first, last)| {
        let last = if last.is_empty() {
            total.checked_sub(1)?
        } else {
            last.parse::<usize>().ok()?.min(total.checked_sub(1)?)
        };
        let first = first.parse::<usize>().ok().filter(|first| *first <= last)?;
        Some((first, last))
    });
    let time = crate::core::clock::timestamp(cloud.state.epoch, object.updated);
    let mut headers = vec![
        ("content-type".to_owned(), object.kind.clone()),
        ("etag".to_owned(), object.tag.clone()),
        ("accept-ranges".to_owned(), "bytes".to_owned()),
        ("last-modified".to_owned(), time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()),
    ];
    headers.extend(object.metadata.iter().cloned());
    let (status, body) = match range {
        Some((first, last)) => {
            headers.push(("content-range".to_owned(), format!("bytes {first}-{last}/{total}")));
            (206, object.content.slice(first..=last))
        }
        None => (200, object.content.clone()),
    };
    let body = if call.method == "HEAD" {
        headers.push(("content-length".to_owned(), body.len().to_string()));
        Bytes::new()
    } else {
        body
    };
    Response { status, headers, body }
}

/// What is in a bucket: both versions of the list.
pub(super) fn list(cloud: &Cloud, call: &Call, bucket: &Bucket) -> Answer {
    let most = call.query("max-keys").and_then(|text| text.parse().ok()).unwrap_or(1000_usize).min(1000);
    let prefix = call.query("prefix").unwrap_or_default();
    let after = call.query("continuation-token").or_else(|| call.query("start-after")).or_else(|| call.query("marker"));
    let encode = call.query("encoding-type") == Some("url");
    let keys = bucket.objects.iter().filter(|(key, _)| key.starts_with(prefix));
    let mut keys = keys.filter(|(key, _)| after.is_none_or(|after| key.as_str() > after)).peekable();
    let second = call.query("list-type") == Some("2");
    let mut contents = Vec::new();
    while contents.len() < most {
        let Some((key, object)) = keys.next() else { break };
        contents.push((key, object));
    }
    let more = keys.peek().is_some();
    let mut result = Element::new("ListBucketResult")
        .text("Name", &bucket.name)
        .text("Prefix", prefix)
        .text("MaxKeys", &most.to_string())
        .text("IsTruncated", if more { "true" } else { "false" });
    if encode {
        result = result.text("EncodingType", "url");
    }
    if second {
        result = result.text("KeyCount", &contents.len().to_string());
    }
    if let (true, Some((last, _))) = (more, contents.last()) {
        result = result.text(if second { "NextContinuationToken" } else { "NextMarker" }, last);
    }
    for (key, object) in contents {
        let shown: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
        let one = Element::new("Contents")
            .text("Key", if encode { &shown } else { key })
            .text("LastModified", &cloud.time(object.updated))
            .text("ETag", &object.tag)
            .text("Size", &object.content.len().to_string())
            .text("StorageClass", "STANDARD");
        result = result.with(&one);
    }
    Ok(result.reply(200))
}

/// Deletes those that the body names.
pub(super) fn delete_many(cloud: &mut Cloud, call: &Call, bucket: &str) -> Answer {
    let body = String::from_utf8_lossy(&call.body).into_owned();
    let mut result = Element::new("DeleteResult");
    let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>")).map(|(key, _)| key);
    for key in keys {
        let key = quick_xml::escape::unescape(key).map_or_else(|_| percent_decode(key), std::borrow::Cow::into_owned);
        if let Some(own) = cloud.state.buckets.get_mut(bucket) {
            own.objects.remove(&key);
        }
        result = result.with(&Element::new("Deleted").text("Key", &key));
    }
    Ok(result.reply(200))
}
