//! Whether to join, to begin anew, or to leave everything as it is: one function of what is on the disk and what the cluster says.

use super::{remains::Remains, word::Word};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing: the machine has joined.
    Done,
    /// Join. There is nothing to take back.
    Join,
    /// Take back what is left, which holds no data, and join.
    Reset,
    /// Have the machine's etcd member leave the cluster, which must be able to do without it; then take back what is left, and join.
    LeaveAndReset,
    /// Leave everything as it is, for this reason, and ask again.
    Wait(String),
}

/// Decides. `kubeadm reset` deletes etcd's data, which may be a part of the cluster's only data. So where there may be a member, only the
/// cluster's own answer allows it.
pub(super) fn decide(remains: Remains, word: &Word) -> Decision {
    match word {
        // Confirmed by the cluster before, and half of it may be gone: there is nobody to ask again with, and nothing to lose.
        _ if remains.left => Decision::Reset,
        Word::Complete => Decision::Done,
        // An attempt that was cut off may have left certificates alone, empty ones perhaps, on which kubeadm would fail again and again.
        _ if !remains.any() && !remains.begun => Decision::Join,
        Word::Silent(reason) if !remains.member => {
            Decision::Wait(format!("the cluster cannot be asked whether this machine has joined: {reason}"))
        }
        // Without a member, nothing is lost. kubeadm writes the credentials before it comes to etcd.
        _ if !remains.member => Decision::Reset,
        Word::Silent(reason) | Word::Refused(reason) => Decision::Wait(format!(
            "this machine is not reset while the cluster cannot be asked about its etcd data: {reason}"
        )),
        Word::NotAsked => Decision::Wait(
            "this machine is not reset: it has etcd data and no credentials to ask the cluster about them".to_owned(),
        ),
        Word::Incomplete if !remains.begun => Decision::Wait(
            "this machine is not reset: its etcd data are not from an attempt to join; if nothing needs what is in \
             /var/lib/etcd, move it away"
                .to_owned(),
        ),
        Word::Incomplete => Decision::LeaveAndReset,
    }
}

#[cfg(test)]
mod tests;
