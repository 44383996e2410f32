//! Looking at one certificate request.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kube::{Api, api::PostParams};

use super::{
    Asked,
    judge::{Surroundings, is_of_kubelets, node_name, refusal},
};
use crate::{Error, error::status_code, events::Level, world::World};

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
    let asked = Asked::read(&request.spec.request.0);
    let node = asked.as_ref().and_then(node_name).unwrap_or_default();
    let machine = world.machines.get(node);
    let now = Timestamp::now();
    let surroundings = Surroundings {
        machine: machine.as_deref(),
        node_exists: world.nodes.cache.get(node).is_some(),
        approved_before: approved_before(&world, &requests, &request, node).await?,
        join_window: world.options.pace.join_window,
        now,
    };
    if let Some(reason) = refusal(&request, asked.as_ref(), &surroundings) {
        world.metrics.judged("left");
        world.events.say(&request, Level::Warning, "NotApproved", &reason).await;
        let sent = request.metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
        let old = now.duration_since(sent).unsigned_abs() > GIVE_UP;
        return Ok((!old).then_some(LOOK_AGAIN));
    }
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

/// Whether a newcomer of that name was let in before: a token that was stolen gets nothing after the machine itself has come.
async fn approved_before(
    world: &World,
    requests: &Api<CertificateSigningRequest>,
    request: &CertificateSigningRequest,
    node: &str,
) -> Result<bool, Error> {
    let Some(machine) = world.machines.get(node) else { return Ok(false) };
    let born = machine.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    let all = requests.list(&Default::default()).await.map_err(Error::api("listing certificate requests"))?;
    Ok(all.items.iter().any(|other| {
        other.metadata.uid != request.metadata.uid
            && other.spec.signer_name == request.spec.signer_name
            && other.metadata.creation_timestamp.as_ref().is_some_and(|time| time.0 >= born)
            && other
                .status
                .iter()
                .flat_map(|status| status.conditions.iter().flatten())
                .any(|known| known.type_ == "Approved")
            && Asked::read(&other.spec.request.0).as_ref().and_then(node_name) == Some(node)
    }))
}
