//! Clusters of Power machines.

use crate::{
    configs::{Rendered, powervs},
    view::View,
};

/// All that machines download and run is for their processors, and what the config says about those gets to each machine.
#[test]
fn programs_are_for_power_and_threads_are_set() {
    let rendered = Rendered::new(powervs("platform.powervs.defaultMachinePlatform.smtLevel='4'"));
    for name in ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"] {
        let view = View::new(&rendered.text(name));
        let all = view.unblinded();
        for other in ["amd64", "x86_64", "arm64"] {
            assert!(!all.contains(other), "{other} in\n{all}");
        }
        for program in ["kubernetes-node-linux-ppc64le", "cni-plugins-linux-ppc64le", "runc.ppc64le"] {
            assert!(all.contains(program), "{program} is not in\n{all}");
        }
        let threads = view.file("/etc/tmpfiles.d/90-landfall-smt.conf");
        assert_eq!(threads, "w /sys/devices/system/cpu/smt/control - - - - 4\n");
    }
}
