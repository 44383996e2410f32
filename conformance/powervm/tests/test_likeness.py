"""What Landfall's core makes is what pypowervm's own tasks would have made.

Each operation is done twice on the same server, by the core and by the library, on a partition each. The library reads both back, and
they are compared element by element (`likeness.py`). Where they differ on purpose it says so, and why.
"""

import itertools
import uuid
from unittest import mock

import pytest

import likeness
from conftest import connect
from core import Core
from peer import Peer
from pypowervm.tasks import partition as tsk_par
from pypowervm.wrappers import logical_partition as pvm_lpar
from simulator import wait_for

TARGETS = ["500507680B11AAAA", "500507680B22AAAA"]
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def simulator(simulators):
    return simulators("likeness")


@pytest.fixture(scope="module")
def link(simulator):
    with mock.patch("pypowervm.util.my_partition_id", return_value=1):
        yield connect(simulator)


@pytest.fixture(scope="module")
def core(simulator):
    # Jobs are looked at often, since simulated seconds are short.
    core = Core(simulator.ready["hosts"][0]["url"], simulator.user, simulator.password, job_interval_ms=20)
    yield core
    core.stop()


@pytest.fixture(scope="module")
def peer(link):
    # The library looks at a job every second, which only makes a test long.
    with mock.patch("pypowervm.wrappers.job.time.sleep", lambda _seconds: None):
        yield Peer(link)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    file = tmp_path_factory.mktemp("image") / "image.raw"
    file.write_bytes(b"an image" * (1 << 17))
    return {"name": "image_abc_1", "file": str(file)}


def blueprint(name, **parts):
    shape = {
        "memory": {"minimum_mib": 1024, "desired_mib": 2048, "maximum_mib": 4096},
        "processors": {
            "kind": "shared", "virtual_processors": {"minimum": 1, "desired": 2, "maximum": 4},
            "units": {"minimum": 0.1, "desired": 0.5, "maximum": 2.0}, "uncapped_weight": 100, "pool": 0,
        },
        "compatibility_mode": "default", "availability_priority": 127, "remote_restart": False,
    }
    shape.update(parts.pop("shape", {}))
    number = uuid.uuid4().int & ((1 << 127) - 1)
    partition = {
        "id": str(uuid.UUID(int=number)).upper(), "name": name, "mark": None, "shape": shape,
        "system": parts.pop("system", "aix-linux"),
    }
    return {"partition": partition, "power_on": False, **parts}


def nic(**network):
    return {"mac": f"0A{uuid.uuid4().hex[:10]}".upper(), "network": network}


def bridged(vlan=100):
    return nic(kind="bridged", switch="ETHERNET0", vlan=vlan)


class Pair:
    """A partition of the core's, and one of the library's, made from the same blueprint."""

    def __init__(self, core, peer, make, iso=None):
        self.core, self.peer = core, peer
        self.before = likeness.everything(peer.adapter)
        number = next(NUMBERS)
        ours, theirs = make(f"a{number}"), make(f"b{number}")
        self.ours, self.theirs = ours["partition"]["id"], theirs["partition"]["id"]
        core.do("spawn", blueprint=ours)
        peer.spawn({key: value for key, value in theirs.items() if key != "config_drive"}, iso)

    def differences(self):
        read = lambda partition: likeness.partition(self.peer.adapter, partition)
        return likeness.differences(read(self.ours), read(self.theirs))

    def destroy(self):
        """Each removes its own, and nothing is left."""
        self.core.do("destroy", partition=self.ours)
        self.peer.destroy(self.theirs)
        assert likeness.everything(self.peer.adapter) == self.before


def pool_disk(image):
    return {"name": "boot", "gib": 10.0, "place": {"kind": "pool", "pool": None, "tier": None}, "image": image}


def test_a_partition_with_shared_processors(core, peer):
    pair = Pair(core, peer, blueprint)
    assert pair.differences() == {}
    pair.destroy()


def test_a_partition_with_processors_of_its_own(core, peer):
    processors = {"kind": "dedicated", "processors": {"minimum": 1, "desired": 2, "maximum": 3}, "sharing": "keep"}
    shape = {"processors": processors, "compatibility_mode": "POWER9", "availability_priority": 200, "remote_restart": True}
    pair = Pair(core, peer, lambda name: blueprint(name, shape=dict(shape)))
    assert pair.differences() == {}
    pair.destroy()


