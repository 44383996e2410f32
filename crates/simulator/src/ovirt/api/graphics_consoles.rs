//! The graphics consoles of VMs and templates.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Console, Template, Vm};
use crate::ovirt::representation::types::GRAPHICS_CONSOLE;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Whose consoles these are.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'s> {
    /// A VM's.
    Vm(&'s Vm),
    /// A template's.
    Template(&'s Template),
}

impl<'s> Owner<'s> {
    fn consoles(self) -> &'s [Console] {
        match self {
            Self::Vm(vm) => &vm.consoles,
            Self::Template(template) => &template.consoles,
        }
    }
}

fn render(view: &mut View, element: &'static str, owner: Owner, console: &Console) {
    let id = console.public_id();
    match owner {
        Owner::Vm(vm) => view.open(element, format_args!("vms/{}/graphicsconsoles/{id}", vm.id), &id),
        Owner::Template(template) => {
            view.open(element, format_args!("templates/{}/graphicsconsoles/{id}", template.id), &id);
        }
    }
    view.out.text("protocol", &console.protocol);
    match owner {
        Owner::Vm(vm) => {
            if let Some(host) = vm.host.and_then(|host| view.state.hosts.get(host)) {
                view.out.text("address", &host.address);
                view.out.text("port", 5900);
            }
            view.reference("vm", "vms", vm.id);
        }
        Owner::Template(template) => view.reference("template", "templates", template.id),
    }
    view.close();
}

impl Console {
    /// The id that the API shows: the engine's is the protocol in hexadecimal, which is what this one is too.
    fn public_id(&self) -> String {
        self.protocol
            .bytes()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect()
    }
}

/// The consoles of an owner, or one of them.
pub(crate) fn sub<'s>(owner: Owner<'s>, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::list("graphics_consoles", "graphics_console", move |view| {
            owner.consoles().iter().for_each(|console| render(view, "graphics_console", owner, console));
        })),
        [id] => {
            let console = owner.consoles().iter().find(|console| console.public_id() == *id);
            let console = console.ok_or_else(Fault::not_found)?;
            Ok(Found::item("graphics_console", move |view, element| render(view, element, owner, console)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// The consoles that a new VM has: those of its template.
pub(crate) fn defaults(state: &State, template: Id) -> Vec<Console> {
    state.templates.get(template).map(|template| template.consoles.clone()).unwrap_or_default()
}

/// Adds a console to a VM.
pub(crate) fn add(call: &mut Call, vm: Id) -> Outcome {
    let tree = call.read(&GRAPHICS_CONSOLE)?;
    let protocol = require(&tree, "GraphicsConsole", "protocol", "add")?;
    let refuse = attempt("add", "Graphics Device");
    let vm = idle(call.state, vm, refuse)?;
    if vm.consoles.iter().any(|console| *console.protocol == *protocol) {
        return Err(refuse.conflict("Graphics Device of this type already exists."));
    }
    let console = Console { protocol: protocol.into() };
    let path = format!("vms/{}/graphicsconsoles/{}", vm.id, console.public_id());
    vm.consoles.push(console);
    Ok(Done::Created { path, job: None })
}

/// Removes a console from a VM.
pub(crate) fn remove(call: &mut Call, vm: Id, id: &str) -> Outcome {
    let vm = idle(call.state, vm, attempt("remove", "Graphics Device"))?;
    let before = vm.consoles.len();
    vm.consoles.retain(|console| console.public_id() != id);
    if vm.consoles.len() == before { Err(Fault::not_found()) } else { Ok(Done::Removed { job: None }) }
}
