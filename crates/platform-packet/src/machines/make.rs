//! Making a machine.

use landfall_platform::{ErrorClass, Progress};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Candidate, Device, Machines, Price, word};
use crate::{
    Error, Mark,
    client::{self, DeviceState},
};

impl Machines {
    /// Makes a machine exist and be active. Whether its operating system is up is another matter.
    pub(crate) async fn make(
        &self,
        desired: &Device,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<client::Device, Error> {
        let id = self.begin(desired, None, user_data, progress).await?;
        self.finish(desired, &id, progress).await
    }

    /// Makes a machine exist: the one with the id that was recorded, else the one with the name and the mark, else a new one. Returns
    /// its id.
    pub(crate) async fn begin(
        &self,
        desired: &Device,
        recorded: Option<&str>,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<String, Error> {
        let mut found = match recorded {
            Some(id) => self.site.known(id).await?,
            None => None,
        };
        if found.is_none() {
            found = self.site.device(desired.name.as_str().into()).await?;
        }
        match found {
            Some(device) if device.state == DeviceState::Failed => self.replace(&device).await,
            Some(device) if device.state == DeviceState::Deprovisioning => {
                progress("waiting for its predecessor to go".to_owned());
                self.site.wait(&device.id, |device| Ok(device.is_none().then_some(()))).await?;
                self.create(desired, user_data, progress).await
            }
            Some(device) => Ok(device.id),
            None => self.create(desired, user_data, progress).await,
        }
    }

    /// Waits until a machine that exists is active, and puts it into its networks.
    pub(crate) async fn finish(
        &self,
        desired: &Device,
        id: &str,
        progress: Progress<'_>,
    ) -> Result<client::Device, Error> {
        let device = self.active(id, &desired.name, progress).await?;
        self.attach(desired, &device, progress).await?;
        if desired.bgp {
            self.site.client.start_bgp_session(&device.id).await?;
        }
        Ok(device)
    }

    /// Tries one place and plan after the other. Returns the id of the machine.
    async fn create(
        &self,
        desired: &Device,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<String, Error> {
        let user_data = user_data.map_or("", |data| data.expose_secret());
        let project = self.site.project().await?;
        let ssh_keys = self.ssh_keys(desired, &project).await?;
        let none = [None];
        let reservations: Vec<Option<&str>> = match &desired.price {
            Price::Reserved(ids) => ids.iter().map(|id| Some(id.as_str())).collect(),
            Price::OnDemand | Price::Spot(_) => none.into(),
        };
        let mut tried = Vec::new();
        for candidate in &desired.candidates {
            for reservation in &reservations {
                let Candidate { location, plan } = candidate;
                progress(format!("asking for {plan} in {}", location.code()));
                let body = desired.request(candidate, *reservation, user_data, self.script_url.as_deref(), &ssh_keys);
                match self.site.client.create_device(&project, &desired.name, &body).await {
                    Ok(made) => return Ok(made.id),
                    Err(Error::Fault { fault, .. }) if fault.class() == ErrorClass::Capacity => {
                        tried.push(format!("{plan} in {}: {fault}", location.code()));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if let Price::Reserved(ids) = &desired.price
            && self.is_preparing(&project, ids).await?
        {
            return Err(Error::Preparing { machine: desired.name.clone() });
        }
        Err(Error::Capacity { machine: desired.name.clone(), tried })
    }

    /// The ids of the SSH keys that a machine is made with.
    async fn ssh_keys(&self, desired: &Device, project: &str) -> Result<Vec<String>, Error> {
        if desired.ssh_keys.iter().all(|key| uuid::Uuid::try_parse(key).is_ok()) {
            return Ok(desired.ssh_keys.clone());
        }
        let known = self.site.client.ssh_keys(project).await?;
        let id = |wanted: &String| {
            let is_own = |key: &&client::SshKey| key.label == *wanted && self.site.mark.is_on(&key.tags);
            let own = known.iter().find(is_own).map(|key| key.id.clone());
            own.unwrap_or_else(|| wanted.clone())
        };
        Ok(desired.ssh_keys.iter().map(id).collect())
    }

    /// Whether reserved hardware that would do comes back by itself.
    async fn is_preparing(&self, project: &str, ids: &[String]) -> Result<bool, Error> {
        let any = ids.iter().any(|id| id == "next-available");
        let all = self.site.client.reservations(project).await?;
        Ok(all.iter().any(|own| own.is_preparing() && (any || ids.contains(&own.id))))
    }

    /// Takes a machine away that the platform did not bring up; the next attempt makes it anew.
    async fn replace<T>(&self, device: &client::Device) -> Result<T, Error> {
        self.delete_one(device, &|_| ()).await?;
        self.site.wait(&device.id, |device| Ok(device.is_none().then_some(()))).await?;
        Err(Error::Failed { machine: device.hostname.clone(), state: word(device.state) })
    }

    /// Waits until the machine is active. One that failed on demand vanishes.
    async fn active(&self, id: &str, name: &str, progress: Progress<'_>) -> Result<client::Device, Error> {
        let failed = |state: &str| Error::Failed { machine: name.to_owned(), state: state.to_owned() };
        let mut last = None;
        let judge = |device: Option<&client::Device>| {
            let state = device.map(|device| device.state);
            if state != last {
                progress(state.map_or_else(|| "gone".to_owned(), word));
                last = state;
            }
            match device {
                Some(device) if device.state == DeviceState::Active => Ok(Some(Ok(device.clone()))),
                Some(device) if device.state == DeviceState::Inactive => Ok(Some(Err(device.clone()))),
                Some(device) if device.state == DeviceState::Failed => Err(failed("failed")),
                Some(_) => Ok(None),
                None => Err(failed("gone")),
            }
        };
        match self.site.wait(id, judge).await? {
            Ok(device) => Ok(device),
            Err(off) => {
                self.site.client.act_on_device(&off, "power_on").await?;
                let judge = |device: Option<&client::Device>| match device {
                    Some(device) => Ok((device.state == DeviceState::Active).then(|| device.clone())),
                    None => Err(failed("gone")),
                };
                self.site.wait(id, judge).await
            }
        }
    }

    /// Puts the machine into its virtual networks.
    async fn attach(&self, desired: &Device, device: &client::Device, progress: Progress<'_>) -> Result<(), Error> {
        let (Some(bond), false) = (device.network_ports.first(), desired.virtual_networks.is_empty()) else {
            return Ok(());
        };
        let project = self.site.project().await?;
        let networks = self.site.client.virtual_networks(&project).await?;
        for wanted in &desired.virtual_networks {
            let is_it = |network: &&client::VirtualNetwork| {
                network.id == *wanted
                    || (self.site.mark.is_on(&network.tags) && Mark::name_in(&network.tags) == Some(wanted))
            };
            let missing =
                || Error::Missing { object: format!("virtual network {wanted}"), api: self.site.client.host() };
            let network = networks.iter().find(is_it).ok_or_else(missing)?;
            if bond.virtual_networks.iter().all(|own| own.id() != network.id) {
                progress(format!("attaching to virtual network {}", network.vxlan));
                self.site.client.attach_port(device, bond, &network.id).await?;
            }
        }
        Ok(())
    }
}
