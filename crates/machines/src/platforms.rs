//! Platforms: connections to them, and what their last listing said.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use landfall_machine_api::{IDENTITY_ROLE, IDENTITY_ROOT, IDENTITY_SECRET, Subject, provider::Shared, with_credential};
use landfall_platform::{
    Connection, ErrorClass, Listing, Machine as Instance, MachineProvider, MachineRef, StepError, same_provider_id,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::Instant;

use crate::{Error, Machine, Metrics, Options, machine::Gate};

/// All platforms that machines refer to: one for each Secret with credentials.
pub(crate) struct Platforms {
    secrets: Api<Secret>,
    providers: Vec<Arc<dyn MachineProvider>>,
    options: Options,
    known: Mutex<HashMap<String, Arc<Platform>>>,
}

/// A platform that is connected to.
pub(crate) struct Platform {
    pub(crate) provider: Arc<dyn MachineProvider>,
    pub(crate) connection: Connection,
    /// Version of the Secret that it was connected with.
    version: String,
    checked: Mutex<Instant>,
    fleet: RwLock<Option<Fleet>>,
    reachable: AtomicBool,
    /// Lets creations through.
    pub(crate) gate: Gate,
}

/// What a listing said.
struct Fleet {
    /// Whether it was a listing of the whole platform, and not only what operations have seen, or what a part of it says.
    listed: bool,
    instances: HashMap<String, Arc<Instance>>,
    /// Names of which more recent things are known than the listing can say.
    touched: HashMap<String, Instant>,
}

/// What is known of one instance.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// The platform has not been asked, or does not answer.
    Unknown,
    /// It was not there.
    Absent,
    /// It is there.
    There(Arc<Instance>),
}

impl Platforms {
    pub(crate) fn new(client: Client, providers: Vec<Arc<dyn MachineProvider>>, options: &Options) -> Self {
        let secrets = Api::namespaced(client, &options.namespace);
        Self { secrets, providers, options: options.clone(), known: Mutex::default() }
    }

    /// The provider of a kind of provider specs.
    pub(crate) fn provider(&self, kind: &str) -> Result<&Arc<dyn MachineProvider>, Error> {
        let found = self.providers.iter().find(|provider| provider.kind() == kind);
        found.ok_or_else(|| Error::Kind(kind.to_owned()))
    }

    /// The platform that a provider spec refers to. Its Secret is looked at again from time to time, so that new credentials
    /// are taken up without a restart.
    pub(crate) async fn get(&self, shared: &Shared) -> Result<Arc<Platform>, Error> {
        let key = format!("{}/{}", shared.kind, shared.credentials_secret.name);
        let known = self.known.lock().expect("nobody panics while holding it").get(&key).cloned();
        if let Some(platform) = &known
            && platform.is_fresh(self.options.pace.sync)
        {
            return Ok(Arc::clone(platform));
        }
        let provider = Arc::clone(self.provider(&shared.kind)?);
        let (version, credentials) = self.secret(&shared.credentials_secret.name).await?;
        if let Some(platform) = known.filter(|platform| platform.version == version) {
            platform.freshen();
            return Ok(platform);
        }
        let connection = provider
            .connect(&credentials, &self.options.infra_id, self.options.pace.poll)
            .map_err(|source| Error::Platform { attempt: "connecting to the platform".to_owned(), source })?;
        let platform = Arc::new(Platform {
            provider,
            connection,
            version,
            checked: Mutex::new(Instant::now()),
            fleet: RwLock::default(),
            reachable: AtomicBool::new(true),
            gate: Gate::new(self.options.pace.retry, self.options.pace.longest_retry),
        });
        let mut known = self.known.lock().expect("nobody panics while holding it");
        // Another may have connected meanwhile; all must look at the same fleet.
        let entry = known.entry(key).or_insert_with(|| Arc::clone(&platform));
        if entry.version != platform.version {
            *entry = platform;
        }
        Ok(Arc::clone(entry))
    }

    /// All platforms that are connected to.
    pub(crate) fn all(&self) -> Vec<Arc<Platform>> {
        self.known.lock().expect("nobody panics while holding it").values().cloned().collect()
    }

