"""`kill -9` of `landfall create cluster` and `landfall destroy cluster`, counted by packet-python, libcloud and dig. See kills.py."""

import collections
import pathlib
from urllib.parse import urlsplit

import kills
import libcloud.security
import named
import packet
import pytest
import tier
import yaml
from libcloud.compute.drivers.equinixmetal import EquinixMetalNodeDriver
from simulator import wait_for

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples/packet/install-config.yaml"
ZONE = "example.com"
PAGE = {"per_page": 100}
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK neighbour"


class Project(kills.World):
    platform = "packet"
    reach = 30

    def __init__(self, simulators, directory, names, monkeypatch):
        credentials = directory / "credentials.yaml"
        simulator = simulators("kills", "--credentials", credentials, "--guest-resolver", names.address, guests="light")
        self.simulator = simulator
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", simulator.ca_file)
        monkeypatch.setattr(libcloud.security, "CA_CERTS_PATH", simulator.ca_file)
        self.id, self.names = simulator.ready["project"], names
        self.manager = packet.Manager(auth_token=simulator.ready["api_key"])
        self.manager.end_point = urlsplit(simulator.url).netloc
        self.driver = pointed(simulator)
        self.network = simulator.ready["guest_network"]
        self.variables = {
            "PACKET_CONFIG": str(credentials),
            "LANDFALL_DNS_RESOLVER": names.address,
            "LANDFALL_DNS_PORT": str(names.port),
        }
        self.files = {"tsig.key": named.SECRET}

    def config(self):
        config = yaml.safe_load(EXAMPLE.read_text())
        config["controlPlane"]["replicas"] = config["compute"][0]["replicas"] = 1
        section = config["platform"]["packet"]
        section["project"] = self.id
        del section["apiAddress"], section["ingressAddress"]
        config["baseDomain"] = ZONE
        config["networking"] = {"machineNetwork": [{"cidr": self.network}]}
        config["dns"] = {"rfc2136": {"server": self.names.address, "keyName": named.KEY, "keyFile": "tsig.key"}}
        return config

    def census(self):
        found = {}
        for own in self.manager.list_devices(self.id, params=PAGE):
            led = sum(not address["management"] for address in own.ip_addresses)
            label = f"device {own.hostname} {own.state}, tags {sorted(own.tags)}, led to by {led} addresses"
            found["device", own.id] = label, (own.operating_system.slug, own.ipxe_script_url, own.userdata)
        for own in self.manager.list_project_ips(self.id, params=PAGE):
            if own.management:
                continue
            found["address", own.id] = f"address, tags {sorted(own.tags or [])}", (own.address, own.cidr)
        for own in self.manager.list_ssh_keys():
            found["key", own.id] = f"key {own.label}", own.key
        for own in self.manager.list_vlans(self.id):
            found["network", own.id] = f"network {own.description}", own.vxlan
        # The other client counts machines and addresses again.
        for own in self.driver.list_nodes(ex_project_id=self.id):
            found["node", own.id] = f"node {own.name} {own.state}", own.image and own.image.id
        for name, kind, value in self.names.records():
            found["record", name, kind, value] = f"record {kind} {name}", value
        return found

    def move_in(self, infra_id):
        manager = self.manager
        device = manager.create_device(
            self.id, f"{infra_id}-master-7", plan="c3.small.x86", operating_system="ubuntu_22_04", metro="da",
            tags=[f"landfall:{infra_id}-2", f"x-landfall:{infra_id}", "landfall-name:master-0"],
        )  # fmt: skip
        block = manager.reserve_ip_address(
            self.id, "public_ipv4", 1, metro="da", tags=[f"landfall:{infra_id}x", "landfall-name:api"]
        )
        look = lambda: manager.get_device(device.id).state
        wait_for("the neighbour's device", look, lambda state: state == "active")
        manager.create_device_ip(device.id, block.address)
        manager.create_project_ssh_key(self.id, f"{infra_id}-key", SSH_KEY)
        manager.create_vlan(self.id, description=f"{infra_id}-network", metro="da")
        names = ("api.demo-2", "api-int.old.demo", "x.apps.demo-2")
        self.names.update(*(f"update add {name}.{ZONE} 60 A 192.0.2.7" for name in names))

    def expected(self, distribution):
        # What addresses lead to: the API to the master and ingress to the worker, or nothing but the API to the bootstrap machine.
        if distribution == "kubernetes":
            made = {"master-0": 1, "worker-0": 1}
        else:
            made = {"bootstrap": 1, **{f"{role}-{number}": 0 for role in ("master", "worker") for number in range(3)}}
            del made["worker-2"]
        labels = []
        for name, led in made.items():
            tags = sorted(["landfall:ID", f"landfall-name:{name}"])
            labels += [f"device ID-{name} active, tags {tags}, led to by {led} addresses", f"node ID-{name} running"]
        labels += [f"address, tags {sorted(['landfall:ID', f'landfall-name:{name}'])}" for name in ("api", "ingress")]
        labels += [f"record A {name}.demo.{ZONE}." for name in ("api", "api-int", "*.apps")]
        owners = ("_landfall.api", "_landfall.api-int", "_landfall-wildcard.apps")
        return collections.Counter(labels + [f"record TXT {name}.demo.{ZONE}." for name in owners])


def pointed(simulator):
    """libcloud's driver, led to a simulator."""
    base = simulator.url.removesuffix("/metal/v1")

    class Pointed(EquinixMetalNodeDriver):
        def _ex_connection_class_kwargs(self):
            return {"url": base}

    return Pointed(simulator.ready["api_key"])


@pytest.fixture
def project(simulators, tmp_path, monkeypatch):
    names = named.Named(tmp_path / "named", ZONE)
    try:
        names.wait()
        yield Project(simulators, tmp_path, names, monkeypatch)
    finally:
        names.stop()


@pytest.mark.parametrize("seed", kills.seeds())
def test_kills(project, tmp_path, seed):
    kills.Trial(project, tmp_path, seed).survive()


@tier.full_only
def test_kills_at_every_record(project, tmp_path):
    kills.Trial(project, tmp_path, 0).survive_every_record()


@pytest.mark.parametrize("distribution", tier.choose(("okd",), kills.OTHERS))
@pytest.mark.parametrize("seed", kills.seeds())
def test_kills_of_other_distributions(project, tmp_path, distribution, seed):
    kills.Trial(project, tmp_path, seed, distribution).survive()
