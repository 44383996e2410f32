"""What an install-config can say about machines reaches the engine, through the inventory and the playbooks."""

import re

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types
from simulator import wait_for

pytestmark = pytest.mark.story

CONFIG = """
controlPlane:
  replicas: 1
  platform:
    ovirt:
      autoPinningPolicy: resize_and_pin
      hugepages: 2048
      memoryMB: 8192
      guaranteedMemoryMB: 4096
      format: raw
      sparse: false
      affinityGroupsNames: [apart, racks]
compute:
  - name: worker
    replicas: 1
    platform: {ovirt: {sparse: true, vmType: high_performance, cpu: {sockets: 2, cores: 1, threads: 2}, affinityGroupsNames: [apart]}}
  - name: infra
    replicas: 1
    platform: {ovirt: {osDisk: {sizeGB: 40}, affinityGroupsNames: []}}
"""
GROUPS = "    affinityGroups: [{name: apart, priority: 4, enforcing: true, description: mine alone}]\n"


@pytest.fixture(scope="module")
def fields(labs):
    lab, engine = labs("fields", image="template: raw-and-sparse")
    config = lab.install / "install-config.yaml"
    text = re.sub(r"^(controlPlane|compute):.*\n", "", config.read_text(), flags=re.M)
    config.write_text(text + GROUPS + CONFIG.lstrip())
    connection = sdk.Connection(url=engine.api_url, username=engine.user, password=engine.password, ca_file=engine.ca_file)
    system = connection.system_service()
    template(system)
    lab.landfall("upi", "create")
    yield lab, engine, system
    connection.close()


def template(system):
    """A template whose disk is raw and sparse, as on NFS; and a group with a machine of somebody else's."""
    vms = system.vms_service()
    made = vms.add(types.Vm(name="golden", cluster=types.Cluster(name="Default"), template=types.Template(name="Blank")))
    disk = types.Disk(name="golden", format=types.DiskFormat.RAW, sparse=True, provisioned_size=1 << 30, storage_domains=[types.StorageDomain(name="data")])
    attachments = vms.vm_service(made.id).disk_attachments_service()
    added = attachments.add(types.DiskAttachment(bootable=True, interface=types.DiskInterface.VIRTIO_SCSI, disk=disk))
    wait_for("the disk", lambda: system.disks_service().disk_service(added.disk.id).get().status, lambda s: s == types.DiskStatus.OK)
    templates = system.templates_service()
    made_template = templates.add(types.Template(name="raw-and-sparse", vm=types.Vm(id=made.id)))
    wait_for("the template", lambda: templates.template_service(made_template.id).get().status, lambda s: s == types.TemplateStatus.OK)
    group = groups(system).add(types.AffinityGroup(name="racks", description="of the house", vms_rule=types.AffinityRule(enabled=True, positive=False)))
    groups(system).group_service(group.id).vms_service().add(types.Vm(id=made.id))


def groups(system):
    clusters = system.clusters_service()
    return clusters.cluster_service(clusters.list(search="name=Default")[0].id).affinity_groups_service()


def members(system, group):
    (found,) = [g for g in groups(system).list() if g.name == group]
    return sorted(system.vms_service().vm_service(vm.id).get().name for vm in groups(system).group_service(found.id).vms_service().list())


def vm(system, pool):
    (found,) = [vm for vm in system.vms_service().list() if re.fullmatch(rf"demo-\w+-{pool}(-0)?", vm.name)]
    return found


def disk(system, pool):
    (attachment,) = system.vms_service().vm_service(vm(system, pool).id).disk_attachments_service().list()
    return system.disks_service().disk_service(attachment.disk.id).get()


def test_machines_are_as_the_install_config_says(fields):
    lab, engine, system = fields
    dry = lab.play(engine, "vms.yml", check=True)
    assert dry.writes() == []
    lab.play(engine, "vms.yml")
    again = lab.play(engine, "vms.yml")
    assert again.changed() == [] and again.writes() == []

    master, worker = vm(system, "master"), vm(system, "worker")
    assert (master.memory, master.memory_policy.guaranteed) == (8 << 30, 4 << 30)
    assert [(p.name, p.value) for p in master.custom_properties] == [("hugepages", "2048")]
    assert master.placement_policy.affinity == types.VmAffinity.PINNED and len(master.placement_policy.hosts) == 3
    assert str(master.cpu_pinning_policy) == "resize_and_pin_numa"
    assert (worker.cpu.topology.sockets, worker.cpu.topology.cores, worker.cpu.topology.threads) == (2, 1, 2)
    assert worker.type == types.VmType.HIGH_PERFORMANCE and worker.cpu.mode == types.CpuMode.HOST_PASSTHROUGH
    assert worker.placement_policy.affinity == types.VmAffinity.USER_MIGRATABLE and worker.soundcard_enabled is False

    # As they were asked for; and without a word, as in the template.
    assert (disk(system, "master").format, disk(system, "master").sparse) == (types.DiskFormat.RAW, False)
    assert (disk(system, "worker").format, disk(system, "worker").sparse) == (types.DiskFormat.COW, True)
    assert (disk(system, "infra").format, disk(system, "infra").sparse) == (types.DiskFormat.RAW, True)
    assert disk(system, "infra").provisioned_size == 40 << 30

    (apart,) = [g for g in groups(system).list() if g.name.endswith("-apart")]
    assert apart.priority == 4 and apart.vms_rule.enforcing is True
    assert re.fullmatch(r"mine alone \[landfall:demo-\w+\]", apart.description)
    assert members(system, apart.name) == sorted([master.name, worker.name])
    assert members(system, "racks") == sorted(["golden", master.name])

    lab.landfall("upi", "create")
    assert [f["verdict"] for f in lab.check("ovirt")] == ["notice"], lab.check("ovirt")


def test_what_is_somebody_elses_stays(fields):
    lab, engine, system = fields
    lab.play(engine, "retire-all.yml")
    assert members(system, "racks") == ["golden"]
    assert [g.name for g in groups(system).list()] == ["racks"]


def test_a_group_that_is_missing_or_somebody_elses_is_told(fields):
    lab, engine, system = fields
    inventory = lab.kit / "inventory.yml"
    before = inventory.read_text()
    try:
        inventory.write_text(before.replace("name: racks", "name: rooms"))
        told = lab.play(engine, "vms.yml", fails=True)
        assert "has no affinity groups rooms" in told["Make sure that groups of yours are there, and that no name of the cluster's own is taken"]["msg"]
        inventory.write_text(re.sub(r"name: demo-\w+-apart", "name: racks2", before))
        groups(system).add(types.AffinityGroup(name="racks2", description="of the house"))
        told = lab.play(engine, "vms.yml", fails=True)
        assert told["Make sure that groups of yours are there, and that no name of the cluster's own is taken"]["msg"].endswith(": racks2")
    finally:
        inventory.write_text(before)


def test_disks_that_the_collection_cannot_make_are_refused(labs):
    lab, _ = labs("disks", masters=1, workers=0)
    config = lab.install / "install-config.yaml"
    config.write_text(config.read_text() + "    defaultMachinePlatform: {format: raw, sparse: true}\n")
    refused = lab.landfall("upi", "create", expect=3)
    assert "cannot make the disks of profile" in refused.stderr and "leave out one of format and sparse" in refused.stderr
