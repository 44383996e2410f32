//! How much storage there is.

use serde_json::{Value, json};

use super::workspace;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

const TIERS: [(&str, &str); 3] = [("tier0", "Tier0-Flash-1"), ("tier1", "Tier1-Flash-1"), ("tier3", "Tier3-Flash-1")];
const TOTAL_GB: u64 = 400_000;

pub(super) fn capacity(cloud: &Cloud, ws: &str, rest: &[&str]) -> Answer {
    let own = workspace(cloud, ws)?;
    let pool = |(tier, name): &(&str, &str)| {
        let used: f64 = own.volumes.values().filter(|volume| volume.tier == *tier).map(|volume| volume.size_gb).sum();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small and positive")]
        let left = TOTAL_GB.saturating_sub(used.ceil() as u64);
        json!({
            "poolName": name,
            "storageType": tier,
            "maxAllocationSize": left,
            "availableCapacity": left,
            "totalCapacity": TOTAL_GB,
            "replicationEnabled": false,
        })
    };
    let largest = |pools: &[Value]| {
        let first = pools.first().cloned().unwrap_or_default();
        json!({
            "maxAllocationSize": first["maxAllocationSize"],
            "storagePool": first["poolName"],
            "storageType": first["storageType"],
        })
    };
    let kind = |tier: &(&str, &str)| {
        let pools = vec![pool(tier)];
        json!({ "maximumStorageAllocation": largest(&pools), "storagePoolsCapacity": pools, "storageType": tier.0 })
    };
    let all: Vec<Value> = TIERS.iter().map(pool).collect();
    let body = match rest {
        ["storage-types"] => json!({
            "maximumStorageAllocation": largest(&all),
            "storageTypesCapacity": TIERS.iter().map(kind).collect::<Vec<_>>(),
        }),
        ["storage-types", name] => {
            let found = TIERS.iter().find(|(tier, _)| tier == name);
            kind(found.ok_or_else(|| Refusal::not_found("storage type", name))?)
        }
        ["storage-pools"] => json!({ "maximumStorageAllocation": largest(&all), "storagePoolsCapacity": all }),
        ["storage-pools", name] => {
            let found = TIERS.iter().find(|(_, pool)| pool == name);
            pool(found.ok_or_else(|| Refusal::not_found("storage pool", name))?)
        }
        _ => return Err(Refusal::no_route()),
    };
    Ok(json_reply(200, &body))
}

pub(super) fn tiers() -> Answer {
    let tier = |(tier, _): &(&str, &str)| json!({ "name": tier, "description": tier, "state": "active" });
    Ok(json_reply(200, &Value::Array(TIERS.iter().map(tier).collect())))
}
