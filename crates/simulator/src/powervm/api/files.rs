//! Uploads that are passed on to a VIOS.

use sha2::{Digest, Sha256};

use super::call::Call;
use crate::core::{Request, Response, hex};
use crate::powervm::fault::Fault;
use crate::powervm::state::{Media, Object, State, Upload};
use crate::powervm::xml::Element;
use crate::powervm::{iso, pool, storage};

/// How many files the service remembers.
const LIMIT: usize = 100;

/// Answers a call about files.
pub(super) fn serve(state: &mut State, call: &Call, request: &Request, rest: &[&str]) -> Result<Response, Fault> {
    match (request.method.as_str(), rest) {
        ("PUT", []) => create(state, call, request),
        ("GET", []) => {
            let files: Vec<&Object> = state.hosts[call.host].uploads.values().map(|upload| &upload.object).collect();
            Ok(call.look(state).feed(&files, &request.path, |file| format!("{}/{}", request.path, file.id)))
        }
        ("PUT" | "POST", ["contents", id]) => receive(state, call, request, id),
        ("GET", [id]) => Ok(call.look(state).entry(&find(state, call, id)?.object, &request.path)),
        ("DELETE", [id]) => {
            find(state, call, id)?;
            state.hosts[call.host].uploads.shift_remove(*id);
            Ok(Response { status: 204, headers: Vec::new(), body: bytes::Bytes::new() })
        }
        _ => Err(Fault::no_route(&request.path)),
    }
}

fn find<'a>(state: &'a State, call: &Call, id: &str) -> Result<&'a Upload, Fault> {
    state.hosts[call.host].uploads.get(id).ok_or_else(|| Fault::not_found("File", id))
}

fn create(state: &mut State, call: &Call, request: &Request) -> Result<Response, Fault> {
    let mut body = Call::body(request, Some("File"))?;
    body.strip_metadata();
    if state.hosts[call.host].uploads.len() >= LIMIT {
        return Err(Fault::refused(format!("REST0201: There are {LIMIT} files already. Delete some.")));
    }
    let vios = body.text("TargetVirtualIOServerUUID");
    if state.of_kind(call.host, "VirtualIOServer", vios).is_none() {
        return Err(Fault::not_found("VirtualIOServer", vios));
    }
    let device = body.text("TargetDeviceUniqueDeviceID");
    match body.text("FileEnumType") {
        "BROKERED_MEDIA_ISO" => {}
        "BROKERED_DISK_IMAGE" if device_exists(state, call.host, vios, device) => {}
        "BROKERED_DISK_IMAGE" => {
            return Err(Fault::refused(format!("REST0202: There is no device {device} to upload to.")));
        }
        other => return Err(Fault::schema(format!("'{other}' is not a type of file."))),
    }
    let id = state.new_id(call.host, "file");
    body.set("FileUUID", &id);
    body.set("DateModified", state.clock().milliseconds());
    body.set("CurrentFileSizeInBytes", 0);
    let created = state.clock().milliseconds();
    let object = Object { id: id.clone(), parent: None, created, element: body };
    let response = call.look(state).entry(&object, &format!("{}/{id}", request.path));
    state.hosts[call.host].uploads.insert(id, Upload { object });
    Ok(response)
}

fn device_exists(state: &State, host: usize, vios: &str, udid: &str) -> bool {
    let disk = Element::record("VirtualDisk", &[("UniqueDeviceID", udid)]);
    let vios = state.object(host, vios).map(|vios| vios.id.clone()).unwrap_or_default();
    !udid.is_empty()
        && (pool::find_unit(state, host, udid, "").is_some() || storage::find_disk(state, host, &vios, &disk).is_some())
}

fn receive(state: &mut State, call: &Call, request: &Request, id: &str) -> Result<Response, Fault> {
    let file = find(state, call, id)?.object.element.clone();
    let vios = file.text("TargetVirtualIOServerUUID").to_owned();
    let expected: Option<usize> = file.number("ExpectedFileSizeInBytes");
    if let Some(expected) = expected.filter(|expected| *expected != request.body.len()) {
        let message = format!("REST0203: {expected} bytes were announced, {} came.", request.body.len());
        return Err(Fault::refused(message));
    }
    let digest = hex::encode(&Sha256::digest(&request.body));
    let announced = file.text("SHA256");
    if !announced.is_empty() && !announced.eq_ignore_ascii_case(&digest) {
        return Err(Fault::refused(format!("REST0204: The file's checksum is {digest}, not {announced}.")));
    }
    if file.text("FileEnumType") == "BROKERED_MEDIA_ISO" {
        insert_medium(state, call.host, &vios, file.text("Filename"), &request.body)?;
    }
    if let Some(upload) = state.hosts[call.host].uploads.get_mut(id) {
        upload.object.element.set("CurrentFileSizeInBytes", request.body.len());
        upload.object.element.set("SHA256", digest);
    }
    let object = &find(state, call, id)?.object;
    Ok(call.look(state).entry(object, &format!("/rest/api/web/File/{id}")))
}

/// Puts a medium into the first repository of a VIOS.
fn insert_medium(state: &mut State, host: usize, vios: &str, name: &str, image: &[u8]) -> Result<(), Fault> {
    let vios = state.object(host, vios).map(|vios| vios.id.clone()).unwrap_or_default();
    if storage::find_medium(state, host, &vios, name).is_some() {
        return Err(Fault::refused(format!("VIOS01042028: The medium {name} exists already.")));
    }
    let group = state
        .children(host, &vios, "VolumeGroup")
        .find(|group| group.element.at("MediaRepositories/VirtualMediaRepository").is_some())
        .map(|group| group.id.clone())
        .ok_or_else(|| Fault::refused("VIOS01042029: The VIOS has no media repository."))?;
    #[expect(clippy::cast_precision_loss, reason = "sizes of media are far below 2^52")]
    let gigabytes = image.len() as f64 / f64::from(1 << 30);
    if let Some(group) = state.object_mut(host, &group) {
        let repository = group.element.child_mut("MediaRepositories").child_mut("VirtualMediaRepository");
        repository.child_mut("OpticalMedia").children.push(storage::medium(name, gigabytes));
    }
    if let Some(directory) = &state.media_directory {
        // A copy that cannot be kept is missed by whoever looks for it.
        #[expect(clippy::disallowed_methods, reason = "a copy for people who look at it")]
        let _kept = std::fs::create_dir_all(directory)
            .and_then(|()| std::fs::write(directory.join(name.replace('/', "_")), image));
    }
    let files = iso::files(image);
    let text = |name: &str| files.get(name).map(|contents| String::from_utf8_lossy(contents).into_owned());
    let metadata =
        text("openstack/latest/meta_data.json").and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let hostname = metadata.as_ref().and_then(|data| data["hostname"].as_str()).map(str::to_owned);
    let media = Media { user_data: text("openstack/latest/user_data"), hostname };
    state.hosts[host].media.insert(format!("{vios}/{name}"), media);
    state.announce(host, "MODIFY_URI", &group, "Other");
    Ok(())
}
