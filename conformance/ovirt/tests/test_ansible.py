"""The ovirt.ovirt collection: its modules and roles, run once, run again, and run in check mode."""

import subprocess

import pytest
from conftest import GIB, World
from ovirt_imageio import client
from ovirtsdk4 import types

import playbooks
from transfers import download

pytestmark = pytest.mark.story


# The tasks that change something whenever they run, because of how their module is written.
ALWAYS = ["run a clone with user data"]


@pytest.fixture(scope="module")
def managed(simulators):
    """The engine that the plays work on."""
    return simulators("ansible")


@pytest.fixture(scope="module")
def view(connect, managed):
    """What the SDK sees of it."""
    return World(connect(managed).system_service())


@pytest.fixture(scope="module")
def variables(view, images, managed):
    return {
        "cluster": view.cluster.name,
        "data_center": view.data_center.name,
        "storage_domain": view.storage_domain.name,
        "host": view.hosts[0].name,
        "image": str(images.qcow2),
        "work": str(managed.directory),
        "downloaded": str(managed.directory / "back.qcow2"),
        "disk_size": "2GiB",
        "data_size": "1GiB",
        "thin_memory": "2GiB",
        "domain_description": "where all disks are",
        "template_description": "made of the golden VM",
        "group_description": "spread if possible",
        "tag": "belongs-together",
    }


@pytest.fixture(scope="module")
def untouched(view):
    """The names of all that is there before anything is built."""
    return everything(view)


def everything(view):
    services = ["vms", "disks", "templates", "tags", "networks", "vnic_profiles", "users", "affinity_labels"]
    return {name: sorted(e.name for e in getattr(view.system, f"{name}_service")().list()) for name in services}


@pytest.fixture(scope="module")
def built(managed, variables, untouched):
    return playbooks.run(managed, "modules.yml", variables)


