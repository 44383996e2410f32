"""Live migrations in the middle of which a compute has died, as far as Nova has to hear of them.

Nova lets an instance be where it was. On the server it may have moved by then; and the host that it should have moved to has something
prepared for it, which nobody asks it to remove.
"""

from nova import exception
from nova import objects
from nova.compute import rpcapi
from nova.compute import task_states
from nova.network import neutron
from oslo_log import log as logging

from landfall_powervm import migration as moves

LOG = logging.getLogger(__name__)

# What Nova calls a migration that has come to nothing.
FAILED = ("failed", "error", "cancelled")


def finish(context, uuid, host, allocations):
    """Does what Nova does after a live migration: the instance is on the other host now. Its volumes may still be shown to this one, by
    attachments that only the compute that died has known. `allocations` is the client of Placement."""
    found = objects.MigrationList.get_by_filters(context, {"instance_uuid": uuid, "migration_type": "live-migration", "source_compute": host})
    migration = max(found, key=lambda one: one.id, default=None)
    if migration is None or migration.status in FAILED:
        LOG.error("Instance %s has moved to another server, and Nova knows of no migration that could be the reason", uuid)
        return
    if migration.status == "completed":
        return
    instance = objects.Instance.get_by_uuid(context, uuid, expected_attrs=["info_cache", "metadata", "system_metadata", "flavor"])
    LOG.warning("It has moved to %s while no compute was here; its volumes may still be attached to this host, too",
                migration.dest_compute, instance=instance)
    try:
        neutron.API().migrate_instance_start(context, instance, migration)
        rpcapi.ComputeAPI().post_live_migration_at_destination(context, instance, False, migration.dest_compute)
        migration.status = "completed"
    except Exception:
        LOG.exception("%s cannot finish the migration", migration.dest_compute, instance=instance)
        _put(context, instance, migration.dest_compute)
        migration.status = "error"
    migration.save()
    try:
        allocations.delete_allocation_for_instance(context, migration.uuid, consumer_type="migration")
    except Exception:
        LOG.exception("What is allocated here for it stays; 'nova-manage placement audit --delete' removes it", instance=instance)


def _put(context, instance, host):
    """Lets an instance be on a host, as Nova does if that host does not answer after a live migration."""
    instance.refresh()
    if instance.host == host:
        return
    moves.arrive(context, instance)
    instance.apply_migration_context()
    instance.drop_migration_context()
    instance.host = host
    node = objects.ComputeNode.get_first_node_by_host_for_old_compat(context, host)
    instance.node = node.hypervisor_hostname
    if "compute_id" in instance.fields:
        # Since release 29.
        instance.compute_id = node.id
    instance.task_state = None
    instance.progress = 0
    instance.save()


def is_expected(context, uuid):
    """Whether an instance is on its way to some host."""
    try:
        instance = objects.Instance.get_by_uuid(context, uuid)
    except exception.InstanceNotFound:
        return False
    return instance.task_state == task_states.MIGRATING