def test_a_disk_in_the_pool_and_an_adapter_on_a_bridge(core, peer, image):
    pair = Pair(core, peer, lambda name: blueprint(name, disks=[pool_disk(image)], nics=[bridged(), bridged(101)]))
    assert pair.differences() == {}
    pair.destroy()


def test_a_disk_in_a_volume_group(core, peer, image):
    place = {"kind": "volume-group", "vios": "vios1", "group": "datavg"}
    disk = {"name": "boot", "gib": 2.0, "place": place, "image": image}
    pair = Pair(core, peer, lambda name: blueprint(name, disks=[disk]))
    assert pair.differences() == {}
    pair.destroy()


def test_a_config_drive(core, peer, image, tmp_path):
    drive = {"meta_data": {"uuid": "1", "hostname": "node"}, "user_data": "{}"}
    file = tmp_path / "drive.iso"
    core.do("config-drive", drive=drive, file=str(file))
    make = lambda name: blueprint(name, disks=[pool_disk(image)], config_drive=drive)
    pair = Pair(core, peer, make, file.read_bytes())
    assert pair.differences() == {}
    pair.destroy()


def test_a_link_to_open_vswitch(core, peer):
    make = lambda name: blueprint(name, nics=[nic(kind="open-v-switch", bridge="br-int", port=str(uuid.uuid4()), mtu=1450)])
    pair = Pair(core, peer, make)
    assert pair.differences() == {}
    pair.destroy()


def test_a_virtual_nic(core, peer):
    share = {"kind": "sriov", "physical_network": "physnet1", "vlan": 77, "redundancy": 2, "capacity_percent": 4.0}
    pair = Pair(core, peer, lambda name: blueprint(name, nics=[nic(**share)]))
    assert pair.differences() == {}
    pair.destroy()


def test_a_volume_is_attached_and_detached(core, peer, image):
    pair = Pair(core, peer, lambda name: blueprint(name, disks=[pool_disk(image)]))
    before = likeness.everything(peer.adapter)
    volume = {"id": "volume-1", "targets": TARGETS, "lun": 1, "device": None}
    # The same volume, one after the other.
    volume["device"] = core.do("attach-volume", partition=pair.ours, volume=volume)
    ours = likeness.partition(peer.adapter, pair.ours)
    assert {path for path in ours if path.endswith("PhysicalVolume/Tag")} == {
        f"{vios} shows PV/Storage/PhysicalVolume/Tag" for vios in ("vios1", "vios2")
    }
    core.do("detach-volume", partition=pair.ours, volume=volume)
    assert likeness.everything(peer.adapter) == before
    assert peer.attach_volume(pair.theirs, volume) == volume["device"]
    assert likeness.differences(ours, likeness.partition(peer.adapter, pair.theirs)) == {}
    peer.detach_volume(pair.theirs, volume)
    assert likeness.everything(peer.adapter) == before
    assert pair.differences() == {}
    pair.destroy()


def test_fibre_channel_ports_of_its_own(core, peer, link):
    physical = sorted(tsk_par.get_physical_wwpns(link))
    ours = core.do("assign-fibre-ports", fabrics=[{"ports": physical, "wanted": 2}])
    theirs = peer.assign_fibre_ports(physical, 2)
    # Both spread them over the VIOSes. Which port of a VIOS it is differs, so that the second is given the first one's.
    assert {port["vios"] for port in ours} == {port["vios"] for port in theirs}
    on = {port["vios"]: port["port"] for port in ours}
    theirs = [{**port, "port": on[port["vios"]]} for port in theirs]
    ports = iter((ours, theirs))
    pair = Pair(core, peer, lambda name: blueprint(name, fibre_ports=next(ports)))
    assert pair.differences() == {}
    pair.destroy()


def test_power(core, peer, link, image):
    pair = Pair(core, peer, lambda name: blueprint(name, disks=[pool_disk(image)], power_on=True))

    def settled():
        read = lambda one: pvm_lpar.LPAR.get(link, uuid=one)
        look = lambda: [(lpar.state, lpar.rmc_state) for lpar in map(read, (pair.ours, pair.theirs))]
        return wait_for("RMC", look, lambda seen: seen == [("running", "active")] * 2)

    settled()
    assert pair.differences() == {}
    core.do("power", partition=pair.ours, wish="off")
    peer.power_off(pair.theirs)
    assert pair.differences() == {}
    core.do("power", partition=pair.ours, wish="on")
    peer.power_on(pair.theirs)
    settled()
    assert pair.differences() == {}
    # With both running, which is how most are destroyed.
    pair.destroy()
