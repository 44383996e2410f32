"""What moves, what may not, and what two computes tell each other about it.

What Nova passes from one compute to the other during a live migration goes through conductor, which would have to know any type of
ours. So there is none: what a compute says about its server is among the statistics of its node, and what it has prepared for an
instance is among that instance's own data.
"""

from nova import exception
from nova import objects
from nova.objects import migrate_data

from landfall_powervm import fibre
from landfall_powervm import volumes

# For each adapter of an instance that is linked to an Open vSwitch: its VLAN on the host that expects it.
VLAN = "landfall_powervm_vlan_"
# What Nova calls a migration after which one host alone has the instance. One with an error may have come to a halt anywhere.
ENDED = ("completed", "confirmed", "reverted", "failed", "cancelled")


def stays(migration):
    """Whether an instance is resized on the host that it is on."""
    return migration.source_compute == migration.dest_compute


def current(context, instance):
    """The migration that an instance is in the middle of."""
    return objects.Migration.get_by_id(context, instance.migration_context.migration_id)


def is_torn(context, instance):
    """Whether the last thing that happened to an instance is that it came from another host, and that did not come to its end, so that
    both may have something of it."""
    found = objects.MigrationList.get_by_filters(context, {"instance_uuid": instance.uuid})
    last = max(found, key=lambda one: one.id, default=None)
    return last is not None and last.status not in ENDED and not stays(last) and last.dest_compute == instance.host


def check(instance, flavor, block_device_info, on_pool, migration):
    """Refuses what cannot be done, before anything is done. Nova leaves the instance as it is then."""
    old, new = instance.flavor, flavor
    from_image = not volumes.boots_from_volume(block_device_info)
    if from_image and new.root_gb < old.root_gb:
        raise _refused("its disk cannot become smaller")
    if new.ephemeral_gb != old.ephemeral_gb or new.swap != old.swap:
        raise _refused("ephemeral and swap disks stay as they are; choose a flavor with the same")
    has_local = from_image or old.ephemeral_gb or old.swap
    if has_local and not on_pool and not stays(migration):
        raise _refused("its disks are in a volume group of one VIOS, which no other host sees")


def _refused(reason):
    return exception.InstanceFaultRollback(inner_exception=exception.ResizeError(reason=reason))


def only_volumes(context, instance):
    """Whether an instance has no disks but volumes."""
    bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(context, instance.uuid)
    return all(bdm.is_volume for bdm in bdms)


def statistics(system, key, section, address):
    """What other computes need to know of this one's server. Its SSH key is a public one."""
    return {
        "powervm_system": system,
        "powervm_key": key or "",
        "powervm_address": section.migration_address or address,
        "powervm_user": section.migration_user,
    }


def source_key(context, instance):
    """The SSH key of the server that an instance comes from, as its compute tells it; none if it tells none."""
    nodes = objects.ComputeNodeList.get_all_by_host(context, instance.host)
    return (nodes[0].stats or {}).get("powervm_key") or None


def destination(context, host, instance):
    """The server that an instance moves to, as its compute describes it."""
    node = objects.ComputeNodeList.get_all_by_host(context, host)[0]
    stats = node.stats or {}
    if "powervm_system" not in stats:
        raise exception.MigrationPreCheckError(reason=f"{host} is not a PowerVM host of this driver")
    noted = _metadata(context, instance)
    return {
        "name": stats["powervm_system"],
        "memory_region_mib": int(stats["memory_region_size"]),
        "processor_modes": [mode for mode in stats.get("processor_modes", "").split(",") if mode],
        "peer": {"address": stats["powervm_address"], "user": stats["powervm_user"]},
        "vlans": [[key[len(VLAN):], int(vlan)] for key, vlan in noted.items() if key.startswith(VLAN)],
        "fibre": fibre.noted_next(noted),
    }


def _metadata(context, instance):
    """An instance's own data as it is now: one compute has read the instance before the other one has noted anything."""
    return objects.Instance.get_by_uuid(context, instance.uuid, expected_attrs=["system_metadata"]).system_metadata


def note(context, instance, prepared):
    """Notes what an instance has on the host that expects it, instead of what was noted before."""
    metadata = _metadata(context, instance)
    _put_vlans(metadata, prepared["vlans"])
    fibre.put_next(metadata, prepared["fibre"])
    _save(instance, metadata)


def forget(context, instance):
    """Nothing is expected any more: the instance stays where it is."""
    note(context, instance, {"vlans": [], "fibre": []})


def arrive(context, instance):
    """The instance has come, with what was noted for it."""
    metadata = _metadata(context, instance)
    _put_vlans(metadata, [])
    fibre.arrive(metadata)
    _save(instance, metadata)


def _put_vlans(metadata, vlans):
    for key in [key for key in metadata if key.startswith(VLAN)]:
        del metadata[key]
    metadata.update({VLAN + mac.replace(":", "").upper(): str(vlan) for mac, vlan in vlans})


def _save(instance, metadata):
    instance.system_metadata = metadata
    instance.save()


def data():
    """What Nova passes on. Of the types that it has, only some make it tell the destination when a migration fails; this is the
    smallest of them."""
    kind = getattr(migrate_data, "HyperVLiveMigrateData", None)
    return kind(is_shared_instance_path=True) if kind else migrate_data.LiveMigrateData()
