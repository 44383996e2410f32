//! What has disks, interfaces and consoles: a VM, or the template of VMs.

use super::view::View;
use crate::ovirt::model::{Attachment, Console, Nic, Template, Vm};

/// A VM or a template.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'s> {
    /// A VM.
    Vm(&'s Vm),
    /// A template.
    Template(&'s Template),
}

impl<'s> Owner<'s> {
    /// Its path.
    pub(crate) fn path(self) -> String {
        match self {
            Self::Vm(vm) => format!("vms/{}", vm.id),
            Self::Template(template) => format!("templates/{}", template.id),
        }
    }

    /// Its disks.
    pub(crate) fn attachments(self) -> &'s [Attachment] {
        match self {
            Self::Vm(vm) => &vm.disks,
            Self::Template(template) => &template.disks,
        }
    }

    /// Its interfaces.
    pub(crate) fn nics(self) -> &'s [Nic] {
        match self {
            Self::Vm(vm) => &vm.nics,
            Self::Template(template) => &template.nics,
        }
    }

    /// Its consoles.
    pub(crate) fn consoles(self) -> &'s [Console] {
        match self {
            Self::Vm(vm) => &vm.consoles,
            Self::Template(template) => &template.consoles,
        }
    }

    /// Writes a reference to it.
    pub(crate) fn refer(self, view: &mut View) {
        match self {
            Self::Vm(vm) => view.reference("vm", "vms", vm.id),
            Self::Template(template) => view.reference("template", "templates", template.id),
        }
    }
}