    /// Returns what a machine is started with: the user data of its role, with a credential of its own if the user data's Secret names the
    /// Secret to make one from. It is the same whenever it is made for the same object.
    pub(crate) async fn user_data(&self, shared: &Shared, machine: &Machine) -> Result<SecretString, Error> {
        let name = &shared.user_data_secret.name;
        let (_, mut keys) = self.secret(name).await?;
        let missing = |name: &str, problem| Error::Secret { name: name.to_owned(), problem };
        let user_data = keys.remove("userData").ok_or_else(|| missing(name, "has no key userData"))?;
        let Some(identity) = keys.remove(IDENTITY_SECRET) else { return Ok(user_data) };
        let identity = identity.expose_secret();
        let (_, keys) = self.secret(identity).await?;
        let (Some(role), Some(root)) = (keys.get(IDENTITY_ROLE), keys.get(IDENTITY_ROOT)) else {
            return Err(missing(identity, "has no keys role and root"));
        };
        let subject = Subject::of_object(machine.name(), machine.uid());
        let credential = subject.credential(root.expose_secret());
        let own = with_credential(user_data.expose_secret().as_bytes(), role.expose_secret(), &credential);
        let own = own.map_err(|_| missing(name, "has no JSON under userData"))?;
        Ok(String::from_utf8_lossy(&own).into_owned().into())
    }

    async fn secret(&self, name: &str) -> Result<(String, BTreeMap<String, SecretString>), Error> {
        let found = self.secrets.get_opt(name).await.map_err(Error::api(format!("reading the Secret {name}")))?;
        let secret = found.ok_or_else(|| Error::Secret { name: name.to_owned(), problem: "does not exist" })?;
        let version = secret.metadata.resource_version.unwrap_or_default();
        let keys = secret.data.unwrap_or_default().into_iter();
        let keys = keys.map(|(key, value)| (key, String::from_utf8_lossy(&value.0).into_owned().into())).collect();
        Ok((version, keys))
    }
}

impl Platform {
    fn is_fresh(&self, limit: std::time::Duration) -> bool {
        self.checked.lock().expect("nobody panics while holding it").elapsed() < limit
    }

    fn freshen(&self) {
        *self.checked.lock().expect("nobody panics while holding it") = Instant::now();
    }

    /// Whether the last listing succeeded. While it did not, nothing new is begun, so that a platform that comes back is not
    /// met by everything that has piled up.
    pub(crate) fn is_reachable(&self) -> bool {
        self.reachable.load(Ordering::SeqCst)
    }

    /// Whether the last listing said all that there is.
    pub(crate) fn is_listed(&self) -> bool {
        self.fleet.read().expect("nobody panics while holding it").as_ref().is_some_and(|fleet| fleet.listed)
    }

    /// What is known of the instance of a machine: the one with its provider id, or with its name as long as it has no id.
    pub(crate) fn sight(&self, machine: &Machine) -> Sight {
        let fleet = self.fleet.read().expect("nobody panics while holding it");
        let is_it =
            |instance: &Instance, id: &str| same_provider_id(self.provider.schemes(), &instance.provider_id, id);
        fleet.as_ref().map_or(Sight::Unknown, |fleet| fleet.sight(machine.name(), machine.provider_id(), is_it))
    }

    /// Takes note of an instance that an operation has just made or looked at.
    pub(crate) fn learn(&self, instance: Instance) {
        let mut fleet = self.fleet.write().expect("nobody panics while holding it");
        let fleet = fleet.get_or_insert_with(Fleet::new);
        fleet.touched.insert(instance.name.clone(), Instant::now());
        fleet.instances.insert(instance.name.clone(), Arc::new(instance));
    }

    /// Takes note that an instance is gone, under whichever name it was known.
    pub(crate) fn forget(&self, machine: MachineRef<'_>) {
        let mut fleet = self.fleet.write().expect("nobody panics while holding it");
        let fleet = fleet.get_or_insert_with(Fleet::new);
        let now = Instant::now();
        fleet.touched.insert(machine.name.to_owned(), now);
        let gone = |name: &String, instance: &Instance| name == machine.name || machine.is(&instance.id, name);
        let touched = &mut fleet.touched;
        fleet.instances.retain(|name, instance| {
            let is_gone = gone(name, instance);
            if is_gone {
                touched.insert(name.clone(), now);
            }
            !is_gone
        });
    }

    /// Lists the fleet: one call per page. Returns the names of instances that are new, other than before, or gone, and those of
    /// none if the platform does not answer.
    pub(crate) async fn list(&self, metrics: &Metrics) -> Result<Vec<String>, StepError> {
        let begun = Instant::now();
        let listed = self.connection.machines.list().await;
        metrics.listed(listed.as_ref().ok().map(|listing| listing.machines.len()));
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) => {
                // A refusal is an answer: machines whose credentials are wrong are told so one by one.
                self.reachable.store(error.class() == ErrorClass::Auth, Ordering::SeqCst);
                return Err(error);
            }
        };
        self.reachable.store(true, Ordering::SeqCst);
        let mut fleet = self.fleet.write().expect("nobody panics while holding it");
        if !listed.silent.is_empty() {
            tracing::warn!(silent = listed.silent.join(", "), "a part of the platform does not answer");
        }
        let (after, changed) = fleet.take().unwrap_or_else(Fleet::new).after(listed, begun);
        *fleet = Some(after);
        Ok(changed)
    }
}

