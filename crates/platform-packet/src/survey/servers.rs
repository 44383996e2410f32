//! Where the machines stand, what they are, and how they are paid.

use landfall_config::packet::Location;
use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Question, Rule};

use super::{Stop, Survey, key, or_by_hand, project, typed};
use crate::{
    Client, Error,
    client::{Plan, Reservation},
};

/// Ways to pay, as values of the questions for them.
pub(super) const ON_DEMAND: &str = "on-demand";
pub(super) const RESERVED: &str = "next-available";
pub(super) const SPOT: &str = "spot";

/// Tried first, since they are small and have enough memory for a control plane.
const USUAL_PLANS: [&str; 3] = ["c3.small.x86", "m3.small.x86", "c3.medium.x86"];
const UNAVAILABLE: &str = "unavailable";

/// Whether the place is a metro.
pub(super) fn has_metro(answers: &Answers) -> bool {
    answers.text(key::METRO).is_some_and(|code| !code.is_empty())
}

/// The first of the places that were chosen or given.
fn place(answers: &Answers) -> Option<Location> {
    let metro = first(answers, key::METRO).map(Location::Metro);
    metro.or_else(|| first(answers, key::FACILITY).map(Location::Facility))
}

/// The first item of a list: of a typed one, or of one that was given beforehand as JSON.
fn first(answers: &Answers, key: Key) -> Option<String> {
    let text = answers.text(key)?.trim_matches(['[', ']']);
    let item = text.split(',').next()?.trim().trim_matches('"');
    (!item.is_empty()).then(|| item.to_owned())
}

impl Survey {
    pub(super) async fn compose_servers(&mut self, key: Key, answers: &Answers) -> Composed {
        let by_hand = by_hand(key);
        let Some(client) = self.client(answers) else {
            return Composed::ask(match key {
                key::MASTERS_PAID | key::WORKERS_PAID => pay(key, None, None, true),
                _ => by_hand,
            });
        };
        let composed = match key {
            key::METRO => places(client, true).await,
            key::FURTHER_METROS => further(client, answers).await,
            key::FACILITY => places(client, false).await,
            key::MASTER_PLAN | key::WORKER_PLAN | key::BOOTSTRAP_PLAN => plans(client, key, answers).await,
            key::FURTHER_MASTER_PLANS | key::FURTHER_WORKER_PLANS => further_plans(client, key, answers).await,
            key::MASTERS_PAID | key::WORKERS_PAID => paid(client, key, answers).await,
            key::MASTERS_RESERVED | key::WORKERS_RESERVED => reserved(client, key, answers).await,
            key::SPOT_PRICE => spot_price(client, answers).await,
            _ => Ok(Composed::ask(by_hand.clone())),
        };
        or_by_hand(composed, by_hand)
    }

    /// The private network of the project at the chosen place, if there is one already.
    pub(super) async fn private_network(&self, answers: &Answers) -> Option<String> {
        let (client, place) = (self.client(answers)?, place(answers)?);
        let project = project::existing(answers)?;
        client.private_network(project, &place).await.ok().flatten()
    }
}

async fn places(client: &Client, metros: bool) -> Result<Composed, Stop> {
    let (found, stock) = futures::try_join!(client.places(metros), client.stock(metros))?;
    if found.is_empty() && metros {
        // Accounts of before 2021 know facilities only.
        return Ok(Composed::known(""));
    }
    let choices: Vec<Choice> = found
        .into_iter()
        .map(|place| {
            let usual = USUAL_PLANS.iter().find(|plan| stock.level(&place.code, plan).is_some_and(is_there));
            let hint = usual.map_or("no small servers now".to_owned(), |plan| format!("has {plan}"));
            let label = format!("{} {} ({hint})", place.code, place.name);
            Choice::new(place.code, label)
        })
        .collect();
    if choices.is_empty() {
        return Err(Stop::Impossible("the account may use no place".to_owned()));
    }
    let message = if metros { "Metro" } else { "Facility" };
    Ok(Composed::ask(Question::select(message, choices).help("Where the machines stand")))
}

fn is_there(level: &str) -> bool {
    level != UNAVAILABLE
}

async fn further(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let first = place(answers).map(|place| place.code().to_owned()).unwrap_or_default();
    let codes: Vec<String> =
        client.places(true).await?.into_iter().map(|place| place.code).filter(|code| *code != first).collect();
    let help = format!("Tried in this order when {first} has no servers, with commas: {}", codes.join(", "));
    let rule = Rule::new(move |text| {
        let unknown = items(text).find(|item| !codes.iter().any(|code| code == item));
        unknown.map_or(Ok(()), |code| Err(format!("there is no other metro {code}")))
    });
    Ok(Composed::ask(Question::text("Further metros", rule).help(help)))
}

