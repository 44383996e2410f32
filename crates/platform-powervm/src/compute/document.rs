//! The document that asks for a partition. Pure, in the order of the schema.

use super::blueprint::{DedicatedSharing, Memory, OperatingSystem, PartitionSpec, Processors, Range, Shape};
use crate::client::{UOM, record};
use crate::xml::Element;

/// Virtual slots of a partition: as many as the platform's own tools give.
const VIRTUAL_SLOTS: u32 = 64;
/// Who keeps processors if some fail, unless something else is said.
const AVAILABILITY_PRIORITY: u8 = 127;

/// The document that makes a partition.
pub(super) fn partition(spec: &PartitionSpec) -> Element {
    let id = spec.id.as_str();
    let shape = &spec.shape;
    let metadata = Element::new("Metadata").with(Element::new("Atom").with(Element::text_of("AtomID", id)));
    let ibm_i = spec.system == OperatingSystem::IbmI;
    let mut slots = record("PartitionIOConfiguration", &[("MaximumVirtualIOSlots", &VIRTUAL_SLOTS)]);
    if ibm_i {
        slots.push(tagged_io(0));
    }
    let mut document = Element::new("LogicalPartition")
        .with_attribute("xmlns", UOM)
        .with_attribute("schemaVersion", "V1_0")
        .with(metadata)
        .with(Element::text_of("AllowPerformanceDataCollection", false))
        .with(Element::text_of("AvailabilityPriority", shape.availability_priority.unwrap_or(AVAILABILITY_PRIORITY)))
        .with(slots)
        .with(memory(shape.memory))
        .with(Element::text_of("PartitionName", &spec.name))
        .with(processors(&shape.processors))
        .with(Element::text_of("PartitionType", if ibm_i { "OS400" } else { "AIX/Linux" }))
        .with(Element::text_of("PartitionUUID", id))
        .with(Element::text_of("PendingProcessorCompatibilityMode", mode(shape)));
    if let Some(mark) = &spec.mark {
        document.push(Element::text_of("Description", mark));
    }
    if let Some(capable) = shape.remote_restart {
        document.push(Element::text_of("SimplifiedRemoteRestartCapable", capable));
    }
    if ibm_i {
        document.push(Element::text_of("IsRestrictedIOPartition", true));
    }
    document
}

/// The slots that IBM i loads from and talks through.
pub(super) fn tagged_io(load_source: u32) -> Element {
    record("TaggedIO", &[("AlternateLoadSource", &"NONE"), ("Console", &"HMC"), ("LoadSource", &load_source)])
}

/// Gives a partition that exists another shape, and leaves all else as it was.
pub(super) fn reshape(partition: &mut Element, name: &str, shape: &Shape) {
    let order = ["PartitionIOConfiguration", "PartitionMemoryConfiguration", "PartitionName"];
    let mut texts = vec![("PartitionName", name.to_owned()), ("PendingProcessorCompatibilityMode", mode(shape))];
    texts.extend(shape.availability_priority.map(|priority| ("AvailabilityPriority", priority.to_string())));
    texts.extend(shape.remote_restart.map(|capable| ("SimplifiedRemoteRestartCapable", capable.to_string())));
    for (element, text) in texts {
        match partition.child_mut(element) {
            Some(child) => child.set_text(&text),
            None => partition.insert(Element::text_of(element, text), &order),
        }
    }
    for wanted in [memory(shape.memory), processors(&shape.processors)] {
        let Some(present) = partition.child_mut(wanted.local_name()) else { continue };
        // What the platform tells about the present stays; only what a client decides is replaced.
        let decided: &[&str] = match present.local_name() {
            "PartitionMemoryConfiguration" => &["DesiredMemory", "MaximumMemory", "MinimumMemory"],
            _ => &[
                "DedicatedProcessorConfiguration",
                "HasDedicatedProcessors",
                "SharedProcessorConfiguration",
                "SharingMode",
            ],
        };
        let kept: Vec<Element> = wanted.into_elements().filter(|child| child.local_name() != "Metadata").collect();
        present.remove(|child| {
            decided.contains(&child.local_name()) && !kept.iter().any(|own| own.local_name() == child.local_name())
        });
        for child in kept {
            present.replace(child, decided);
        }
    }
}

fn mode(shape: &Shape) -> String {
    shape.compatibility_mode.clone().unwrap_or_else(|| "default".to_owned())
}

fn memory(memory: Memory) -> Element {
    record(
        "PartitionMemoryConfiguration",
        &[
            ("DesiredMemory", &memory.desired_mib),
            ("MaximumMemory", &memory.maximum_mib),
            ("MinimumMemory", &memory.minimum_mib),
        ],
    )
}

