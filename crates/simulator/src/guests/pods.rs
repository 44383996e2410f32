//! Programs of pods. A light guest has no containers: whoever starts the simulator hands it what it runs in their place, so that
//! what works in a cluster on its machines is the real program.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use futures::future::BoxFuture;

/// A pod, as its program sees it.
#[derive(Clone, Debug)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The program and its arguments. The machine's own loopback address stands there as the address of the machine: all
    /// machines share one loopback network.
    pub command: Vec<String>,
    /// Leads to the API server of its machine, with all rights.
    pub kubeconfig: String,
    /// The address of its machine.
    pub address: IpAddr,
    /// How much faster than elsewhere time goes by here.
    pub speed: f64,
}

/// What a program is, while it runs; the text says why it ended.
pub type Program = BoxFuture<'static, Result<(), String>>;

/// Programs that guests run as pods. Dropping one that runs is as good as killing it.
#[derive(Clone, Default)]
pub struct Programs(Option<Arc<dyn Fn(Pod) -> Option<Program> + Send + Sync>>);

impl Programs {
    /// Programs that `start` makes of pods; none for those that it does not know.
    pub fn new(start: impl Fn(Pod) -> Option<Program> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(start)))
    }

    pub(super) fn start(&self, pod: Pod) -> Option<Program> {
        self.0.as_ref().and_then(|start| start(pod))
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Programs" } else { "no programs" })
    }
}