class TestModules:
    """The tests of this class follow one another: each relies on the runs before."""

    def test_the_first_run_builds_everything(self, built):
        assert set(built.changed()) == {
            "describe the storage domain",
            "make a disk",
            "upload a qcow2 image",
            "upload to a raw disk",
            "make a network",
            "make a vnic profile",
            "make the golden VM",
            "give the golden VM its disk",
            "give the golden VM a second NIC",
            "give the golden VM a second disk",
            "make a template",
            "make a thin VM",
            "run a clone with user data",
            "tag the VMs",
            "keep the VMs apart",
            "label a VM and a host",
            "make a user",
            "allow the user to use a VM",
        }

    def test_the_disks_are_what_was_asked_for(self, built, view, images, variables):
        assert built["make a disk"]["disk"]["provisioned_size"] == 2 * GIB
        disks = {disk.name: disk for disk in view.system.disks_service().list()}
        assert disks["plain"].format == types.DiskFormat.COW
        assert disks["uploaded"].provisioned_size == GIB
        assert disks["uploaded-raw"].format == types.DiskFormat.RAW
        assert all(disk.status == types.DiskStatus.OK for disk in disks.values())
        # The upload is a file of 96 MiB on a disk of 1 GiB: equal up to its end, and zeroes after it.
        back = client.info(variables["downloaded"])
        assert (back["format"], back["virtual-size"]) == ("qcow2", GIB)
        compared = subprocess.run(
            ["qemu-img", "compare", variables["downloaded"], str(images.raw)], capture_output=True, text=True
        )
        assert "Images are identical." in compared.stdout, compared.stdout

    def test_the_vms_are_what_was_asked_for(self, built, view):
        golden = view.system.vms_service().list(search="name=golden", follow="nics,disk_attachments")[0]
        assert (golden.status, golden.memory, golden.os.type) == (types.VmStatus.DOWN, 2 * GIB, "rhcos_x64")
        assert (golden.memory_policy.guaranteed, golden.memory_policy.max) == (GIB, 4 * GIB)
        assert sorted((nic.name, nic.mac.address) for nic in golden.nics)[1] == ("nic2", "56:6f:11:22:33:44")
        attached = {(str(a.interface), a.bootable) for a in golden.disk_attachments}
        assert attached == {("virtio", False), ("virtio_scsi", True)}
        thin = view.system.vms_service().list(search="name=thin", follow="template")[0]
        assert (thin.template.name, thin.high_availability.enabled) == ("golden-template", True)
        clone = view.system.vms_service().list(search="name=clone")[0]
        assert clone.status == types.VmStatus.UP
        assert clone.initialization.custom_script == '{"ignition": {"version": "3.2.0"}}\n'
        assert clone.initialization.host_name == "clone.example.test"

    def test_marks_and_rules_are_what_was_asked_for(self, built, view, variables):
        tagged = view.system.vms_service().list(search=f"tag={variables['tag']}")
        assert sorted(vm.name for vm in tagged) == ["clone", "thin"]
        groups = view.system.clusters_service().cluster_service(view.cluster.id).affinity_groups_service()
        (group,) = (g for g in groups.list() if g.name == "apart")
        assert (group.vms_rule.positive, group.vms_rule.enforcing, len(group.vms)) == (False, False, 2)

    def test_info_modules_agree_with_the_sdk(self, built, view):
        assert built["api info"]["ovirt_api"]["product_info"]["version"]["major"] == 4
        assert [dc["name"] for dc in built["datacenter info"]["ovirt_datacenters"]] == [view.data_center.name]
        assert [c["id"] for c in built["cluster info"]["ovirt_clusters"]] == [view.cluster.id]
        assert {h["name"] for h in built["host info"]["ovirt_hosts"]} == {h.name for h in view.hosts}
        assert built["network info"]["ovirt_networks"][0]["vlan"]["id"] == 12
        assert built["network info"]["ovirt_networks"][0]["mtu"] == 9000
        assert len(built["vnic profile info"]["ovirt_vnic_profiles"]) == 1
        assert view.storage_domain.name in [d["name"] for d in built["storage domain info"]["ovirt_storage_domains"]]
        assert {d["name"] for d in built["disk info"]["ovirt_disks"]} == {"golden-os", "golden-data"}
        assert built["template info"]["ovirt_templates"][0]["status"] == "ok"
        assert [n["name"] for n in built["nic info"]["ovirt_nics"]] == ["nic1", "nic2"]
        assert [t["name"] for t in built["tag info"]["ovirt_tags"]] == ["belongs-together"]
        assert [s["snapshot_type"] for s in built["snapshot info"]["ovirt_snapshots"]] == ["active"]
        assert [label["name"] for label in built["affinity label info"]["ovirt_affinity_labels"]] == ["near"]
        assert len(built["user info"]["ovirt_users"]) == 1
        assert built["permission info"]["ovirt_permissions"]
        assert len(built["event info"]["ovirt_events"]) == 5

        vms = {vm["name"]: vm for vm in built["vm info"]["ovirt_vms"]}
        assert set(vms) == {"thin", "clone"}
        (bootable,) = (a for a in vms["clone"]["disk_attachments"] if a.get("bootable"))
        assert bootable["id"]
        addresses = [ip["address"] for device in vms["clone"]["reported_devices"] for ip in device["ips"]]
        assert addresses
        everything = built["vm info with everything nested"]["ovirt_vms"][0]
        assert len(everything["nics"]) == 2
        assert len(everything["graphics_consoles"]) >= 1

    def test_the_second_run_changes_nothing(self, built, managed, variables):
        again = playbooks.run(managed, "modules.yml", variables)
        assert again.changed() == ALWAYS
        assert set(again.tasks) == set(built.tasks)
        # The one update of the VM whose user data is to be persisted.
        (update,) = again.writes()
        assert update.startswith("PUT /ovirt-engine/api/vms/")

    def test_check_mode_agrees_and_touches_nothing(self, built, managed, variables):
        checked = playbooks.run(managed, "modules.yml", variables, check=True)
        assert checked.changed() == ALWAYS
        assert checked.writes() == []

    def test_check_mode_foresees_changes_and_touches_nothing(self, built, managed, variables, view):
        wanted = {
            **variables,
            "disk_size": "3GiB",
            "data_size": "2GiB",
            "thin_memory": "3GiB",
            "domain_description": "another",
            "template_description": "another",
            "group_description": "another",
        }
        checked = playbooks.run(managed, "modules.yml", wanted, check=True)
        assert set(checked.changed()) - set(ALWAYS) == {
            "describe the storage domain",
            "make a disk",
            "give the golden VM a second disk",
            "make a template",
            "make a thin VM",
            "keep the VMs apart",
        }
        assert checked.writes() == []
        assert view.system.vms_service().list(search="name=thin")[0].memory == 2 * GIB

    def test_changes_are_made_once(self, built, managed, variables, view):
        wanted = {**variables, "disk_size": "3GiB", "data_size": "2GiB", "thin_memory": "3GiB"}
        wanted["template_description"] = "another"
        changed = playbooks.run(managed, "modules.yml", wanted)
        assert set(changed.changed()) - set(ALWAYS) == {
            "make a disk",
            "give the golden VM a second disk",
            "make a template",
            "make a thin VM",
        }
        assert view.system.vms_service().list(search="name=thin")[0].memory == 3 * GIB
        sizes = {"name=plain": 3 * GIB, "name=golden-data and vm_names=golden": 2 * GIB}
        for search, size in sizes.items():
            assert [disk.provisioned_size for disk in view.system.disks_service().list(search=search)] == [size]
        assert view.system.templates_service().list(search="name=golden-template")[0].description == "another"

    def test_removal_in_check_mode_touches_nothing(self, built, managed, variables):
        checked = playbooks.run(managed, "removal.yml", {**variables, "repeated": False}, check=True)
        assert "remove the VMs" in checked.changed()
        assert checked.writes() == []

    def test_removal_removes_everything_and_only_once(self, built, managed, variables, view, untouched):
        removed = playbooks.run(managed, "removal.yml", {**variables, "repeated": False})
        assert "remove the template" in removed.changed()
        assert everything(view) == untouched
        again = playbooks.run(managed, "removal.yml", {**variables, "repeated": True})
        assert again.changed() == []
        assert again.writes() == []


