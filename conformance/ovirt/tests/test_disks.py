"""Disks: made, grown, copied, attached, removed; and the space of the storage domain that they use up."""

import ovirtsdk4 as sdk
import pytest
from conftest import GIB
from ovirtsdk4 import types

from simulator import wait_for


def test_a_new_disk_is_locked_and_then_ok(system, world):
    disks = system.disks_service()
    disk = disks.add(
        types.Disk(
            name="fresh",
            format=types.DiskFormat.RAW,
            sparse=True,
            provisioned_size=3 * GIB,
            storage_domains=[types.StorageDomain(name=world.storage_domain.name)],
        )
    )
    assert disk.status == types.DiskStatus.LOCKED
    with pytest.raises(sdk.Error) as refused:
        disks.disk_service(disk.id).remove()
    assert refused.value.code == 409
    disk = world.wait_disk(disk)
    assert (disk.alias, disk.provisioned_size, disk.format, disk.sparse) == (
        "fresh",
        3 * GIB,
        types.DiskFormat.RAW,
        True,
    )
    assert disk.storage_domains[0].id == world.storage_domain.id
    assert disk.storage_type == types.DiskStorageType.IMAGE
    assert disk.content_type == types.DiskContentType.DATA
    assert disk.image_id and disk.disk_profile.id
    disks.disk_service(disk.id).remove()
    world.wait_gone("the disk", disks.disk_service(disk.id))


def test_a_disk_grows_and_never_shrinks(world):
    disk = world.add_disk(size=1 * GIB)
    vm = world.add_vm()
    world.attach_disk(vm, disk)
    attachments = world.vm_service(vm).disk_attachments_service()
    attachment = attachments.attachment_service(disk.id)
    attachment.update(types.DiskAttachment(disk=types.Disk(provisioned_size=2 * GIB)))
    service = world.disk_service(disk)
    wait_for("the larger disk", service.get, lambda d: d.status == types.DiskStatus.OK)
    assert service.get().provisioned_size == 2 * GIB
    with pytest.raises(sdk.Error) as refused:
        attachment.update(types.DiskAttachment(disk=types.Disk(provisioned_size=1 * GIB)))
    assert refused.value.code in (400, 409)
    assert service.get().provisioned_size == 2 * GIB
    world.remove_vm(vm)


def test_space_is_used_up_and_given_back(system, world):
    world.wait_quiet()
    service = system.storage_domains_service().storage_domain_service(world.storage_domain.id)
    before = service.get()
    disk = world.add_disk(size=10 * GIB, format=types.DiskFormat.RAW, sparse=False)
    taken = service.get()
    assert before.available - taken.available == 10 * GIB
    assert taken.used - before.used == 10 * GIB
    world.disk_service(disk).remove()
    world.wait_gone("the disk", world.disk_service(disk))
    assert service.get().available == before.available


def test_a_disk_larger_than_the_domain_is_refused(system, world):
    free = system.storage_domains_service().storage_domain_service(world.storage_domain.id).get().available
    with pytest.raises(sdk.Error) as refused:
        world.add_disk(size=free + GIB, format=types.DiskFormat.RAW, sparse=False)
    assert refused.value.code == 409
    assert "disk space" in refused.value.fault.detail.lower()


def test_copies_have_an_id_of_their_own(system, world):
    disk = world.add_disk(name="original")
    world.disk_service(disk).copy(
        disk=types.Disk(name="the copy"), storage_domain=types.StorageDomain(id=world.storage_domain.id)
    )
    disks = system.disks_service()
    copies = wait_for("the copy", lambda: disks.list(search='name="the copy"'), bool)
    copy = world.wait_disk(copies[0])
    assert copy.id != disk.id
    assert copy.provisioned_size == disk.provisioned_size
    world.wait_disk(disk)


def test_a_disk_is_attached_once_unless_it_is_shareable(world):
    first, second = world.add_vm(), world.add_vm()
    disk = world.add_disk()
    world.attach_disk(first, disk)
    with pytest.raises(sdk.Error) as refused:
        world.attach_disk(second, disk)
    assert refused.value.code in (400, 409)
    shared = world.add_disk(format=types.DiskFormat.RAW, shareable=True)
    world.attach_disk(first, shared, bootable=False)
    world.attach_disk(second, shared, bootable=False)
    attachments = world.vm_service(second).disk_attachments_service()
    attachments.attachment_service(shared.id).remove(detach_only=True)
    assert attachments.list() == []
    world.remove_vm(second)
    world.remove_vm(first)


def test_a_disk_of_a_running_vm_cannot_be_removed(world):
    vm = world.add_vm()
    disk = world.add_disk()
    world.attach_disk(vm, disk)
    world.vm_service(vm).start()
    world.wait_vm(vm, types.VmStatus.UP)
    with pytest.raises(sdk.Error) as refused:
        world.disk_service(disk).remove()
    assert refused.value.code == 409
    world.vm_service(vm).stop()
    world.remove_vm(vm)


@pytest.mark.parametrize(
    "fields",
    [
        {"provisioned_size": None},
        {"storage_domains": [types.StorageDomain(name="nowhere")]},
        {"format": types.DiskFormat.COW, "sparse": False},
    ],
)
def test_what_cannot_be_created_says_why(system, world, fields):
    good = {
        "name": world.name("bad"),
        "format": types.DiskFormat.COW,
        "sparse": True,
        "provisioned_size": GIB,
        "storage_domains": [types.StorageDomain(id=world.storage_domain.id)],
    }
    with pytest.raises(sdk.Error) as refused:
        system.disks_service().add(types.Disk(**{**good, **fields}))
    assert refused.value.code in (400, 404, 409)
    assert refused.value.fault.detail
