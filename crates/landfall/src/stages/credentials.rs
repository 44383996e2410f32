//! The platform's credentials, for the machine controller in the cluster.

use landfall_assets::Credentials;
use landfall_config::{
    Platform,
    packet::{Endpoint, Platform as Section},
    powervm, powervs,
};
use landfall_platform::Environment;
use landfall_platform_ovirt as ovirt;
use landfall_platform_packet as packet;
use landfall_wire::{Trust, ibm_cloud};
use landfall_workdir::Digest;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::printer::Printer;

/// Reads the credentials from the platform's customary file. Without them the cluster can be installed as well, so their
/// absence is only told.
pub(super) fn credentials(
    platform: &Platform,
    environment: &Environment,
    printer: Printer,
) -> anyhow::Result<Option<Credentials>> {
    let found = match platform {
        Platform::Ovirt(_) => ovirt_credentials(environment, printer)?,
        Platform::Packet(platform) => packet_credentials(platform, environment),
        Platform::Powervm(platform) => powervm_credentials(&platform.hosts, environment),
        Platform::Powervs(platform) => powervs_credentials(platform, environment),
    };
    Ok(found
        .inspect_err(|reason| {
            printer.warn(format_args!("{reason}, so the manifests hold no credentials for the machine controller"));
        })
        .ok())
}

/// What the manifests are derived from as far as credentials go.
pub(super) fn digest(credentials: Option<&Credentials>) -> Digest {
    let all = credentials.into_iter().flatten();
    Digest::of_parts(all.map(|(key, value)| (key.as_str(), value.as_bytes())))
}

/// The credentials, or why there are none. A file that is there and cannot be used is an error.
fn ovirt_credentials(environment: &Environment, printer: Printer) -> Result<Result<Credentials, String>, ovirt::Error> {
    let file = match ovirt::CredentialsFile::locate(environment) {
        Ok(file) => file,
        Err(error @ ovirt::Error::NoHome) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    if let Some(warning) = file.exposure() {
        printer.warn(warning);
    }
    let missing = || format!("{} does not exist or is incomplete", file.path().display());
    Ok(file.read_if_complete()?.map(|credentials| ovirt_secret(&credentials)).ok_or_else(missing))
}

/// The credentials for Packet, or why there are none.
fn packet_credentials(platform: &Section, environment: &Environment) -> Result<Credentials, String> {
    let credentials = packet::Credentials::read(environment).map_err(|error| error.to_string())?;
    let bundle = match credentials.trust {
        Trust::Only(bundle) => bundle,
        Trust::System | Trust::Unverified => String::new(),
    };
    let fields = [
        ("api_key", credentials.key.expose_secret().to_owned()),
        ("api_url", credentials.api.to_string()),
        ("ca_bundle", bundle),
        ("project_id", platform.project.map(|id| id.to_string()).unwrap_or_default()),
        ("api_address", platform.api_address.map(|address| address.to_string()).unwrap_or_default()),
        ("ingress_address", platform.ingress_address.map(|address| address.to_string()).unwrap_or_default()),
        ("endpoint", if platform.endpoint == Endpoint::Eip { "eip" } else { "" }.to_owned()),
    ];
    Ok(fields.into_iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The credentials for PowerVS, or why there are none. The key of the Secret is that of the existing machine controller; the others
/// say where the platform is.
fn powervs_credentials(platform: &powervs::Platform, environment: &Environment) -> Result<Credentials, String> {
    let credentials = ibm_cloud::Credentials::read(environment).map_err(|error| error.to_string())?;
    let bundle = match credentials.trust {
        Trust::Only(bundle) => bundle,
        Trust::System | Trust::Unverified => String::new(),
    };
    let endpoints = platform.service_endpoints.or(&credentials.endpoints);
    let endpoints = if endpoints.is_empty() { String::new() } else { json!(endpoints).to_string() };
    let fields = [
        ("ibmcloud_api_key", credentials.api_key.expose_secret().to_owned()),
        ("zone", platform.zone.clone()),
        ("vpc_region", platform.vpc_region().unwrap_or_default()),
        ("resource_group", platform.powervs_resource_group.clone().unwrap_or_default()),
        ("service_instance_guid", platform.service_instance_guid.map(|id| id.to_string()).unwrap_or_default()),
        ("service_endpoints", endpoints),
        ("ca_bundle", bundle),
    ];
    Ok(fields.into_iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The credentials for PowerVM, or why there are none.
fn powervm_credentials(hosts: &[powervm::Host], environment: &Environment) -> Result<Credentials, String> {
    let credentials = landfall_platform_powervm::Credentials::read(environment);
    let text =
        credentials.and_then(|credentials| credentials.for_controller(hosts)).map_err(|error| error.to_string())?;
    Ok([("hosts".to_owned(), text)].into())
}

/// The keys of the Secret that machine controllers for oVirt read.
fn ovirt_secret(credentials: &ovirt::Credentials) -> Credentials {
    let (insecure, bundle) = match &credentials.trust {
        Trust::System => (false, ""),
        Trust::Only(bundle) => (false, bundle.as_str()),
        Trust::Unverified => (true, ""),
    };
    [
        ("ovirt_url", credentials.engine.api().to_string()),
        ("ovirt_username", credentials.user.clone()),
        ("ovirt_password", credentials.password.expose_secret().to_owned()),
        ("ovirt_insecure", insecure.to_string()),
        ("ovirt_ca_bundle", bundle.to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}