@pytest.fixture(scope="module")
def first(managed, variables):
    return playbooks.run(managed, "roles.yml", variables)


class TestRoles:
    """image_template and vm_infra. Their authors say that they do not support check mode, so there is no such run."""

    def test_an_image_becomes_vms(self, first, view, managed):
        template = view.system.templates_service().list(search="name=role-template")[0]
        assert template.os.type == "rhcos_x64"
        vms = {vm["name"]: vm for vm in first["what there is in the end"]["ovirt_vms"]}
        assert set(vms) == {"role-master-0", "role-master-1"}
        for vm in vms.values():
            assert vm["status"] == "up"
            assert vm["template"]["id"] == template.id
            assert [ip for device in vm["reported_devices"] for ip in device["ips"]]
        hosts = {vm["host"]["id"] for vm in vms.values()}
        assert len(hosts) == 2, "the group keeps the masters apart"
        disks = {disk.name: disk for disk in view.system.disks_service().list(search="vm_names=role-master-0")}
        assert set(disks) == {"role-master-0_os", "role-master-0_data"}
        assert disks["role-master-0_os"].provisioned_size == 4 * GIB
        tagged = view.system.vms_service().list(search="tag=role-cluster")
        assert len(tagged) == 2
        for vm in tagged:
            drive = managed.admin("GET", f"/ovirt/vms/{vm.id}/config-drive")
            assert "runcmd: [hostname]" in str(drive)

    def test_the_bytes_of_the_image_are_in_the_vm(self, first, view, images, managed, tmp_path):
        vm = view.system.vms_service().list(search="name=role-master-1")[0]
        view.vm_service(vm).stop()
        view.wait_vm(vm, types.VmStatus.DOWN)
        disk = view.system.disks_service().list(search="name=role-master-1_os")[0]
        back = str(tmp_path / "back.qcow2")
        with download(view.system, disk) as down:
            client.download(down.url, back, managed.ca_file, fmt="qcow2")
        raw = tmp_path / "back.raw"
        subprocess.run(["qemu-img", "convert", "-O", "raw", back, raw], check=True)
        with open(raw, "rb") as file:
            assert file.read(images.size) == images.raw.read_bytes()
        view.vm_service(vm).start()
        view.wait_vm(vm, types.VmStatus.UP)

    def test_the_second_run_changes_nothing(self, first, managed, variables):
        again = playbooks.run(managed, "roles.yml", variables)
        assert again.changed() == []

    def test_the_role_removes_its_vms(self, first, managed, variables, view):
        removed = playbooks.run(managed, "roles_removal.yml", variables)
        assert removed.stats["changed"] == 2
        assert view.system.vms_service().list(search="name=role-master-*") == []
        again = playbooks.run(managed, "roles_removal.yml", variables)
        assert again.changed() == []
