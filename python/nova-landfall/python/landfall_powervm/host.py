"""What the server has, as Nova counts it."""

import math
import uuid

import os_resource_classes as orc
import os_traits
from nova.compute import power_state
from nova.objects import fields
from oslo_serialization import jsonutils

# Only the major level is known, and conductor compares it: an instance moves only to a host of the same or a newer one.
HYPERVISOR_VERSION = 8

SUPPORTED_INSTANCES = [
    (fields.Architecture.PPC64, fields.HVType.PHYP, fields.VMMode.HVM),
    (fields.Architecture.PPC64LE, fields.HVType.PHYP, fields.VMMode.HVM),
]

POWER_STATES = {
    "running": power_state.RUNNING,
    "starting": power_state.RUNNING,
    "open firmware": power_state.RUNNING,
    "shutting down": power_state.RUNNING,
    "suspending": power_state.RUNNING,
    "migrating running": power_state.RUNNING,
    "not activated": power_state.SHUTDOWN,
    "migrating not active": power_state.SHUTDOWN,
    "suspended": power_state.SUSPENDED,
    "resuming": power_state.SUSPENDED,
    "error": power_state.CRASHED,
}


def nova_power_state(state):
    return POWER_STATES.get((state or "").lower(), power_state.NOSTATE)


def available(resources, hostname, more_stats):
    """What get_available_resource tells."""
    return {
        "vcpus": math.ceil(resources["processors"]),
        "vcpus_used": math.ceil(resources["processorsUsed"]),
        "memory_mb": resources["memoryMib"],
        "memory_mb_used": resources["memoryUsedMib"],
        "local_gb": int(resources["storageGib"]),
        "local_gb_used": math.ceil(resources["storageUsedGib"]),
        "disk_available_least": int(resources["storageGib"] - resources["storageUsedGib"]),
        "hypervisor_type": fields.HVType.PHYP,
        "hypervisor_version": HYPERVISOR_VERSION,
        "hypervisor_hostname": hostname,
        "cpu_info": jsonutils.dumps({"vendor": "ibm", "arch": "ppc64"}),
        "numa_topology": None,
        "supported_instances": SUPPORTED_INSTANCES,
        "stats": {
            "proc_units": "%.2f" % resources["processors"],
            "proc_units_used": "%.2f" % resources["processorsUsed"],
            "memory_region_size": resources["memoryRegionMib"],
            "processor_modes": ",".join(resources["processorModes"]),
            **more_stats,
        },
    }


def inventory(resources, ratios, reserved):
    """What placement is told."""
    totals = {
        orc.VCPU: math.ceil(resources["processors"]),
        orc.MEMORY_MB: resources["memoryMib"],
        orc.DISK_GB: int(resources["storageGib"]),
    }
    # Placement refuses an inventory of nothing.
    return {
        name: {"total": total, "max_unit": total, "allocation_ratio": ratios[name], "reserved": reserved[name]}
        for name, total in totals.items()
        if total > 0
    }


def share_pool(tree, nodename, pool, disk, namespace=uuid.NAMESPACE_URL):
    """Makes a provider of its own of the pool, which the node shares with all hosts that see it."""
    name = f"powervm-pool-{pool}"
    identity = str(uuid.uuid5(namespace, name))
    group = str(uuid.uuid5(namespace, name + "-hosts"))
    if not tree.exists(name):
        tree.new_root(name, identity)
    tree.update_inventory(name, {orc.DISK_GB: disk})
    tree.add_traits(name, os_traits.MISC_SHARES_VIA_AGGREGATE)
    for member in (name, nodename):
        tree.update_aggregates(member, set(tree.data(member).aggregates) | {group})


def traits(resources):
    """The processor modes that placement has names for."""
    wanted = {"HW_CPU_PPC64LE_" + mode.upper() for mode in resources["processorModes"]}
    return wanted & set(os_traits.get_traits("HW_CPU_PPC64LE"))
