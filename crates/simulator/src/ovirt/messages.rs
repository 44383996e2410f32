//! The engine's own words for its refusals. Clients match some of them, so they are to the letter.

use super::fault::Fault;

/// What was attempted on what, as the messages have it: `Cannot run VM. …`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// The verb.
    pub(crate) action: &'static str,
    /// The kind of thing.
    pub(crate) on: &'static str,
}

/// An attempt to `action` a thing of the kind `on`.
pub(crate) const fn attempt(action: &'static str, on: &'static str) -> Attempt {
    Attempt { action, on }
}

impl Attempt {
    /// `Cannot … . <rest>` as a conflict.
    pub(crate) fn conflict(self, rest: &str) -> Fault {
        Fault::conflict(self.say(rest))
    }

    /// `Cannot … . <rest>` as a bad request.
    pub(crate) fn invalid(self, rest: &str) -> Fault {
        Fault::invalid(self.say(rest))
    }

    fn say(self, rest: &str) -> String {
        format!("Cannot {} {}. {rest}", self.action, self.on)
    }

    pub(crate) fn vm_locked(self) -> Fault {
        let Self { action, on } = self;
        Fault::conflict(format!("Cannot {action} {on}: VM is locked. Please try again in a few minutes."))
    }

    pub(crate) fn disk_locked(self) -> Fault {
        let Self { action, on } = self;
        Fault::conflict(format!("Cannot {action} {on}: Disk is locked. Please try again later."))
    }

    pub(crate) fn disks_locked(self, aliases: &[&str]) -> Fault {
        let (Self { action, on }, aliases) = (self, aliases.join(", "));
        Fault::conflict(format!(
            "Cannot {action} {on}: The following disks are locked: {aliases}. Please try again in a few minutes."
        ))
    }

    pub(crate) fn object_locked(self) -> Fault {
        self.conflict("Related operation is currently in progress. Please try again later.")
    }

    pub(crate) fn name_in_use(self) -> Fault {
        self.conflict(&format!("The {} name is already in use, please choose a unique name and try again.", self.on))
    }

    pub(crate) fn vm_running(self) -> Fault {
        self.conflict("VM is running.")
    }

    pub(crate) fn vm_not_running(self) -> Fault {
        self.conflict("VM is not running.")
    }

    pub(crate) fn vm_not_down(self) -> Fault {
        self.conflict("At least one of the VMs is not down.")
    }

    /// The status as the engine's own enumeration spells it: `PoweringUp`.
    pub(crate) fn vm_status(self, status: &str) -> Fault {
        let Self { action, on } = self;
        let status: String = status.split('_').map(capitalised).collect();
        Fault::conflict(format!("Cannot {action} {on} because the VM is in {status} status."))
    }

    pub(crate) fn delete_protected(self) -> Fault {
        self.conflict("Delete protection is enabled. In order to delete, disable Delete protection first.")
    }

    pub(crate) fn no_space(self, domain: &str) -> Fault {
        self.conflict(&format!("Low disk space on Storage Domain {domain}."))
    }

    pub(crate) fn cluster_quota(self) -> Fault {
        self.conflict("Quota has insufficient cluster resources.")
    }

    pub(crate) fn storage_quota(self) -> Fault {
        self.conflict("Quota has insufficient storage resources.")
    }

    /// The disks of a VM do not include one that it could boot from.
    pub(crate) fn no_bootable_disk(self) -> Fault {
        let Self { action, on } = self;
        Fault::conflict(format!(
            "Cannot {action} {on} without at least one bootable disk.\nAlternatives:\n- Create a disk for this VM, and \
             rerun the VM.\n- Change the boot sequence using the Edit VM command (Boot Option Sub-Tab).\n- Use the 'Run \
             Once' command to select a different boot option and rerun the VM."
        ))
    }

    /// No host is left after filtering; `reasons` has one line per host.
    pub(crate) fn no_host(self, reasons: &[String]) -> Fault {
        let headline =
            self.say("There is no host that satisfies current scheduling constraints. See below for details:");
        let lines: Vec<&str> = std::iter::once(headline.as_str()).chain(reasons.iter().map(String::as_str)).collect();
        Fault::conflicts(&lines)
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_find_the_words_that_they_match() {
        let detail = |fault: Fault| fault.text.unwrap().detail;
        let run = attempt("run", "VM");
        assert!(detail(run.vm_locked()).contains("VM is locked"));
        assert!(detail(run.disk_locked()).contains("Disk is locked"));
        assert!(detail(run.object_locked()).contains("Related operation is currently in progress."));
        assert!(detail(run.no_bootable_disk()).contains("Cannot run VM without at least one bootable disk."));
        assert_eq!(detail(run.vm_status("powering_up")), "[Cannot run VM because the VM is in PoweringUp status.]");
        assert_eq!(
            detail(run.no_host(&["The host a did not satisfy internal filter Memory.".into()])),
            "[Cannot run VM. There is no host that satisfies current scheduling constraints. See below for details:, \
             The host a did not satisfy internal filter Memory.]"
        );
    }
}
