//! systemd units of what is downloaded.

use super::NodeUnit;

/// Unpacks the downloads, which Ignition cannot.
pub(super) fn unpack() -> NodeUnit {
    NodeUnit::enabled("landfall-unpack.service", include_str!("../../templates/units/landfall-unpack.service"))
}

/// containerd from the downloads, also where the operating system brings another one.
pub(super) fn containerd() -> NodeUnit {
    NodeUnit::enabled("containerd.service", include_str!("../../templates/units/containerd.service"))
}

/// The kubelet, with the settings in a drop-in of the name that kubeadm's packages use.
pub(super) fn kubelet() -> NodeUnit {
    NodeUnit {
        dropins: vec![(
            "10-kubeadm.conf".to_owned(),
            include_str!("../../templates/units/kubelet-kubeadm.conf").to_owned(),
        )],
        ..NodeUnit::enabled("kubelet.service", include_str!("../../templates/units/kubelet.service"))
    }
}