impl Fleet {
    fn new() -> Self {
        Self { listed: false, instances: HashMap::new(), touched: HashMap::new() }
    }

    fn sight(&self, name: &str, id: Option<&str>, is_it: impl Fn(&Instance, &str) -> bool) -> Sight {
        let named = self.instances.get(name).filter(|instance| id.is_none_or(|id| is_it(instance, id)));
        // One that was renamed is known by its id, and another that got its name is not the same.
        let renamed = || id.and_then(|id| self.instances.values().find(|instance| is_it(instance, id)));
        match named.or_else(renamed) {
            Some(instance) => Sight::There(Arc::clone(instance)),
            // What an operation has removed since is not there; the object says so itself.
            None if !self.listed || self.touched.contains_key(name) => Sight::Unknown,
            None => Sight::Absent,
        }
    }

    /// The fleet after a listing that was begun at some time, and the names of instances that are new, other than before, or gone.
    fn after(self, listing: Listing, begun: Instant) -> (Self, Vec<String>) {
        let mut changed = Vec::new();
        let mut instances = HashMap::with_capacity(listing.machines.len());
        let touched: HashMap<_, _> = self.touched.into_iter().filter(|(_, at)| *at >= begun).collect();
        for instance in listing.machines.into_iter().filter(|instance| !touched.contains_key(&instance.name)) {
            match self.instances.get(&instance.name) {
                Some(known) if **known == instance => {
                    instances.insert(instance.name.clone(), Arc::clone(known));
                }
                _ => {
                    changed.push(instance.name.clone());
                    instances.insert(instance.name.clone(), Arc::new(instance));
                }
            }
        }
        for (name, instance) in self.instances {
            if touched.contains_key(&name) {
                instances.insert(name, instance);
            } else if !instances.contains_key(&name) {
                changed.push(name);
            }
        }
        (Self { listed: listing.silent.is_empty(), instances, touched }, changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(name: &str) -> Instance {
        Instance {
            name: name.to_owned(),
            id: name.to_owned(),
            provider_id: format!("sim://{name}"),
            power: landfall_platform::PowerState::On,
            state: "running".to_owned(),
            addresses: Vec::new(),
        }
    }

    fn listing(names: &[&str], silent: &[&str]) -> Listing {
        let silent = silent.iter().map(|name| (*name).to_owned()).collect();
        Listing { machines: names.iter().map(|name| instance(name)).collect(), silent }
    }

    fn see(fleet: &Fleet, name: &str, id: Option<&str>) -> Sight {
        fleet.sight(name, id, |instance, id| instance.provider_id == id)
    }

    #[test]
    fn an_instance_is_known_by_its_id_once_that_is_known() {
        let mut renamed = instance("other");
        renamed.provider_id = "sim://a".to_owned();
        let mut stranger = instance("a");
        stranger.provider_id = "sim://9".to_owned();
        let listing = Listing { machines: vec![renamed, stranger], silent: Vec::new() };
        let (fleet, _) = Fleet::new().after(listing, Instant::now());
        let Sight::There(found) = see(&fleet, "a", Some("sim://a")) else { panic!("it was renamed and is not gone") };
        assert_eq!(found.name, "other");
        assert!(matches!(see(&fleet, "b", Some("sim://b")), Sight::Absent));
        assert!(matches!(see(&fleet, "a", None), Sight::There(_)));
    }

    #[test]
    fn what_a_silent_server_may_have_is_unknown_and_not_gone() {
        let now = Instant::now();
        let (fleet, changed) = Fleet::new().after(listing(&["a"], &["power-b"]), now);
        assert_eq!(changed, ["a"]);
        assert!(matches!(see(&fleet, "a", None), Sight::There(_)));
        assert!(matches!(see(&fleet, "b", None), Sight::Unknown), "it may be on the silent server");
        let (fleet, changed) = fleet.after(listing(&["a", "b"], &[]), now);
        assert_eq!(changed, ["b"]);
        assert!(matches!(see(&fleet, "b", None), Sight::There(_)));
        let (fleet, _) = fleet.after(listing(&["a"], &["power-b"]), now);
        assert!(matches!(see(&fleet, "b", None), Sight::Unknown));
        let (fleet, _) = fleet.after(listing(&["a"], &[]), now);
        assert!(matches!(see(&fleet, "b", None), Sight::Absent), "all have answered");
    }
}
