"""A VM's life: from a template or from nothing, with initialization, started, changed, stopped, removed."""

import json

import ovirtsdk4 as sdk
import pytest
from conftest import GIB, MIB
from ovirtsdk4 import types

from simulator import wait_for

IGNITION = json.dumps(
    {
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [{"path": "/etc/motd", "contents": {"source": "data:,a%20%3C%26%3E%20%22b%22"}}]},
    }
)


@pytest.fixture(scope="module")
def template(world):
    return world.add_template(os=types.OperatingSystem(type="rhcos_x64"), memory=2 * GIB)


def test_from_template_with_initialization_to_the_end(system, world, template, engine):
    vms = system.vms_service()
    name = world.name("node")
    vm = vms.add(
        types.Vm(
            name=name,
            cluster=types.Cluster(id=world.cluster.id),
            template=types.Template(id=template.id),
            memory=4 * GIB,
            memory_policy=types.MemoryPolicy(guaranteed=1 * GIB, max=8 * GIB),
            cpu=types.Cpu(topology=types.CpuTopology(cores=2, sockets=2, threads=1)),
            type=types.VmType.SERVER,
            initialization=types.Initialization(custom_script=IGNITION, host_name="node.example.test"),
        )
    )
    # Making a VM on a template's disks takes a while, and the VM is locked meanwhile.
    assert vm.status == types.VmStatus.IMAGE_LOCKED
    with pytest.raises(sdk.Error) as refused:
        world.vm_service(vm).start()
    assert refused.value.code == 409
    assert "locked" in refused.value.fault.detail.lower()

    vm = world.wait_vm(vm, types.VmStatus.DOWN)
    assert (vm.name, vm.memory, vm.type) == (name, 4 * GIB, types.VmType.SERVER)
    assert (vm.memory_policy.guaranteed, vm.memory_policy.max) == (1 * GIB, 8 * GIB)
    assert (vm.cpu.topology.cores, vm.cpu.topology.sockets, vm.cpu.topology.threads) == (2, 2, 1)
    assert vm.os.type == "rhcos_x64", "taken from the template"
    assert vm.initialization.custom_script == IGNITION
    assert vm.initialization.host_name == "node.example.test"
    assert vm.template.id == template.id

    service = world.vm_service(vm)
    attachments = service.disk_attachments_service().list()
    assert len(attachments) == 1
    assert (attachments[0].bootable, attachments[0].id) == (True, attachments[0].disk.id)
    disk = world.disk_service(attachments[0].disk).get()
    template_disks = system.templates_service().template_service(template.id).disk_attachments_service().list()
    assert disk.id != template_disks[0].disk.id
    assert disk.status == types.DiskStatus.OK
    nics = service.nics_service().list()
    assert [nic.vnic_profile.id for nic in nics] == [world.vnic_profile.id]
    assert len(nics[0].mac.address.split(":")) == 6

    service.start()
    seen = set()

    def look():
        seen.add(str(service.get().status))
        return service.get()

    vm = wait_for("the VM up", look, lambda vm: vm.status == types.VmStatus.UP)
    assert seen & {"wait_for_launch", "powering_up"}, seen
    assert vm.host.id in [host.id for host in world.hosts]
    assert vm.start_time is not None

    # What the guest finds: the Ignition config, with nothing but the host name added.
    drive = engine.admin("GET", f"/ovirt/vms/{vm.id}/config-drive")
    delivered = json.loads(drive["files"]["openstack/latest/user_data"])
    assert delivered["ignition"] == {"version": "3.2.0"}
    assert "/etc/motd" in [file["path"] for file in delivered["storage"]["files"]]
    assert "/etc/hostname" in [file["path"] for file in delivered["storage"]["files"]]

    devices = wait_for("an address", service.reported_devices_service().list, bool)
    device = next(d for d in devices if d.type == types.ReportedDeviceType.NETWORK)
    assert device.mac.address.lower() == nics[0].mac.address.lower()
    assert any(ip.version == types.IpVersion.V4 for ip in device.ips)

    with pytest.raises(sdk.Error) as refused:
        service.remove()
    assert refused.value.code == 409
    with pytest.raises(sdk.Error) as refused:
        service.start()
    assert refused.value.code == 409

    service.stop()
    vm = world.wait_vm(vm, types.VmStatus.DOWN)
    assert vm.host is None
    service.remove()
    world.wait_gone("the VM", service)
    world.wait_gone("its disk", world.disk_service(disk))
    assert vms.list(search=f"name={name}") == []


def test_a_thin_vm_keeps_its_template_and_a_clone_does_not(system, world, template):
    templates = system.templates_service()
    other = world.add_template()
    thin = world.add_vm(template=other.name)
    clone = world.add_vm(template=template.name, query={"clone": True})
    assert thin.template.id == other.id
    assert clone.template.name is None or clone.template.id == "00000000-0000-0000-0000-000000000000"
    with pytest.raises(sdk.Error) as refused:
        templates.template_service(other.id).remove()
    assert refused.value.code == 409
    assert thin.name in refused.value.fault.detail
    world.remove_vm(thin)
    templates.template_service(other.id).remove()
    world.wait_gone("the template", templates.template_service(other.id))
    world.remove_vm(clone)


