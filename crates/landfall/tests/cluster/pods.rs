//! What the machines of simulated clusters run as pods: the machine controller, in this process.

use std::sync::Arc;

use landfall_machines::{Access, Arguments, Metrics, connect, run};
use landfall_platform::MachineProvider;
use landfall_simulator::guests::{Pod, Programs};
use tokio_util::sync::CancellationToken;

/// The programs of pods.
pub(crate) fn programs() -> Programs {
    Programs::new(|pod: Pod| {
        let options = Arguments::simulated(&pod.command, &pod.name, &pod.namespace, pod.speed)?;
        let providers: Vec<Arc<dyn MachineProvider>> = vec![
            Arc::new(landfall_platform_ovirt::Provider),
            Arc::new(landfall_platform_packet::Provider),
            Arc::new(landfall_platform_powervm::Provider),
        ];
        Some(Box::pin(async move {
            let client = connect(Access::Kubeconfig(pod.kubeconfig, None)).await.map_err(|error| error.to_string())?;
            let options = options.map_err(|error| error.to_string())?;
            let ended = run(client, providers, options, Metrics::default(), CancellationToken::new()).await;
            ended.map_err(|error| error.to_string())
        }))
    })
}
