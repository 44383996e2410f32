//! What light guests run as pods: the machine controller, the real one, in this process.

use landfall_machines::{Access, Arguments, Metrics, connect, run};
use landfall_platform::error_chain;
use landfall_simulator::guests::{Pod, Programs};
use tokio_util::sync::CancellationToken;

use crate::cluster::providers;

/// The programs of pods.
pub(crate) fn programs() -> Programs {
    Programs::new(|pod: Pod| {
        let options = Arguments::simulated(&pod.command, &pod.name, &pod.namespace, pod.speed)?;
        Some(Box::pin(async move {
            let options = options.map_err(|error| error.to_string())?;
            let client = connect(Access::Kubeconfig(pod.kubeconfig, None)).await;
            let client = client.map_err(|error| error_chain(&error))?;
            let ended = run(client, providers(), options, Metrics::default(), CancellationToken::new()).await;
            ended.map_err(|error| error_chain(&error))
        }))
    })
}
