//! From the answers to the install-config.

use landfall_platform::survey::{Answer, Answers, Field, Key, PoolAnswers};
use serde_json::{Value, json};

use super::{boot, key, network, project, servers};

/// Fields of the section that hold a text, by the question that fills them.
const TEXTS: [Key; 11] = [
    key::BILLING,
    key::KERNEL,
    key::INITRAMFS,
    key::ROOTFS,
    key::DISK,
    key::ASSET_PUBLIC,
    key::ASSET_URL,
    key::BUCKET,
    key::BUCKET_ENDPOINT,
    key::BUCKET_REGION,
    key::ENDPOINT,
];

/// The platform's section as far as it was asked for.
pub(super) fn section(answers: &Answers) -> Value {
    let asked = |key: Key| answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
    let mut tree = json!({});
    for key in TEXTS {
        if let Some(text) = asked(key) {
            Field::text(key).put(&mut tree, text);
        }
    }
    for key in [key::BOOTSTRAP_PLAN, key::FACILITY, key::CONSOLE_KEYS, key::TAGS] {
        if let Some(text) = asked(key) {
            Field::texts(key).put(&mut tree, text);
        }
    }
    if let Some(first) = asked(key::METRO) {
        let further = asked(key::FURTHER_METROS).unwrap_or_default();
        Field::texts(key::METRO).put(&mut tree, &format!("{first},{further}"));
    }
    let mut section = tree["platform"]["packet"].take();
    if section.is_null() {
        section = json!({});
    }
    // What is usual need not be written down.
    if let Some(Answer::Flag(false)) = answers.get(key::IPV6).filter(|_| !answers.is_given(key::IPV6)) {
        section["ipv6"] = json!(false);
    }
    if answers.text(key::PROJECT) == Some(project::NEW) {
        let organization = asked(key::ORGANIZATION).filter(|id| !id.is_empty());
        section["newProject"] = organization.map_or(json!({}), |id| json!({ "organization": id }));
    } else if let Some(project) = asked(key::PROJECT) {
        section["project"] = json!(project);
    }
    if let Some(slug) = asked(key::OS).filter(|slug| *slug != boot::IPXE) {
        section["os"] = json!({ "slug": slug });
    }
    match asked(key::NETWORK) {
        None | Some("") => {}
        Some(network::NEW_NETWORK) => section["virtualNetworks"] = json!([{ "name": "cluster" }]),
        Some(id) => section["virtualNetworks"] = json!([{ "name": "cluster", "id": id }]),
    }
    section
}

/// What was asked about pools.
pub(super) fn pools(answers: &Answers) -> PoolAnswers {
    let asked = |key: Key| answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
    let pool = |plan: Key, further: Key, paid: Key, reserved: Key| {
        let mut pool = json!({});
        if let Some(plan) = asked(plan) {
            let further = servers::items(asked(further).unwrap_or_default());
            pool["plans"] = std::iter::once(plan.to_owned()).chain(further).collect();
        }
        match asked(paid) {
            Some(servers::RESERVED) => {
                if let Some(ids) = asked(reserved) {
                    pool["hardwareReservations"] = servers::items(ids).collect();
                }
            }
            Some(servers::SPOT) => {
                if let Some(cents) = asked(key::SPOT_PRICE).and_then(|cents| cents.parse::<u32>().ok()) {
                    pool["spot"] = json!({ "maxPriceCents": cents });
                }
            }
            _ => {}
        }
        pool
    };
    let masters = [key::MASTER_PLAN, key::FURTHER_MASTER_PLANS, key::MASTERS_PAID, key::MASTERS_RESERVED];
    let workers = [key::WORKER_PLAN, key::FURTHER_WORKER_PLANS, key::WORKERS_PAID, key::WORKERS_RESERVED];
    let [control_plane, mut compute] =
        [masters, workers].map(|[plan, further, paid, reserved]| pool(plan, further, paid, reserved));
    if let Some(Answer::Flag(false)) = answers.get(key::WORKERS_PUBLIC) {
        compute["publicIPv4"] = json!(false);
    }
    PoolAnswers { control_plane, compute, ..PoolAnswers::default() }
}
