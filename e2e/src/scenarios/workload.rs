//! A Deployment with a Service: pods on all nodes, reached by name.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::cluster::Cluster;
use crate::waiting::until;

const MANIFEST: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: web, image: 'landfall.invalid/web:1', imagePullPolicy: Never}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
";

/// Runs a Deployment on all nodes, and calls its Service by name from each until all of its pods have answered.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let began = Instant::now();
    cluster.apply(MANIFEST).await?;
    cluster.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s", "--request-timeout=0"]).await?;
    let rolled_out = began.elapsed();
    let pods = cluster.list(&["pods", "--selector=app=web"]).await?;
    let names: Vec<String> = pods.iter().filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned())).collect();
    let nodes: BTreeSet<_> = pods.iter().filter_map(|pod| pod["spec"]["nodeName"].as_str()).collect();
    ensure!(nodes.len() == 4, "pods are on {nodes:?} only");
    for pod in &names {
        let inside = |command: &[&str]| {
            let arguments: Vec<String> =
                ["exec", pod, "--", "/web"].iter().chain(command).map(|word| (*word).to_owned()).collect();
            async move { cluster.kubectl(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await }
        };
        until("the service's name", Duration::from_mins(1), || inside(&["lookup", "web.default.svc.cluster.local"]))
            .await
            .with_context(|| format!("in {pod}"))?;
        let (mut answered, mut refused) = (BTreeSet::new(), None);
        for _ in 0..60 {
            match inside(&["get", "http://web/"]).await {
                Ok(name) => drop(answered.insert(name.trim().to_owned())),
                // A node learns of pods a moment after they are there.
                Err(error) => {
                    refused = Some(error);
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
            if answered.len() == names.len() {
                break;
            }
        }
        ensure!(answered.len() == names.len(), "of {names:?} only {answered:?} answered {pod}; refused: {refused:?}");
    }
    Ok(format!("4 pods on 4 nodes after {:.1} s; each reaches all by the service's name", rolled_out.as_secs_f64()))
}
