//! Virtual Fibre Channel ports of a partition that moves: where they are on the other server.

use std::collections::{BTreeMap, BTreeSet};

use super::fibre;
use super::network::slots;
use super::state::{Job, Object, State};
use super::xml::Element;

/// A virtual port, as it will be on the other server.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The id of the VIOS there.
    pub(crate) vios: String,
    /// The port of that VIOS.
    port: String,
    /// The slot of the VIOS that somebody wants for it.
    server_slot: Option<u32>,
    client_slot: u32,
    /// Its two names, that which is used first.
    wwpns: String,
}

impl Arrival {
    /// The mapping that a VIOS shall make of it. A partition that runs logs in there with its other name while the first one is still
    /// in use here: from then on the two have changed places.
    pub(crate) fn mapping(&self, partition: &str, running: bool) -> Element {
        let mut names: Vec<&str> = self.wwpns.split_whitespace().collect();
        if running {
            names.reverse();
        }
        let mut server = Element::new("ServerAdapter");
        if let Some(slot) = self.server_slot {
            server.set("VirtualSlotNumber", slot);
        }
        let client = [Element::leaf("VirtualSlotNumber", self.client_slot), Element::leaf("WWPNs", names.join(" "))];
        Element::of(
            "VirtualFibreChannelMapping",
            [
                Element::reference("AssociatedLogicalPartition", partition.to_owned()),
                Element::of("ClientAdapter", client),
                Element::of("Port", [Element::leaf("PortName", &self.port)]),
                server,
            ],
        )
    }
}

/// What a job wants for one virtual port: `slot/VIOS name/VIOS id[/[VIOS slot][/[port]]]`.
struct Wish<'a> {
    client_slot: u32,
    vios_name: &'a str,
    vios_number: &'a str,
    server_slot: Option<u32>,
    port: &'a str,
}

impl<'a> Wish<'a> {
    fn parse(word: &'a str) -> Result<Self, String> {
        let malformed = || format!("HSCLA315: The virtual Fibre Channel mapping {word} is not valid.");
        let parts: Vec<&str> = word.split('/').collect();
        if !(3..=5).contains(&parts.len()) || parts[1].is_empty() && parts[2].is_empty() {
            return Err(malformed());
        }
        let part = |index: usize| parts.get(index).copied().unwrap_or_default();
        let server_slot = Some(part(3)).filter(|text| !text.is_empty()).map(str::parse);
        Ok(Self {
            client_slot: part(0).parse().map_err(|_| malformed())?,
            vios_name: part(1),
            vios_number: part(2),
            server_slot: server_slot.transpose().map_err(|_| malformed())?,
            port: part(4),
        })
    }

    fn is_for(&self, vios: &Object) -> bool {
        let fits = |wanted: &str, field: &str| wanted.is_empty() || vios.element.text(field) == wanted;
        fits(self.vios_name, "PartitionName") && fits(self.vios_number, "PartitionID")
    }
}

fn wishes(job: &Job) -> Result<Vec<Wish<'_>>, String> {
    let words = job.parameter("VirtualFCMappings").split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(Wish::parse).collect()
}

/// Where the virtual ports of a partition go: where the job wants them; else to the VIOS of the same name, or to any, and there to the
/// port with most room. Or why they cannot go.
pub(crate) fn plan(state: &State, host: usize, target: usize, number: u32, job: &Job) -> Result<Vec<Arrival>, String> {
    let wishes = wishes(job)?;
    let mappings = fibre::of_partition(state, host, number);
    let slot_of = |mapping: &Element| mapping.number::<u32>("ClientAdapter/VirtualSlotNumber").unwrap_or_default();
    let mut named = BTreeSet::new();
    for wish in &wishes {
        let slot = wish.client_slot;
        if !mappings.iter().any(|(_, mapping)| slot_of(mapping) == slot) {
            return Err(format!("HSCLA316: The partition has no virtual Fibre Channel adapter in slot {slot}."));
        }
        if !named.insert(slot) {
            return Err(format!("HSCLA317: The virtual Fibre Channel adapter in slot {slot} is mapped twice."));
        }
    }
    let mut plan = Planner { state, target, used: BTreeMap::new(), taken: BTreeSet::new() };
    let mut arrivals = Vec::new();
    for (vios, mapping) in &mappings {
        let client_slot = slot_of(mapping);
        let wish = wishes.iter().find(|wish| wish.client_slot == client_slot);
        let here = state.object(host, vios).map(|vios| vios.element.text("PartitionName")).unwrap_or_default();
        let (vios, port) = plan.place(client_slot, here, wish)?;
        arrivals.push(Arrival {
            vios,
            port,
            server_slot: wish.and_then(|wish| wish.server_slot),
            client_slot,
            wwpns: mapping.text("ClientAdapter/WWPNs").to_owned(),
        });
    }
    Ok(arrivals)
}

/// Takes room on ports of the other server.
struct Planner<'a> {
    state: &'a State,
    target: usize,
    /// How many of the partition's ports are on a port, by VIOS and name.
    used: BTreeMap<(String, String), u32>,
    /// The slots of VIOSes that are wanted.
    taken: BTreeSet<(String, u32)>,
}

impl Planner<'_> {
    fn place(&mut self, slot: u32, here: &str, wish: Option<&Wish<'_>>) -> Result<(String, String), String> {
        let runs = |vios: &&Object| vios.element.text("PartitionState") == "running";
        let mut vioses: Vec<&Object> = self.state.all(self.target, "VirtualIOServer").filter(runs).collect();
        vioses.retain(|vios| wish.is_none_or(|wish| wish.is_for(vios)));
        if vioses.is_empty() {
            return Err(format!(
                "HSCLA318: The destination has no VIOS for the virtual Fibre Channel adapter in slot {slot}."
            ));
        }
        vioses.sort_by_key(|vios| vios.element.text("PartitionName") != here);
        let wanted = wish.map(|wish| wish.port).unwrap_or_default();
        let found = vioses.iter().find_map(|vios| {
            let ports = fibre::ports(&vios.element).map(|port| port.text("PortName").to_owned());
            let ports = ports.filter(|port| wanted.is_empty() || *port == wanted);
            let roomy = ports.map(|port| (self.room(vios, &port), port)).filter(|(room, _)| *room > 0);
            // The first of those with most.
            let port = roomy.fold(None, |best: Option<(u32, String)>, next| match best {
                Some(best) if best.0 >= next.0 => Some(best),
                _ => Some(next),
            });
            port.map(|(_, port)| (*vios, port))
        });
        let Some((vios, port)) = found else {
            let what = if wanted.is_empty() { "port".to_owned() } else { format!("port {wanted}") };
            return Err(format!(
                "HSCLA319: The destination has no {what} with room for the virtual Fibre Channel adapter in slot {slot}."
            ));
        };
        if let Some(own) = wish.and_then(|wish| wish.server_slot)
            && (slots(self.state, self.target, vios).contains(&own) || !self.taken.insert((vios.id.clone(), own)))
        {
            return Err(format!("HSCLA320: The virtual slot {own} of the VIOS on the destination is in use."));
        }
        *self.used.entry((vios.id.clone(), port.clone())).or_default() += 1;
        Ok((vios.id.clone(), port))
    }

    /// How many more virtual ports a port takes.
    fn room(&self, vios: &Object, name: &str) -> u32 {
        let port = fibre::ports(&vios.element).find(|port| port.text("PortName") == name);
        let free: u32 = port.and_then(|port| port.number("AvailablePorts")).unwrap_or_default();
        free.saturating_sub(self.used.get(&(vios.id.clone(), name.to_owned())).copied().unwrap_or_default())
    }
}
