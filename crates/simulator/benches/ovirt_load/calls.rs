//! The calls that an installer makes.

use serde_json::Value;

use super::measure::{Call, Error, Measured, Target, count};
use super::server::{Server, TAGGED};

const API: &str = "/ovirt-engine/api";

/// A kind of call that changes nothing.
#[derive(Clone, Copy)]
pub(crate) enum Installer {
    Token,
    Root,
    FindCluster,
    FindTemplate,
    FindVmByName,
    Vm,
    VmFollowed,
    ReportedDevices,
    ListTagged,
    Page,
    ListAll,
    FindDisk,
    JobsByCorrelation,
}

impl Installer {
    pub(crate) const ALL: [Self; 13] = [
        Self::Token,
        Self::Root,
        Self::FindCluster,
        Self::FindTemplate,
        Self::FindVmByName,
        Self::Vm,
        Self::VmFollowed,
        Self::ReportedDevices,
        Self::ListTagged,
        Self::Page,
        Self::ListAll,
        Self::FindDisk,
        Self::JobsByCorrelation,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Token => "POST sso/oauth/token",
            Self::Root => "GET api",
            Self::FindCluster => "GET clusters?search=name=",
            Self::FindTemplate => "GET templates?search=name= and cluster=",
            Self::FindVmByName => "GET vms?search=name=",
            Self::Vm => "GET vms/{id}",
            Self::VmFollowed => "GET vms/{id}?follow=nics,disk_attachments…",
            Self::ReportedDevices => "GET vms/{id}/reporteddevices",
            Self::ListTagged => "GET vms?search=tag= (10 found)",
            Self::Page => "GET vms?search=sortby name page 2&max=100",
            Self::ListAll => "GET vms (all)",
            Self::FindDisk => "GET disks?search=name= and vm_names=",
            Self::JobsByCorrelation => "GET jobs?search=correlation_id=",
        }
    }
}

/// A running simulator with what the calls need to know of it.
pub(crate) struct Scene {
    open: Target,
    admin: String,
    credentials: String,
    vms: Vec<String>,
    cluster: String,
}

