"""`kill -9` of `landfall create cluster` and `landfall destroy cluster`, counted by oVirt's SDK. See kills.py."""

import collections

import kills
import pytest
import tier
import yaml
from conftest import World as Parts
from ovirtsdk4 import types

# Machines boot in a tenth of a second.
SPEED = "200"


class Engine(kills.World):
    platform = "ovirt"
    reach = 27

    def __init__(self, simulators, connect, directory):
        self.example, credentials = directory / "example.yaml", directory / "credentials.yaml"
        self.simulator = simulators(
            "kills", "--time-scale", SPEED, "--install-config", self.example, "--credentials", credentials, guests="light"
        )
        self.system = connect(self.simulator).system_service()
        self.parts = Parts(self.system)
        self.variables = {"OVIRT_CONFIG": str(credentials)}

    def config(self):
        config = yaml.safe_load(self.example.read_text())
        config["controlPlane"]["replicas"] = config["compute"][0]["replicas"] = 1
        return config

    def census(self):
        self.parts.wait_quiet()
        found = {}
        for vm in self.system.vms_service().list():
            service = self.parts.vm_service(vm)
            tags = sorted(tag.name for tag in service.tags_service().list())
            disks = sorted(attachment.disk.id for attachment in service.disk_attachments_service().list())
            nics = sorted(nic.mac.address for nic in service.nics_service().list())
            label = f"vm {vm.name} {vm.status.value}, tags {tags}, {len(disks)} disks, {len(nics)} nics"
            found["vm", vm.id] = label, (disks, nics, vm.description, vm.comment)
        for disk in self.system.disks_service().list():
            found["disk", disk.id] = f"disk {disk.name} {disk.status.value}", (disk.provisioned_size, disk.description)
        for tag in self.system.tags_service().list():
            found["tag", tag.id] = f"tag {tag.name}", tag.description
        for template in self.system.templates_service().list():
            found["template", template.id] = f"template {template.name} {template.version.version_number}", template.description
        for cluster in self.system.clusters_service().list():
            groups = self.system.clusters_service().cluster_service(cluster.id).affinity_groups_service()
            for group in groups.list():
                vms = sorted(vm.id for vm in groups.group_service(group.id).vms_service().list())
                found["group", group.id] = f"affinity group {group.name}, {len(vms)} VMs", (vms, group.description)
        return found

    def move_in(self, infra_id):
        parts = self.parts
        mark = f"[landfall:{infra_id}]"
        # A mark counts at the end of a description, and only as a whole.
        vm = parts.add_vm(name=f"{infra_id}-master-7", description=f"{mark} was its neighbour")
        parts.attach_disk(vm, parts.add_disk(name=f"{infra_id}-master-7", description=f"[landfall:{infra_id}-2]"))
        parts.add_nic(vm)
        parts.vm_service(vm).start()
        parts.wait_vm(vm, types.VmStatus.UP)
        tag = self.system.tags_service().add(types.Tag(name=f"{infra_id}-2", description=f"x{mark}x"))
        parts.vm_service(vm).tags_service().add(types.Tag(name=tag.name))
        groups = self.system.clusters_service().cluster_service(parts.cluster.id).affinity_groups_service()
        groups.add(types.AffinityGroup(name=f"{infra_id}-masters", description=f"not {mark[:-1]}", vms=[types.Vm(id=vm.id)]))

    def expected(self, distribution):
        machine = "up, tags ['ID'], 1 disks, 1 nics"
        if distribution == "kubernetes":
            made, members = ["master-0", "worker-RANDOM"], {"controlplane": 1, "compute": 1}
        else:
            made, members = ["bootstrap", "master-0", "master-1", "master-2"], {"controlplane": 3, "compute": 0}
        lines = ["tag ID", *(f"vm ID-{name} {machine}" for name in made), *(f"disk ID-{name}-disk0 ok" for name in made)]
        return collections.Counter(lines + [f"affinity group ID-{name}, {count} VMs" for name, count in members.items()])


@pytest.fixture
def engine(simulators, connect, tmp_path):
    return Engine(simulators, connect, tmp_path)


@pytest.mark.parametrize("seed", kills.seeds())
def test_kills(engine, tmp_path, seed):
    kills.Trial(engine, tmp_path, seed).survive()


@tier.full_only
def test_kills_at_every_record(engine, tmp_path):
    kills.Trial(engine, tmp_path, 0).survive_every_record()


@pytest.mark.parametrize("distribution", tier.choose(("openshift",), kills.OTHERS))
@pytest.mark.parametrize("seed", kills.seeds())
def test_kills_of_other_distributions(engine, tmp_path, distribution, seed):
    kills.Trial(engine, tmp_path, seed, distribution).survive()
