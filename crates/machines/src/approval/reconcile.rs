//! Looking at one certificate request.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use landfall_machine_api::{CertificateRequest, KubeletRequest, Wish, requested_node};

use super::judge::{Surroundings, addresses, refusal};
use crate::{Error, error::status_code, events::Level, nodes, world::World};

/// A machine whose instance has just come up may ask before its object says so.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// Requests that nobody approved go away after an hour; there is no use in looking longer.
const GIVE_UP: Duration = Duration::from_mins(30);

/// Looks at one request. Returns when to look again, if by then nothing has happened.
pub(crate) async fn reconcile(world: Arc<World>, name: String) -> Result<Option<Duration>, Error> {
    let requests: Api<CertificateSigningRequest> = Api::all(world.client.clone());
    let found = requests.get_opt(&name).await.map_err(Error::api(format!("reading certificate request {name}")))?;
    let Some(mut request) = found.filter(|request| is_of_kubelets(request) && is_pending(request)) else {
        return Ok(None);
    };
    let now = Timestamp::now();
    let sent = request.metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
    let read = read(&request);
    let reason = match &read {
        Err(reason) => Some(reason.clone()),
        Ok(asked) => judge(&world, &requests, &request, asked, sent).await?,
    };
    if let Some(reason) = reason {
        world.metrics.judged("left");
        world.events.say(&request, Level::Warning, "NotApproved", &reason).await;
        let old = now.duration_since(sent).unsigned_abs() > GIVE_UP;
        return Ok((!old).then_some(LOOK_AGAIN));
    }
    let node = read.map(|asked| asked.node).unwrap_or_default();
    let user = request.spec.username.clone().unwrap_or_default();
    let mut status = request.status.take().unwrap_or_default();
    status.conditions = Some(vec![CertificateSigningRequestCondition {
        type_: "Approved".to_owned(),
        status: "True".to_owned(),
        reason: Some("LandfallMachine".to_owned()),
        message: Some("name, addresses and age are those of a machine of this cluster".to_owned()),
        ..CertificateSigningRequestCondition::default()
    }]);
    request.status = Some(status);
    match requests.replace_subresource("approval", &name, &PostParams::default(), &request).await {
        Err(error) if status_code(&error) != Some(404) => {
            return Err(Error::api(format!("approving certificate request {name}"))(error));
        }
        _ => {}
    }
    world.metrics.judged("approved");
    tracing::info!(request = name, user, node, "certificate approved");
    Ok(None)
}

/// Whether nobody has decided about a request.
pub(crate) fn is_pending(request: &CertificateSigningRequest) -> bool {
    let status = request.status.as_ref();
    status.is_none_or(|status| status.certificate.is_none() && status.conditions.iter().flatten().next().is_none())
}

/// Whether a request is for one of the kinds of certificates that kubelets have.
pub(crate) fn is_of_kubelets(request: &CertificateSigningRequest) -> bool {
    CertificateRequest::is_of_kubelets(&request.spec.signer_name)
}

fn read(request: &CertificateSigningRequest) -> Result<KubeletRequest, String> {
    let spec = &request.spec;
    let texts = |list: &'_ Option<Vec<String>>| list.clone().unwrap_or_default();
    let (groups, usages) = (texts(&spec.groups), texts(&spec.usages));
    CertificateRequest {
        signer: &spec.signer_name,
        user: spec.username.as_deref().unwrap_or_default(),
        groups: groups.iter().map(String::as_str).collect(),
        usages: usages.iter().map(String::as_str).collect(),
        pem: &spec.request.0,
    }
    .read()
}

/// Why a request is not approved; none if it is.
async fn judge(
    world: &World,
    requests: &Api<CertificateSigningRequest>,
    request: &CertificateSigningRequest,
    asked: &KubeletRequest,
    sent: Timestamp,
) -> Result<Option<String>, Error> {
    let machine = world.machines.get(&asked.node);
    let mut surroundings = Surroundings {
        machine: machine.as_deref(),
        node_exists: world.nodes.cache.get(&asked.node).is_some(),
        approved_before: false,
        superseded: false,
        join_window: world.options.pace.join_window,
        sent,
        networks: &world.options.networks,
        rival: rival(world, asked),
    };
    if let (Wish::First, Some(machine)) = (&asked.wish, &machine) {
        let all = requests.list(&ListParams::default()).await.map_err(Error::api("listing certificate requests"))?;
        let born = machine.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        let created = |other: &CertificateSigningRequest| other.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let rivals = all.items.iter().filter(|other| {
            other.metadata.uid != request.metadata.uid
                && other.spec.signer_name == request.spec.signer_name
                && created(other).is_some_and(|at| at >= born)
                && requested_node(&other.spec.request.0).as_ref() == Some(&asked.node)
        });
        for rival in rivals {
            // A token that was stolen gets nothing after the machine itself has come.
            surroundings.approved_before |= is_approved(rival);
            surroundings.superseded |= is_pending(rival) && created(rival) > Some(sent);
        }
    }
    Ok(refusal(asked, &surroundings))
}

/// Returns the name of another machine or node that has an address of a request.
fn rival(world: &World, asked: &KubeletRequest) -> Option<String> {
    let claimed = asked.wish.addresses();
    let machines = world
        .machines
        .filter(|machine| machine.name() != asked.node && addresses(machine).any(|address| claimed.contains(&address)));
    let nodes = world.nodes.cache.filter(|node| {
        let listed = node.status.iter().flat_map(|status| status.addresses.iter().flatten());
        let mut parsed = listed.filter_map(|listed| listed.address.parse().ok());
        nodes::name(node) != asked.node && parsed.any(|address| claimed.contains(&address))
    });
    let machine = machines.first().map(|machine| machine.name().to_owned());
    machine.or_else(|| nodes.first().map(|node| nodes::name(node).to_owned()))
}

fn is_approved(request: &CertificateSigningRequest) -> bool {
    let conditions = request.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|known| known.type_ == "Approved")
}