def test_disks_of_a_template_can_be_overridden(system, world, template):
    source = system.templates_service().template_service(template.id).disk_attachments_service().list()[0]
    vm = world.add_vm(
        template=template.name,
        query={"clone": True},
        disk_attachments=[
            types.DiskAttachment(
                disk=types.Disk(
                    id=source.disk.id,
                    format=types.DiskFormat.RAW,
                    sparse=False,
                    storage_domains=[types.StorageDomain(id=world.storage_domain.id)],
                )
            )
        ],
    )
    attachment = world.vm_service(vm).disk_attachments_service().list()[0]
    disk = world.disk_service(attachment.disk).get()
    assert (disk.format, disk.sparse) == (types.DiskFormat.RAW, False)
    world.remove_vm(vm)


def test_a_large_ignition_config_survives(system, world):
    script = json.dumps({"ignition": {"version": "3.2.0"}, "padding": "x\"<&>é" * 250_000})
    assert len(script) > MIB
    vm = world.add_vm(initialization=types.Initialization(custom_script=script))
    assert world.vm_service(vm).get().initialization.custom_script == script
    world.remove_vm(vm)


def test_shutdown_reboot_suspend_and_migrate(system, world):
    vm = world.add_vm()
    world.attach_disk(vm, world.add_disk())
    service = world.vm_service(vm)
    service.start()
    vm = world.wait_vm(vm, types.VmStatus.UP)

    service.reboot()
    world.wait_vm(vm, types.VmStatus.UP)

    target = next(host for host in world.hosts if host.id != vm.host.id)
    service.migrate(host=types.Host(id=target.id))
    assert service.get().status in (types.VmStatus.MIGRATING, types.VmStatus.UP)
    moved = wait_for("the move", service.get, lambda vm: vm.status == types.VmStatus.UP and vm.host.id == target.id)
    assert moved.host.id == target.id

    service.suspend()
    world.wait_vm(vm, types.VmStatus.SUSPENDED)
    service.start()
    world.wait_vm(vm, types.VmStatus.UP)

    service.shutdown()
    vm = world.wait_vm(vm, types.VmStatus.DOWN)
    world.remove_vm(vm)


def test_start_with_run_once_settings(world):
    vm = world.add_vm(os=types.OperatingSystem(type="rhel_8x64"))
    world.attach_disk(vm, world.add_disk())
    service = world.vm_service(vm)
    service.start(
        use_cloud_init=True,
        vm=types.Vm(initialization=types.Initialization(user_name="root", custom_script="runcmd: [true]")),
    )
    running = world.wait_vm(vm, types.VmStatus.UP)
    assert running.run_once is True
    # What was given for one run is not kept.
    assert running.initialization is None or running.initialization.custom_script is None
    service.stop()
    world.remove_vm(vm)


def test_a_running_vm_keeps_changes_for_its_next_run(world):
    vm = world.add_vm(memory=1 * GIB)
    world.attach_disk(vm, world.add_disk())
    service = world.vm_service(vm)
    service.start()
    world.wait_vm(vm, types.VmStatus.UP)
    service.update(types.Vm(cpu=types.Cpu(topology=types.CpuTopology(cores=3, sockets=1, threads=1))), next_run=True)
    now = service.get()
    assert now.next_run_configuration_exists is True
    assert now.cpu.topology.cores == 1
    assert service.get(next_run=True).cpu.topology.cores == 3
    service.stop()
    vm = world.wait_vm(vm, types.VmStatus.DOWN)
    assert service.get().cpu.topology.cores == 3
    world.remove_vm(vm)


@pytest.mark.parametrize(
    ("fields", "code", "detail"),
    [
        ({"name": None}, 400, "name"),
        ({"cluster": None}, 400, "cluster"),
        ({"cluster": types.Cluster(name="nowhere")}, 404, "nowhere"),
        ({"template": types.Template(name="no such template")}, 404, "no such template"),
        ({"name": "x" * 256}, 400, ""),
        ({"name": "with space and ; semicolon"}, 400, ""),
        ({"memory": 1 * GIB, "memory_policy": types.MemoryPolicy(guaranteed=2 * GIB)}, None, "guaranteed"),
    ],
)
def test_what_cannot_be_created_says_why(system, world, fields, code, detail):
    good = {
        "name": world.name("bad"),
        "cluster": types.Cluster(name=world.cluster.name),
        "template": types.Template(name="Blank"),
    }
    with pytest.raises(sdk.Error) as refused:
        system.vms_service().add(types.Vm(**{**good, **fields}))
    assert refused.value.code == code or (code is None and refused.value.code in (400, 409))
    assert detail.lower() in refused.value.fault.detail.lower()