/// What the chosen place offers, with how much of it there is: what is there first, then what is cheap.
async fn offered(client: &Client, answers: &Answers) -> Result<Vec<(Plan, String)>, Stop> {
    let place = place(answers).ok_or_else(|| Stop::Impossible("no place is chosen".to_owned()))?;
    let project = project::existing(answers);
    let is_metro = matches!(place, Location::Metro(_));
    let (plans, stock) = futures::try_join!(client.plans(project), client.stock(is_metro))?;
    let is_server = |plan: &Plan| plan.line.is_empty() || plan.line == "baremetal";
    let level = |plan: Plan| stock.level(place.code(), &plan.slug).map(|level| (plan.clone(), level.to_owned()));
    let mut offered: Vec<(Plan, String)> = plans.into_iter().filter(is_server).filter_map(level).collect();
    offered.sort_by(|(a, a_level), (b, b_level)| {
        let price = |plan: &Plan| plan.pricing.hour.unwrap_or(f64::MAX);
        (!is_there(a_level)).cmp(&!is_there(b_level)).then(price(a).total_cmp(&price(b)))
    });
    if offered.is_empty() {
        return Err(Stop::Impossible(format!("{} offers no servers", place.code())));
    }
    Ok(offered)
}

async fn plans(client: &Client, key: Key, answers: &Answers) -> Result<Composed, Stop> {
    let offered = offered(client, answers).await?;
    let has = |usual: &&str| offered.iter().any(|(plan, level)| plan.slug == **usual && is_there(level));
    let usual = USUAL_PLANS.into_iter().find(has);
    let preset = first(answers, key::MASTER_PLAN).or(usual.map(str::to_owned));
    let choices = offered.iter().map(|(plan, level)| Choice::new(&plan.slug, label(plan, level))).collect();
    let (message, help) = wording(key);
    let question = Question::select(message, choices).help(help);
    Ok(Composed::ask(match preset {
        Some(slug) => question.preset_text(slug),
        None => question,
    }))
}

async fn further_plans(client: &Client, key: Key, answers: &Answers) -> Result<Composed, Stop> {
    let of = if key == key::FURTHER_MASTER_PLANS { key::MASTER_PLAN } else { key::WORKER_PLAN };
    let first = first(answers, of).unwrap_or_default();
    let others = offered(client, answers).await?.into_iter().map(|(plan, _)| plan.slug);
    let others: Vec<String> = others.filter(|slug| *slug != first).collect();
    let help = format!("Tried in this order when there is no {first}, with commas: {}", others.join(", "));
    let rule = Rule::new(move |text| {
        let unknown = items(text).find(|item| !others.contains(item));
        unknown.map_or(Ok(()), |slug| Err(format!("there is no other plan {slug} here")))
    });
    let (message, _) = wording(key);
    Ok(Composed::ask(Question::text(message, rule).help(help)))
}

/// Which of the reserved hardware is used: the platform's choice, or some ids.
async fn reserved(client: &Client, key: Key, answers: &Answers) -> Result<Composed, Stop> {
    let project = project::existing(answers).unwrap_or_default();
    let free = client.reservations(project).await?.into_iter().filter(|own| own.provisionable);
    // What the masters have is not there for workers.
    let taken: Vec<String> = answers.text(key::MASTERS_RESERVED).map(items).into_iter().flatten().collect();
    let free: Vec<Reservation> = free.filter(|own| key == key::MASTERS_RESERVED || !taken.contains(&own.id)).collect();
    let shown: Vec<String> = free.iter().map(described).collect();
    let rule = Rule::new(move |text| {
        let is_known = |item: &String| item == RESERVED || free.iter().any(|own| own.id == *item);
        match items(text).find(|item| !is_known(item)) {
            Some(id) => Err(format!("there is no free reserved hardware {id}")),
            None if items(text).next().is_none() => Err("an answer is needed".to_owned()),
            None => Ok(()),
        }
    });
    let (message, _) = wording(key);
    let help = format!("{RESERVED}, or ids with commas, of which each machine takes one: {}", shown.join(", "));
    Ok(Composed::ask(Question::text(message, rule).preset_text(RESERVED).help(help)))
}

fn described(reservation: &Reservation) -> String {
    let plan = reservation.plan.as_ref().map(|plan| plan.slug.as_str());
    let place = reservation.facility.as_ref().map(|facility| facility.code.as_str());
    let parts: Vec<&str> = [plan, place].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { reservation.id.clone() } else { format!("{} ({})", reservation.id, parts.join(" at ")) }
}

