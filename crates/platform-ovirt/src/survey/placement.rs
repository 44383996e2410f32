//! Where the machines go: cluster, storage, network, and what their disks are made from.

use landfall_platform::survey::{Answers, Choice, Composed, Key, Question, Rule};
use uuid::Uuid;

use super::{Survey, is_offline, key};
use crate::{Client, Cluster, Error, Network, StorageDomain, Template};

/// The kinds of sources for disks, as values of the question for them.
pub(super) const TEMPLATE: &str = "template";
pub(super) const DISK: &str = "disk";
const DEFAULT: &str = "default";

const MANAGEMENT_NETWORK: &str = "ovirtmgmt";

impl Survey {
    /// Composes a question about the place of the machines: from the engine, or else to be typed.
    pub(super) async fn compose_placement(&mut self, key: Key, answers: &Answers) -> Composed {
        let by_hand = by_hand(key);
        let client = match &self.client {
            Some(client) if !is_offline(answers) => client,
            _ => return Composed::ask(by_hand),
        };
        let composed = match key {
            key::CLUSTER => compose_cluster(client).await,
            key::STORAGE_DOMAIN => compose_storage_domain(client, answers).await,
            key::NETWORK => compose_network(client, answers).await,
            key::VNIC_PROFILE => compose_vnic_profile(client, answers).await,
            key::IMAGE => compose_image(client, answers).await,
            key::TEMPLATE => compose_template(client, answers).await,
            _ => Ok(Composed::ask(by_hand.clone())),
        };
        match composed {
            Ok(composed) => composed,
            Err(Stop::Engine(error)) => Composed::Unavailable { reason: error.chain(), by_hand },
            Err(Stop::Impossible(reason)) => Composed::Impossible(reason),
        }
    }

    /// The range of the chosen network, if a host shows it.
    pub(super) async fn guess_machine_network(&self, answers: &Answers) -> Result<Option<String>, Error> {
        let Some(client) = self.client.as_ref().filter(|_| !is_offline(answers)) else { return Ok(None) };
        let found = async {
            let cluster = chosen_cluster(client, answers).await?;
            let network = chosen_network(client, &cluster, answers).await?;
            Ok(client.network_range(&cluster, &network).await?)
        };
        match found.await {
            Ok(range) => Ok(range.map(|range| range.to_string())),
            Err(Stop::Impossible(_)) => Ok(None),
            Err(Stop::Engine(error)) => Err(*error),
        }
    }
}