def test_a_name_is_used_once_in_a_data_center(system, world):
    vm = world.add_vm()
    with pytest.raises(sdk.Error) as refused:
        world.add_vm(name=vm.name)
    assert refused.value.code == 409
    assert "name" in refused.value.fault.detail.lower()
    world.remove_vm(vm)


def test_a_vm_without_a_bootable_disk_does_not_start(world):
    vm = world.add_vm()
    with pytest.raises(sdk.Error) as refused:
        world.vm_service(vm).start()
    assert refused.value.code == 409
    assert "Cannot run VM without at least one bootable disk" in refused.value.fault.detail
    world.remove_vm(vm)


def test_delete_protection(world):
    vm = world.add_vm(delete_protected=True)
    service = world.vm_service(vm)
    with pytest.raises(sdk.Error) as refused:
        service.remove()
    assert refused.value.code == 409
    service.update(types.Vm(delete_protected=False))
    world.remove_vm(vm)


def test_removing_a_vm_may_leave_its_disks(world):
    vm = world.add_vm()
    disk = world.add_disk()
    world.attach_disk(vm, disk)
    service = world.vm_service(vm)
    service.remove(detach_only=True)
    world.wait_gone("the VM", service)
    assert world.disk_service(disk).get().status == types.DiskStatus.OK
    world.disk_service(disk).remove()
    world.wait_gone("the disk", world.disk_service(disk))


def test_nics_can_be_changed_and_removed(world):
    vm = world.add_vm()
    nics = world.vm_service(vm).nics_service()
    first = world.add_nic(vm, "nic1")
    second = nics.add(
        types.Nic(
            name="nic2",
            interface=types.NicInterface.E1000,
            mac=types.Mac(address="56:6f:00:00:00:77"),
            vnic_profile=types.VnicProfile(id=world.vnic_profile.id),
        )
    )
    assert first.mac.address != second.mac.address
    assert second.mac.address == "56:6f:00:00:00:77"
    with pytest.raises(sdk.Error) as refused:
        world.add_nic(vm, "nic1")
    assert refused.value.code == 409
    nics.nic_service(first.id).update(types.Nic(name="renamed", linked=False))
    changed = nics.nic_service(first.id).get()
    assert (changed.name, changed.linked, changed.mac.address) == ("renamed", False, first.mac.address)
    nics.nic_service(first.id).remove()
    assert [nic.name for nic in nics.list()] == ["nic2"]
    world.remove_vm(vm)


def test_graphics_consoles_can_be_removed(world):
    vm = world.add_vm()
    consoles = world.vm_service(vm).graphics_consoles_service()
    found = consoles.list()
    assert found
    for console in found:
        consoles.console_service(console.id).remove()
    assert consoles.list() == []
    world.remove_vm(vm)


def test_snapshots(world):
    vm = world.add_vm()
    world.attach_disk(vm, world.add_disk())
    snapshots = world.vm_service(vm).snapshots_service()
    assert [s.snapshot_type for s in snapshots.list()] == [types.SnapshotType.ACTIVE]
    made = snapshots.add(types.Snapshot(description="before", persist_memorystate=False))
    service = snapshots.snapshot_service(made.id)
    wait_for("the snapshot", service.get, lambda s: s.snapshot_status == types.SnapshotStatus.OK)
    assert sorted(s.description for s in snapshots.list()) == ["Active VM", "before"]
    world.wait_vm(vm, types.VmStatus.DOWN)
    service.remove()
    world.wait_gone("the snapshot", service)
    world.remove_vm(vm)


def test_template_versions(system, world):
    templates = system.templates_service()
    base = world.add_template()
    vm = world.add_vm()
    world.attach_disk(vm, world.add_disk())
    second = templates.add(
        types.Template(
            name=base.name,
            vm=types.Vm(id=vm.id),
            version=types.TemplateVersion(base_template=types.Template(id=base.id), version_name="second"),
        )
    )
    service = templates.template_service(second.id)
    wait_for("the version", service.get, lambda t: t.status == types.TemplateStatus.OK)
    versions = templates.list(search=f"name={base.name}")
    assert sorted((t.version.version_number, t.version.version_name) for t in versions) == [
        (1, "base version"),
        (2, "second"),
    ]
    world.remove_vm(vm)


def test_instance_types_set_the_hardware(system, world):
    kind = next(t for t in system.instance_types_service().list() if t.name == "Large")
    vm = world.add_vm(instance_type=types.InstanceType(id=kind.id))
    assert (vm.memory, vm.cpu.topology.sockets) == (kind.memory, kind.cpu.topology.sockets)
    assert vm.instance_type.id == kind.id
    world.remove_vm(vm)


def test_statistics(world):
    vm = world.add_vm(memory=1 * GIB)
    statistics = {s.name: s for s in world.vm_service(vm).statistics_service().list()}
    assert statistics["memory.installed"].values[0].datum == 1 * GIB
    world.remove_vm(vm)