impl Scene {
    pub(crate) async fn new(server: &Server, size: u32) -> Result<Self, Error> {
        let url = server.field("url")?;
        let authority = url.trim_start_matches("https://").split('/').next().unwrap_or_default();
        let open = Target::tls(authority, &std::fs::read(server.field("ca_file")?)?)?;
        let (user, password) = (server.field("user")?, server.field("password")?);
        let credentials = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "password")
            .append_pair("scope", "ovirt-app-api")
            .append_pair("username", user)
            .append_pair("password", password)
            .finish();
        let admin = server.field("admin_url")?.trim_start_matches("http://").trim_end_matches("/admin").to_owned();
        let mut scene = Self { open, admin, credentials, vms: Vec::new(), cluster: String::new() };
        let target = scene.target().await?;
        scene.vms = ids(&target, "vms", "vm").await?;
        scene.cluster = ids(&target, "clusters", "cluster").await?.first().cloned().ok_or("there is no cluster")?;
        if scene.vms.len() != size as usize {
            return Err(format!("{} VMs were found in a world of {size}", scene.vms.len()).into());
        }
        Ok(scene)
    }

    /// The simulator with a fresh token.
    pub(crate) async fn target(&self) -> Result<Target, Error> {
        let answer = self.open.connect().await?.call(&self.login()).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        let token = answer["access_token"].as_str().ok_or("the answer has no token")?;
        Ok(self.open.clone().with_token(token))
    }

    /// The n-th call of a kind.
    pub(crate) fn call(&self, kind: Installer) -> impl Fn(usize) -> Call + Send + Sync + use<> {
        let (vms, login) = (self.vms.clone(), self.login());
        move |number| {
            let vm = &vms[number * 7919 % vms.len()];
            let get = |rest: &str| Call::get(format!("{API}{rest}"));
            match kind {
                Installer::Token => login.clone(),
                Installer::Root => get(""),
                Installer::FindCluster => get("/clusters?search=name%3DDefault"),
                Installer::FindTemplate => get("/templates?search=name%3Dfcos+and+cluster%3DDefault"),
                Installer::FindVmByName => {
                    get(&format!("/vms?search=name%3D%22ours-{}%22", number % TAGGED as usize + 1))
                }
                Installer::Vm => get(&format!("/vms/{vm}")),
                Installer::VmFollowed => get(&format!("/vms/{vm}?follow=nics,disk_attachments.disk,reported_devices")),
                Installer::ReportedDevices => get(&format!("/vms/{vm}/reporteddevices")),
                Installer::ListTagged => get("/vms?search=tag%3Dours"),
                Installer::Page => get("/vms?search=sortby+name+page+2&max=100"),
                Installer::ListAll => get("/vms"),
                Installer::FindDisk => {
                    get(&format!("/disks?search=name%3Dfcos+and+vm_names%3Dours-{}", number % TAGGED as usize + 1))
                }
                Installer::JobsByCorrelation => get("/jobs?search=correlation_id%3Dnone"),
            }
        }
    }

    /// The life of some VMs, each step for all of them: made, started, stopped, removed.
    pub(crate) async fn machines(&self) -> Result<Vec<(&'static str, Measured)>, Error> {
        const MACHINES: usize = 200;
        let target = self.target().await?;
        let cluster = self.cluster.clone();
        let made = count(&target, MACHINES, move |number| {
            let body = format!(
                "<vm><name>new-{number}</name><cluster id=\"{cluster}\"/><template><name>fcos</name></template>\
                 <initialization><custom_script>{{&quot;ignition&quot;:{{&quot;version&quot;:&quot;3.4.0&quot;}}}}\
                 </custom_script></initialization></vm>"
            );
            Call::post(format!("{API}/vms?clone=false"), body)
        });
        let made = made.await?;
        self.step().await?;
        let new = ids(&target, "vms?search=name%3Dnew-*", "vm").await?;
        if new.len() != MACHINES {
            return Err(format!("{} of {MACHINES} VMs were made", new.len()).into());
        }
        let act = |action: &'static str| {
            let new = new.clone();
            move |number: usize| Call::post(format!("{API}/vms/{}/{action}", new[number]), "<action/>")
        };
        let started = count(&target, MACHINES, act("start")).await?;
        self.step().await?;
        let stopped = count(&target, MACHINES, act("stop")).await?;
        self.step().await?;
        let removed =
            count(&target, MACHINES, move |number| Call::delete(format!("{API}/vms/{}", new[number]))).await?;
        self.step().await?;
        Ok(vec![
            ("POST vms (from a template)", made),
            ("POST vms/{id}/start", started),
            ("POST vms/{id}/stop", stopped),
            ("DELETE vms/{id}", removed),
        ])
    }

    fn login(&self) -> Call {
        let call = Call::post("/ovirt-engine/sso/oauth/token", self.credentials.clone());
        Call { accept: "application/json", content_type: "application/x-www-form-urlencoded", ..call }
    }

    /// Lets two simulated minutes pass: everything that was begun is done.
    async fn step(&self) -> Result<(), Error> {
        let call = Call::post("/admin/clock/step", r#"{"by": "2m"}"#);
        let call = Call { accept: "application/json", content_type: "application/json", ..call };
        Target::plain(&self.admin).connect().await?.call(&call).await?;
        Ok(())
    }
}

/// The ids in a collection.
async fn ids(target: &Target, collection: &str, element: &str) -> Result<Vec<String>, Error> {
    let call = Call { accept: "application/json", ..Call::get(format!("{API}/{collection}")) };
    let answer: Value = serde_json::from_slice(&target.connect().await?.call(&call).await?)?;
    let entities = answer[element].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(entities.iter().filter_map(|entity| entity["id"].as_str()).map(str::to_owned).collect())
}