fn label(plan: &Plan, level: &str) -> String {
    let price = plan.pricing.hour.map_or("price unknown".to_owned(), |hour| format!("${hour:.2} per hour"));
    let processors: Vec<String> =
        plan.specs.cpus.iter().map(|cpus| format!("{} × {}", cpus.count, cpus.kind)).collect();
    let parts = [price, processors.join(" + "), plan.specs.memory.total.clone(), format!("stock {level}")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{} ({})", plan.slug, parts.join(", "))
}

async fn paid(client: &Client, key: Key, answers: &Answers) -> Result<Composed, Stop> {
    let reserved = match project::existing(answers) {
        Some(project) => client.reservations(project).await?.iter().filter(|own| own.provisionable).count(),
        None => 0,
    };
    let price = match key {
        key::WORKERS_PAID => price_now(client, answers).await?,
        _ => None,
    };
    if reserved == 0 && price.is_none() {
        return Ok(Composed::known(ON_DEMAND));
    }
    Ok(Composed::ask(pay(key, Some(reserved), price, false)))
}

/// How machines are paid; `offline` offers everything that there may be.
fn pay(key: Key, reserved: Option<usize>, price: Option<f64>, offline: bool) -> Question {
    let mut choices = vec![Choice::new(ON_DEMAND, "By the list price, on demand")];
    match reserved {
        Some(0) => {}
        Some(number) => choices.push(Choice::new(RESERVED, format!("Reserved hardware ({number} free)"))),
        None => choices.push(Choice::new(RESERVED, "Reserved hardware")),
    }
    if key == key::WORKERS_PAID {
        match price {
            Some(price) => choices.push(Choice::new(SPOT, format!("Spot market (now ${price:.2} per hour)"))),
            None if offline => choices.push(Choice::new(SPOT, "Spot market")),
            None => {}
        }
    }
    let (message, help) = wording(key);
    Question::select(message, choices).help(help)
}

async fn price_now(client: &Client, answers: &Answers) -> Result<Option<f64>, Error> {
    let (Some(place), Some(plan)) = (place(answers), answers.text(key::WORKER_PLAN)) else { return Ok(None) };
    client.spot_price(&place, plan).await
}

async fn spot_price(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let question = by_hand(key::SPOT_PRICE);
    let plan = answers.text(key::WORKER_PLAN).unwrap_or_default();
    let list = client.plans(None).await?.into_iter().find(|own| own.slug == plan).and_then(|plan| plan.pricing.hour);
    // Whoever offers the list price is outbid only when spot instances make no sense any more.
    Ok(Composed::ask(match list {
        Some(price) => question.preset_text(format!("{:.0}", (price * 100.0).ceil())),
        None => question,
    }))
}

pub(super) fn items(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect::<Vec<_>>().into_iter()
}

fn wording(key: Key) -> (&'static str, &'static str) {
    match key {
        key::MASTER_PLAN => ("Plan of the masters", "What they cost is billed for each of them while it exists"),
        key::WORKER_PLAN => ("Plan of the workers", "That of the masters does too"),
        key::BOOTSTRAP_PLAN => ("Plan of the bootstrap machine", "It exists for less than an hour"),
        key::FURTHER_MASTER_PLANS => ("Further plans of the masters", "More plans, or nothing"),
        key::FURTHER_WORKER_PLANS => ("Further plans of the workers", "More plans, or nothing"),
        key::MASTERS_RESERVED => ("Reserved hardware of the masters", "next-available, or ids with commas"),
        key::WORKERS_RESERVED => ("Reserved hardware of the workers", "next-available, or ids with commas"),
        key::MASTERS_PAID => ("How are the masters paid?", "Reserved hardware costs nothing more"),
        _ => ("How are the workers paid?", "Spot instances are cheap, and taken away when others offer more"),
    }
}

fn by_hand(key: Key) -> Question {
    match key {
        key::METRO => typed("Metros", Field::texts(key), "Codes like da, in the order in which they are tried"),
        key::FACILITY => {
            typed("Facilities", Field::texts(key), "Codes like ewr1, in the order in which they are tried")
        }
        key::FURTHER_METROS => typed("Further metros", Field::texts(key::METRO).optional(), "More codes, or nothing"),
        key::MASTER_PLAN | key::WORKER_PLAN | key::BOOTSTRAP_PLAN => {
            let (message, _) = wording(key);
            Question::text(message, Rule::something()).help("Like c3.small.x86").preset_text(USUAL_PLANS[0])
        }
        key::FURTHER_MASTER_PLANS | key::FURTHER_WORKER_PLANS => {
            let (message, help) = wording(key);
            Question::text(message, Rule::anything()).help(help)
        }
        key::MASTERS_RESERVED | key::WORKERS_RESERVED => {
            let (message, help) = wording(key);
            let field = Field::texts(key::MASTERS_RESERVED);
            typed(message, field, help).preset_text(RESERVED)
        }
        key::SPOT_PRICE => {
            let rule = Rule::new(|text| match text.trim().parse::<u32>() {
                Ok(1..) => Ok(()),
                _ => Err("it must be a whole number of US cents".to_owned()),
            });
            Question::text("Most US cents per hour for a worker", rule)
                .help("A worker goes, with two minutes' notice, when the market's price is higher")
        }
        _ => {
            let cycles = ["hourly", "daily", "monthly", "yearly"].map(|cycle| Choice::new(cycle, cycle));
            Question::select("Billing cycle", cycles.to_vec()).help("How machines that are not reserved are billed")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn reserved_hardware_is_shown_with_what_it_is() {
        let shown = |value: Value| described(&serde_json::from_value(value).unwrap());
        let whole = json!({"id": "1", "plan": {"slug": "c3.small.x86"}, "facility": {"code": "da11"}});
        assert_eq!(shown(whole), "1 (c3.small.x86 at da11)");
        assert_eq!(shown(json!({"id": "1", "facility": {"code": "da11"}})), "1 (da11)");
        assert_eq!(shown(json!({"id": "1"})), "1");
    }
}
