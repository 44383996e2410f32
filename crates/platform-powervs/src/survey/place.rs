//! Where everything is: the zone, and what the account has there already.

use landfall_config::powervs::ZONES;
use landfall_platform::{
    error_chain,
    survey::{Answers, Choice, Composed, Field, Key, Question, Rule, Verdict},
};
use serde_json::Value;

use super::{NEW, Survey, key, or_by_hand};
use crate::{
    Client, Error,
    client::{ServiceId, Subnet, Workspace},
};

pub(super) const EXTERNAL: &str = "external";
pub(super) const INTERNAL: &str = "internal";

/// Whether a VPC that exists was chosen.
pub(super) fn has_vpc(answers: &Answers) -> bool {
    answers.text(key::VPC).is_some_and(|name| name != NEW)
}

/// Names or ids with commas between.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// What is asked, and what it is for.
fn wording(key: Key) -> (&'static str, &'static str) {
    match key {
        key::ZONE => ("Zone", "Where the machines run"),
        key::GROUP => ("Resource group", "That everything is made in"),
        key::WORKSPACE => ("Workspace", "One that exists must have an edge router and no DHCP server"),
        key::VPC => ("VPC", "Whose load balancers bring traffic to the machines"),
        key::SUBNETS => ("Subnets of the VPC", "For the load balancers, with commas between; empty: new ones are made"),
        key::PUBLISH => ("Who reaches the cluster?", "The load balancers are public, or those inside the VPC"),
        _ => ("Transit gateway", "Which joins VPC and workspace"),
    }
}

impl Survey {
    pub(super) async fn compose_place(&mut self, key: Key, answers: &Answers) -> Composed {
        let (message, help) = wording(key);
        match key {
            key::ZONE => self.compose_zone(message, help),
            key::SUBNETS => self.compose_subnets(message, help, answers).await,
            key::PUBLISH => Composed::ask(
                Question::select(
                    message,
                    vec![
                        Choice::new(EXTERNAL, "Everybody"),
                        Choice::new(INTERNAL, "Those in the VPC, and what is joined to it; you have to be there"),
                    ],
                )
                .help(help),
            ),
            _ => {
                let rule = match key {
                    key::WORKSPACE => Field::text(key).rule(&Value::Null),
                    _ => Rule::something(),
                };
                let by_hand = Question::text(message, rule).help(help);
                or_by_hand(self.places(key, answers).await, message, help, by_hand)
            }
        }
    }

    fn compose_zone(&self, message: &str, help: &str) -> Composed {
        let zones = ZONES.iter().filter_map(|zone| Some((zone.name, zone.vpc_region?)));
        let choices = zones.map(|(zone, region)| Choice::new(zone, format!("{zone} (VPC region {region})")));
        let question = Question::select(message, choices.collect()).help(help);
        let known = self.proposed().and_then(|proposed| proposed.zone);
        Composed::ask(match known {
            Some(zone) => question.preset_text(zone),
            None => question,
        })
    }

    async fn places(&self, key: Key, answers: &Answers) -> Result<Vec<Choice>, Error> {
        let client = self.client(answers)?;
        let or_new = |found: Vec<Choice>| {
            std::iter::once(Choice::new(NEW, "A new one, which goes with the cluster")).chain(found).collect()
        };
        Ok(match key {
            key::GROUP => {
                let proposed = self.proposed().and_then(|proposed| proposed.resource_group);
                let mut groups = client.resource_groups().await?;
                groups.sort_by_key(|group| (Some(&group.name) != proposed.as_ref(), !group.default));
                groups.into_iter().map(|group| Choice::new(&group.name, &group.name)).collect()
            }
            key::WORKSPACE => {
                let mut all = client.resource_instances(ServiceId::POWER).await?;
                all.retain(|instance| instance.state == "active" && instance.region_id == client.zone());
                or_new(all.into_iter().map(|instance| Choice::new(instance.guid, instance.name)).collect())
            }
            key::VPC => {
                let all = client.vpcs().await?;
                or_new(all.into_iter().map(|vpc| Choice::new(&vpc.name, &vpc.name)).collect())
            }
            _ => {
                let all = client.transit_gateways().await?;
                or_new(all.into_iter().map(|gateway| Choice::new(&gateway.name, &gateway.name)).collect())
            }
        })
    }

    async fn compose_subnets(&self, message: &str, help: &str, answers: &Answers) -> Composed {
        let question = Question::text(message, Rule::anything());
        match self.subnets(answers).await {
            Ok(subnets) => {
                let there: Vec<&str> = subnets.iter().map(|subnet| subnet.name.as_str()).collect();
                let there =
                    if there.is_empty() { "it has none".to_owned() } else { format!("it has {}", there.join(", ")) };
                Composed::ask(question.help(format!("{help}; {there}")))
            }
            Err(error) => Composed::Unavailable { reason: error_chain(&error), by_hand: question.help(help) },
        }
    }

    /// Whether the VPC has what was typed. If it cannot be asked, preflight will.
    pub(super) async fn judge_subnets(&self, text: &str, answers: &Answers) -> Verdict {
        let Ok(subnets) = self.subnets(answers).await else { return Verdict::accept() };
        let is_there = |name: &&str| subnets.iter().any(|subnet| subnet.name == **name || subnet.id == **name);
        match names(text).find(|name| !is_there(name)) {
            Some(missing) => Verdict::Again(format!("the VPC has no subnet {missing}")),
            None => Verdict::accept(),
        }
    }

    async fn subnets(&self, answers: &Answers) -> Result<Vec<Subnet>, Error> {
        let client = self.client(answers)?;
        let name = answers.text(key::VPC).unwrap_or_default();
        let vpc = client.vpc(name).await?.ok_or_else(|| Error::missing(format!("VPC {name}")))?;
        let mut subnets = client.subnets().await?;
        subnets.retain(|subnet| subnet.vpc.id == vpc.id);
        Ok(subnets)
    }

    /// The workspace that was chosen, if it exists.
    pub(super) async fn workspace(client: &Client, answers: &Answers) -> Result<Option<Workspace>, Error> {
        let Some(guid) = answers.text(key::WORKSPACE).filter(|guid| *guid != NEW) else { return Ok(None) };
        let found = client.resource_instance(guid).await?;
        Ok(found.map(|instance| Workspace { guid: instance.guid, crn: instance.crn }))
    }

    /// IBM's own DNS services, with what the account has of them. Zones that only networks see are of use to those inside only.
    pub(super) async fn own_zones(&self, answers: &Answers) -> Vec<Choice> {
        let public = ("cis", "Internet Services", ServiceId::INTERNET_SERVICES);
        let private = ("dnsServices", "DNS Services, in a private zone", ServiceId::DNS_SERVICES);
        let is_internal = answers.text(key::PUBLISH) == Some(INTERNAL);
        let offered = if is_internal { vec![private, public] } else { vec![public] };
        let mut choices = Vec::new();
        for (value, label, service) in offered {
            let found = match self.client(answers) {
                Ok(client) => client.resource_instances(service).await,
                Err(error) => Err(error),
            };
            let has = match found {
                Ok(found) if found.is_empty() => " (the account has no instance yet)".to_owned(),
                Ok(found) => {
                    let names: Vec<&str> = found.iter().map(|instance| instance.name.as_str()).collect();
                    format!(" ({})", names.join(", "))
                }
                // It is offered all the same; preflight looks again.
                Err(_) => String::new(),
            };
            choices.push(Choice::new(value, format!("IBM Cloud {label}{has}")));
        }
        choices
    }
}
