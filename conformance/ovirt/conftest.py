"""Fixtures: running simulators, connections to them, and images to move."""

import random
import subprocess
import uuid

import ovirtsdk4 as sdk
import pycurl
import pytest
from ovirtsdk4 import types

from simulator import started, wait_for

pytest_plugins = ["judged"]

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture(scope="session")
def simulators(tmp_path_factory):
    with started(tmp_path_factory.mktemp) as start:
        yield start


@pytest.fixture(scope="session")
def engine(simulators):
    """The simulator that most tests share."""
    return simulators("engine")


@pytest.fixture(scope="session")
def connect(simulators):
    """Makes SDK connections, and closes them at the end."""
    connections = []

    def make(simulator, **overrides):
        arguments = {
            "url": simulator.api_url,
            "username": simulator.user,
            "password": simulator.password,
            "ca_file": simulator.ca_file,
            **overrides,
        }
        connection = sdk.Connection(**arguments)
        connections.append(connection)
        return connection

    yield make
    for connection in connections:
        try:
            connection.close()
        except (sdk.Error, pycurl.error):
            # Its simulator may be gone, or its password was never right.
            pass


@pytest.fixture(scope="session")
def connection(connect, engine):
    return connect(engine)


@pytest.fixture(scope="session")
def system(connection):
    return connection.system_service()


@pytest.fixture(scope="session")
def world(system):
    """What the default inventory offers to tests, found through the API."""
    return World(system)


class World:
    """The parts of an engine's world that tests build on, and what they keep doing with it."""

    def __init__(self, system):
        self.system = system
        self.cluster = next(c for c in system.clusters_service().list() if c.name == "Default")
        self.data_center = system.data_centers_service().data_center_service(self.cluster.data_center.id).get()
        attached = system.data_centers_service().data_center_service(self.data_center.id).storage_domains_service()
        self.storage_domain = next(
            domain
            for domain in attached.list()
            if domain.type == types.StorageDomainType.DATA and domain.status == types.StorageDomainStatus.ACTIVE
        )
        self.hosts = system.hosts_service().list(search=f'cluster="{self.cluster.name}"')
        self.vnic_profile = next(p for p in system.vnic_profiles_service().list() if p.name == "ovirtmgmt")

    def name(self, what):
        """A name that nothing else has."""
        return f"{what}-{uuid.uuid4().hex[:8]}"

    def vm_service(self, vm):
        return self.system.vms_service().vm_service(vm.id)

    def disk_service(self, disk):
        return self.system.disks_service().disk_service(disk.id)

    def wait_vm(self, vm, status):
        look = self.vm_service(vm).get
        return wait_for(f"VM {vm.name} {status}", look, lambda vm: vm.status == status, progress=lambda vm: vm.status)

    def wait_disk(self, disk, status=types.DiskStatus.OK):
        return wait_for(f"disk {disk.id} {status}", self.disk_service(disk).get, lambda disk: disk.status == status)

    def wait_gone(self, what, service):
        def look():
            try:
                return service.get()
            except sdk.NotFoundError:
                return None

        wait_for(f"the end of {what}", look, lambda seen: seen is None)

    def wait_quiet(self):
        """Until no disk is being made or removed: an engine forgets a VM at once, and removes its disks afterwards."""
        disks = self.system.disks_service()
        wait_for("no locked disks", disks.list, lambda found: all(d.status != types.DiskStatus.LOCKED for d in found))

    def add_disk(self, name=None, size=GIB, **fields):
        """A new disk, ready for use."""
        fields = {"format": types.DiskFormat.COW, "sparse": True, **fields}
        disk = self.system.disks_service().add(
            types.Disk(
                name=name or self.name("disk"),
                provisioned_size=size,
                storage_domains=[types.StorageDomain(id=self.storage_domain.id)],
                **fields,
            )
        )
        return self.wait_disk(disk)

    def add_vm(self, name=None, template="Blank", query=None, **fields):
        """A new VM that is down."""
        vm = self.system.vms_service().add(
            types.Vm(
                name=name or self.name("vm"),
                cluster=types.Cluster(id=self.cluster.id),
                template=types.Template(name=template),
                **fields,
            ),
            **(query or {}),
        )
        return self.wait_vm(vm, types.VmStatus.DOWN)

    def attach_disk(self, vm, disk, bootable=True):
        return self.vm_service(vm).disk_attachments_service().add(
            types.DiskAttachment(
                disk=types.Disk(id=disk.id),
                interface=types.DiskInterface.VIRTIO_SCSI,
                bootable=bootable,
                active=True,
            )
        )

    def add_nic(self, vm, name="nic1"):
        return self.vm_service(vm).nics_service().add(
            types.Nic(name=name, vnic_profile=types.VnicProfile(id=self.vnic_profile.id))
        )

    def add_template(self, name=None, **vm_fields):
        """A template with one bootable disk and one NIC, made the way installers make it."""
        vm = self.add_vm(**vm_fields)
        self.attach_disk(vm, self.add_disk())
        self.add_nic(vm)
        templates = self.system.templates_service()
        template = templates.add(types.Template(name=name or self.name("template"), vm=types.Vm(id=vm.id)))
        service = templates.template_service(template.id)
        template = wait_for(
            f"template {template.name} ok", service.get, lambda seen: seen.status == types.TemplateStatus.OK
        )
        self.remove_vm(vm)
        return template

    def remove_vm(self, vm):
        service = self.vm_service(vm)
        self.wait_vm(vm, types.VmStatus.DOWN)
        service.remove()
        self.wait_gone(f"VM {vm.name}", service)


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """An image of 96 MiB in three forms; its data lies scattered between holes, and some of it is zeroes."""
    directory = tmp_path_factory.mktemp("images")
    raw = directory / "image.raw"
    chance = random.Random(4)
    with open(raw, "wb") as file:
        for _ in range(40):
            file.seek(chance.randrange(0, 95 * MIB))
            file.write(chance.randbytes(chance.choice([1, 512, 4096, 70_000, 300_000])))
        file.seek(40 * MIB)
        file.write(bytes(2 * MIB))
        file.truncate(96 * MIB)
    convert = ["qemu-img", "convert", "-f", "raw", "-O", "qcow2"]
    subprocess.run([*convert, raw, directory / "image.qcow2"], check=True)
    subprocess.run([*convert, "-c", raw, directory / "compressed.qcow2"], check=True)
    return Images(directory)


class Images:
    size = 96 * MIB

    def __init__(self, directory):
        self.raw = directory / "image.raw"
        self.qcow2 = directory / "image.qcow2"
        self.compressed = directory / "compressed.qcow2"
        self.all = {"raw": self.raw, "qcow2": self.qcow2, "compressed": self.compressed}