fn processors(processors: &Processors) -> Element {
    let configuration = record("PartitionProcessorConfiguration", &[]);
    match processors {
        Processors::Shared { virtual_processors: count, units, uncapped_weight, pool } => {
            let hundredths = |number: f64| format!("{number:.2}");
            let mut shared = record(
                "SharedProcessorConfiguration",
                &[
                    ("DesiredProcessingUnits", &hundredths(units.desired)),
                    ("DesiredVirtualProcessors", &count.desired),
                    ("MaximumProcessingUnits", &hundredths(units.maximum)),
                    ("MaximumVirtualProcessors", &count.maximum),
                    ("MinimumProcessingUnits", &hundredths(units.minimum)),
                    ("MinimumVirtualProcessors", &count.minimum),
                    ("SharedProcessorPoolID", pool),
                ],
            );
            if let Some(weight) = uncapped_weight {
                shared.push(Element::text_of("UncappedWeight", weight));
            }
            configuration
                .with(Element::text_of("HasDedicatedProcessors", false))
                .with(shared)
                .with(Element::text_of("SharingMode", if uncapped_weight.is_some() { "uncapped" } else { "capped" }))
        }
        Processors::Dedicated { processors: count, sharing } => configuration
            .with(record(
                "DedicatedProcessorConfiguration",
                &[
                    ("DesiredProcessors", &count.desired),
                    ("MaximumProcessors", &count.maximum),
                    ("MinimumProcessors", &count.minimum),
                ],
            ))
            .with(Element::text_of("HasDedicatedProcessors", true))
            .with(Element::text_of("SharingMode", sharing_word(*sharing))),
    }
}

/// The platform's words, the first of them with its own spelling.
fn sharing_word(sharing: DedicatedSharing) -> &'static str {
    match sharing {
        DedicatedSharing::Keep => "keep idle procs",
        DedicatedSharing::WhenOff => "sre idle proces",
        DedicatedSharing::WhenOn => "sre idle procs active",
        DedicatedSharing::Always => "sre idle procs always",
    }
}

/// The shape that a partition has.
pub(super) fn shape(partition: &Element) -> Shape {
    let text = |path: &str| partition.text_at(path).unwrap_or_default();
    let memory = |name: &str| text(&format!("PartitionMemoryConfiguration/{name}Memory")).parse().unwrap_or_default();
    let processors = |path: String| text(&format!("PartitionProcessorConfiguration/{path}"));
    let count = |list: &str, suffix: &str| {
        let number = |bound: &str| processors(format!("{list}/{bound}{suffix}")).parse().unwrap_or_default();
        Range { minimum: number("Minimum"), desired: number("Desired"), maximum: number("Maximum") }
    };
    let units = |bound: &str| {
        processors(format!("SharedProcessorConfiguration/{bound}ProcessingUnits")).parse().unwrap_or_default()
    };
    let sharing = processors("SharingMode".to_owned());
    Shape {
        memory: Memory {
            minimum_mib: memory("Minimum"),
            desired_mib: memory("Desired"),
            maximum_mib: memory("Maximum"),
        },
        processors: if processors("HasDedicatedProcessors".to_owned()) == "true" {
            let all =
                [DedicatedSharing::Keep, DedicatedSharing::WhenOff, DedicatedSharing::WhenOn, DedicatedSharing::Always];
            let known = all.into_iter().find(|mode| sharing_word(*mode) == sharing);
            Processors::Dedicated {
                processors: count("DedicatedProcessorConfiguration", "Processors"),
                sharing: known.unwrap_or(DedicatedSharing::Keep),
            }
        } else {
            let shared = |name: &str| processors(format!("SharedProcessorConfiguration/{name}")).parse::<u8>().ok();
            Processors::Shared {
                virtual_processors: count("SharedProcessorConfiguration", "VirtualProcessors"),
                units: Range { minimum: units("Minimum"), desired: units("Desired"), maximum: units("Maximum") },
                uncapped_weight: shared("UncappedWeight").filter(|_| sharing == "uncapped"),
                pool: shared("SharedProcessorPoolID").map(u32::from).unwrap_or_default(),
            }
        },
        compatibility_mode: Some(text("PendingProcessorCompatibilityMode")).filter(|mode| !mode.is_empty()),
        availability_priority: text("AvailabilityPriority").parse().ok(),
        remote_restart: text("SimplifiedRemoteRestartCapable").parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::PartitionId;

    fn spec(processors: Processors) -> PartitionSpec {
        PartitionSpec {
            id: PartitionId::from(uuid::Uuid::from_u128(1)),
            name: "a".to_owned(),
            mark: None,
            shape: Shape {
                memory: Memory { minimum_mib: 1024, desired_mib: 2048, maximum_mib: 4096 },
                processors,
                compatibility_mode: Some("POWER9".to_owned()),
                availability_priority: Some(200),
                remote_restart: Some(true),
            },
            system: OperatingSystem::AixLinux,
        }
    }

    #[test]
    fn what_is_asked_for_is_read_back() {
        let all = [
            Processors::shared(2, 0.25),
            Processors::Shared {
                virtual_processors: Range { minimum: 1, desired: 2, maximum: 4 },
                units: Range { minimum: 0.1, desired: 0.5, maximum: 1.0 },
                uncapped_weight: None,
                pool: 3,
            },
            Processors::dedicated(4),
        ];
        for processors in all {
            let spec = spec(processors);
            assert_eq!(shape(&partition(&spec)), spec.shape);
        }
    }

    #[test]
    fn another_shape_replaces_the_whole_of_the_old_one() {
        let (shared, dedicated) = (spec(Processors::shared(2, 0.25)), spec(Processors::dedicated(4)));
        let mut document = partition(&shared);
        reshape(&mut document, "b", &dedicated.shape);
        assert_eq!(shape(&document), dedicated.shape);
        assert_eq!(document.text_at("PartitionName").as_deref(), Some("b"));
        reshape(&mut document, "a", &shared.shape);
        assert_eq!(shape(&document), shared.shape);
    }
}