/// Why a question cannot be composed.
enum Stop {
    Engine(Box<Error>),
    Impossible(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

async fn compose_cluster(client: &Client) -> Result<Composed, Stop> {
    let choices: Vec<Choice> = client
        .clusters()
        .await?
        .into_iter()
        .map(|cluster| Choice::new(cluster.id, format!("{} (data center {})", cluster.name, cluster.data_center)))
        .collect();
    let nothing = "the engine has no cluster in a data center that is up, or the user may not see one";
    choose(key::CLUSTER, choices, nothing)
}

async fn compose_storage_domain(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let cluster = chosen_cluster(client, answers).await?;
    let domains = client.storage_domains(&cluster).await?;
    let choices = domains.iter().map(|domain| Choice::new(&domain.id, storage_label(domain))).collect();
    let nothing = format!("data center {} has no active data domain for disks", cluster.data_center);
    choose(key::STORAGE_DOMAIN, choices, nothing)
}

async fn compose_network(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let cluster = chosen_cluster(client, answers).await?;
    let networks = client.networks(&cluster).await?;
    let choices =
        networks.iter().map(|network| Choice::new(&network.name, described(&network.name, &network.description)));
    let nothing = format!("cluster {} has no network for virtual machines", cluster.name);
    choose(key::NETWORK, choices.collect(), nothing)
}

async fn compose_vnic_profile(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let cluster = chosen_cluster(client, answers).await?;
    let network = chosen_network(client, &cluster, answers).await?;
    let profiles = client.vnic_profiles(&network).await?;
    if let [only] = profiles.as_slice() {
        return Ok(Composed::known(&only.id));
    }
    let choices =
        profiles.iter().map(|profile| Choice::new(&profile.id, described(&profile.name, &profile.description)));
    let nothing = format!("network {} has no vNIC profile, so no machine can be attached to it", network.name);
    choose(key::VNIC_PROFILE, choices.collect(), nothing)
}

async fn compose_image(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let cluster = chosen_cluster(client, answers).await?;
    let templates = client.templates(&cluster).await?;
    let has = if templates.is_empty() { Templates::None } else { Templates::Some };
    let preset = if templates.iter().any(Template::takes_ignition) { TEMPLATE } else { DEFAULT };
    Ok(Composed::ask(image_question(has).preset_text(preset)))
}

async fn compose_template(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let cluster = chosen_cluster(client, answers).await?;
    let templates = client.templates(&cluster).await?;
    let choices = templates.iter().map(|template| Choice::new(&template.name, template_label(template))).collect();
    choose(key::TEMPLATE, choices, format!("data center {} has no template", cluster.data_center))
}

/// The cluster that was chosen or given, as the engine knows it.
async fn chosen_cluster(client: &Client, answers: &Answers) -> Result<Cluster, Stop> {
    let id = answers.text(key::CLUSTER).unwrap_or_default();
    let found = client.clusters().await?.into_iter().find(|cluster| cluster.id.eq_ignore_ascii_case(id.trim()));
    let missing = || format!("the engine has no cluster {id} in a data center that is up, or the user may not see it");
    found.ok_or_else(|| Stop::Impossible(missing()))
}

async fn chosen_network(client: &Client, cluster: &Cluster, answers: &Answers) -> Result<Network, Stop> {
    let name = answers.text(key::NETWORK).unwrap_or_default();
    let found = client.networks(cluster).await?.into_iter().find(|network| network.name == name);
    found
        .ok_or_else(|| Stop::Impossible(format!("cluster {} has no network {name} for virtual machines", cluster.name)))
}

/// A choice of what the engine has; nothing at all is a reason to go back.
fn choose(key: Key, choices: Vec<Choice>, nothing: impl Into<String>) -> Result<Composed, Stop> {
    if choices.is_empty() {
        return Err(Stop::Impossible(nothing.into()));
    }
    let Question { message, help, .. } = by_hand(key);
    let question = Question { help, ..Question::select(message, choices) };
    Ok(Composed::ask(if key == key::NETWORK { question.preset_text(MANAGEMENT_NETWORK) } else { question }))
}

/// The question as it is put without the engine.
fn by_hand(key: Key) -> Question {
    match key {
        key::CLUSTER => Question::text("oVirt cluster", uuid_rule(Needed::Yes)).help(
            "The cluster of hosts that the machines run in; by hand: its id, from its page in the administration portal.",
        ),
        key::STORAGE_DOMAIN => Question::text("Storage domain", uuid_rule(Needed::Yes))
            .help("Where the machines' disks go; by hand: the id of an active data domain."),
        key::NETWORK => Question::text("Network", Rule::something())
            .preset_text(MANAGEMENT_NETWORK)
            .help("The network that the machines are attached to; by hand: its name."),
        key::VNIC_PROFILE => Question::text("vNIC profile", uuid_rule(Needed::No))
            .help("The profile of the machines' network cards; by hand: its id, or empty if the network has only one."),
        key::IMAGE => image_question(Templates::Some),
        key::TEMPLATE => Question::text("Template", Rule::something())
            .help("A template with an operating system that takes Ignition; it stays when the cluster is destroyed."),
        _ => Question::text("Disk image", Rule::new(image_location))
            .help("Path or https:// URL of a qcow2 image; it is uploaded and made into a template of the cluster's own."),
    }
}

#[derive(Clone, Copy)]
enum Templates {
    Some,
    None,
}

fn image_question(templates: Templates) -> Question {
    let mut choices = vec![
        Choice::new(DEFAULT, "The operating system image that belongs to the distribution"),
        Choice::new(DISK, "A disk image: path or URL"),
    ];
    if matches!(templates, Templates::Some) {
        choices.insert(0, Choice::new(TEMPLATE, "An existing template"));
    }
    Question::select("Operating system of the machines", choices)
        .help("It must be one that reads Ignition: Fedora CoreOS, RHEL CoreOS, Flatcar.")
}

#[derive(Clone, Copy, PartialEq)]
enum Needed {
    Yes,
    No,
}

fn uuid_rule(needed: Needed) -> Rule {
    Rule::new(move |text| match (text.trim(), needed) {
        ("", Needed::No) => Ok(()),
        (text, _) => Uuid::try_parse(text)
            .map(drop)
            .map_err(|_| "an id looks like 5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01".to_owned()),
    })
}

fn image_location(text: &str) -> Result<(), String> {
    let text = text.trim();
    let is_url = text.contains("://");
    match url::Url::parse(text) {
        _ if text.is_empty() => Err("an answer is needed".to_owned()),
        Ok(url) if is_url && !matches!(url.scheme(), "http" | "https") => {
            Err(format!("images are fetched by http or https, not by {}", url.scheme()))
        }
        Err(error) if is_url => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn described(name: &str, description: &str) -> String {
    if description.trim().is_empty() { name.to_owned() } else { format!("{name} ({})", description.trim()) }
}

fn template_label(template: &Template) -> String {
    let Template { name, os } = template;
    if template.takes_ignition() { format!("{name} (takes Ignition, {os})") } else { format!("{name} ({os})") }
}

fn storage_label(domain: &StorageDomain) -> String {
    let StorageDomain { name, available, used, storage, .. } = domain;
    let space = match (available, used) {
        (Some(available), Some(used)) => {
            format!("{} free of {}", gib(*available), gib(available.saturating_add(*used)))
        }
        (Some(available), None) => format!("{} free", gib(*available)),
        (None, _) => "free space unknown".to_owned(),
    };
    if storage.kind.is_empty() { format!("{name} ({space})") } else { format!("{name} ({}, {space})", storage.kind) }
}

fn gib(bytes: u64) -> String {
    format!("{} GiB", bytes >> 30)
}
