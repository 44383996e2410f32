"""`kill -9` of `landfall create cluster` and `landfall destroy cluster`, counted by IBM's SDKs in a whole account. See kills.py.

Clusters of even seeds make a workspace; those of odd seeds share the neighbour's, which stays.
"""

import collections
import pathlib

import kills
import pytest
import tier
import yaml
from keys import RSA
from simulator import wait_for
from test_power import dhcp_server, import_image, make_server, server

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples/powervs/install-config.yaml"
COS_PLAN = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87"
REGION = "us-south"
# Records that say whose the others are.
OWNER = {"api": "_landfall.api", "api-int": "_landfall.api-int", "*.apps": "_landfall-wildcard.apps"}
ZONES = [f"{REGION}-{number}" for number in (1, 2, 3)]


class Account(kills.World):
    platform = "powervs"
    reach = 120
    drawn = kills.World.drawn + ((r"-[0-9a-f]{8}-[0-9a-f]{8}-boot-0", "-boot-0"),)

    def __init__(self, simulators, clients_of, directory, shares):
        credentials = directory / "credentials.json"
        self.simulator = simulators("kills", "--credentials", credentials, guests="light")
        self.ibm = clients_of(self.simulator)
        self.server = self.ibm.ready["name_server"]
        self.variables = {
            "POWERVS_AUTH_FILEPATH": str(credentials),
            "LANDFALL_DNS_RESOLVER": self.server,
            "LANDFALL_DNS_PORT": self.server.rpartition(":")[2],
        }
        self.shares = shares
        # Each client fetches a token of its own, so these are kept.
        self.tagging, self.vpc, self.transit, self.powers = self.ibm.tagging, self.ibm.vpc, self.ibm.transit, {}
        self.neighbour = self.ibm.workspace("neighbour-power-iaas")

    def config(self):
        config = yaml.safe_load(EXAMPLE.read_text())
        config["controlPlane"]["replicas"] = config["compute"][0]["replicas"] = 1
        if self.shares:
            config["platform"]["powervs"]["serviceInstanceGUID"] = self.neighbour.workspace
        return config

    def census(self):
        found = {}

        def note(kind, key, label, details=None, crn=None):
            # What is tagged carries the tag in its label: it is a part of what a cluster is made of.
            tags = f", tags {self._tags(crn)}" if crn else ""
            found[kind, key] = f"{kind} {label}{tags}", details

        ibm, result = self.ibm, lambda answer: answer.get_result()
        for own in result(ibm.controller.list_resource_instances(limit=100))["resources"]:
            note("instance", own["guid"], f"{own['name']} {own['state']}", crn=own["crn"])
            if "power-iaas" in own["crn"] and own["state"] == "active":
                self._look_into(own["guid"], note)
        for own in result(ibm.controller.list_resource_keys(limit=100))["resources"]:
            note("key", own["guid"], own["name"])
        for own in result(ibm.controller.list_reclamations())["resources"]:
            note("reclamation", own["id"], own["entity_id"])
        self._look_at_networks(note)
        for own in result(ibm.tagging.list_tags(limit=1000))["items"]:
            note("tag", own["name"], own["name"])
        for zone in result(ibm.zones.list_zones())["result"]:
            for own in result(ibm.records(zone["id"]).list_all_dns_records(per_page=100))["result"]:
                note("record", own["id"], f"{own['type']} {own['name']}", own["content"])
        return found

    def _tags(self, crn):
        return [tag["name"] for tag in self.tagging.list_tags(attached_to=crn).get_result()["items"]]

    def _look_into(self, workspace, note):
        """What is in Power Virtual Server. SSH keys are shown by all workspaces."""
        if workspace not in self.powers:
            self.powers[workspace] = self.ibm.power(workspace)
        power = self.powers[workspace]
        for own in power.get("./pvm-instances").json()["pvmInstances"]:
            networks = [network["networkName"] for network in own["networks"]]
            note("machine", own["pvmInstanceID"], f"{own['serverName']} {own['status']}", (networks, own["memory"]))
        for own in power.get("./networks").json()["networks"]:
            note("network", own["networkID"], own["name"], own["vlanID"])
        for own in power.get("./services/dhcp").json():
            note("dhcp", own["id"], own["status"], own["network"]["id"])
        for own in power.get("./images").json()["images"]:
            note("image", own["imageID"], f"{own['name']} {own['state']}")
        for own in power.get("./volumes").json()["volumes"]:
            note("volume", own["volumeID"], f"{own['name']} {own['state']}", own["size"])
        tenant = f"/pcloud/v1/tenants/{self.ibm.ready['account']}/sshkeys"
        for own in power.get(tenant).json()["sshKeys"]:
            note("ssh key", own["name"], own["name"], own["sshKey"])

    def _look_at_networks(self, note):
        vpc, transit, result = self.vpc, self.transit, lambda answer: answer.get_result()
        default = set()
        for own in result(vpc.list_vpcs(limit=100))["vpcs"]:
            note("vpc", own["id"], own["name"], crn=own["crn"])
            default.add(own["default_security_group"]["id"])
        for own in result(vpc.list_subnets(limit=100))["subnets"]:
            note("subnet", own["id"], own["name"], own["ipv4_cidr_block"], own["crn"])
        for own in result(vpc.list_public_gateways(limit=100))["public_gateways"]:
            note("public gateway", own["id"], own["name"], crn=own["crn"])
        for own in result(vpc.list_floating_ips(limit=100))["floating_ips"]:
            note("floating address", own["id"], "of a public gateway" if own.get("target") else own["name"], own["address"])
        for own in result(vpc.list_security_groups(limit=100))["security_groups"]:
            if own["id"] not in default:
                note("security group", own["id"], f"{own['name']}, {len(own['rules'])} rules", crn=own["crn"])
        for own in result(vpc.list_load_balancers(limit=100))["load_balancers"]:
            pools = [result(vpc.get_load_balancer_pool(own["id"], pool["id"])) for pool in own["pools"]]
            members = sorted(f"{pool['name']} {len(pool.get('members', []))}" for pool in pools)
            note("load balancer", own["id"], f"{own['name']}, members {members}", crn=own["crn"])
        for own in result(transit.list_transit_gateways(limit=100))["transit_gateways"]:
            note("transit gateway", own["id"], f"{own['name']} {own['status']}", crn=own["crn"])
            for one in result(transit.list_transit_gateway_connections(own["id"]))["connections"]:
                note("connection", one["id"], f"{one['name']} {one['status']}", one["network_type"])

    def move_in(self, infra_id):
        ibm, tag = self.ibm, f"landfall:{infra_id}-2"
        power = self.neighbour
        assert import_image(power, f"{infra_id}-image-2")["state"] == "completed"
        image = power.get("./images").json()["images"][0]["imageID"]
        network = power.post("./networks", {"type": "vlan", "cidr": "10.9.0.0/24", "name": f"{infra_id}-network-2"}).json()
        make_server(power, server(f"{infra_id}-master-7", image, network["networkID"]))
        keys = f"/pcloud/v1/tenants/{ibm.ready['account']}/sshkeys"
        assert power.post(keys, {"name": f"{infra_id}-key-2", "sshKey": RSA}).status_code in (200, 201)
        ibm.controller.create_resource_instance(
            name=f"{infra_id}-cos-2", target="Global", resource_group=ibm.group, resource_plan_id=COS_PLAN, tags=[tag]
        )
        vpc = ibm.vpc.create_vpc(name=f"{infra_id}-vpc-2").get_result()
        wait_for("the VPC", lambda: ibm.vpc.get_vpc(vpc["id"]).get_result()["status"], lambda status: status == "available")
        place = {"vpc": {"id": vpc["id"]}, "zone": {"name": ZONES[0]}, "total_ipv4_address_count": 256}
        subnet = ibm.vpc.create_subnet({**place, "name": f"{infra_id}-subnet-2"}).get_result()
        ibm.vpc.create_security_group(vpc={"id": vpc["id"]}, name=f"{infra_id}-sg-2")
        gateway = ibm.transit.create_transit_gateway(location=REGION, name=f"{infra_id}-tg-2", global_=False).get_result()
        look = lambda: ibm.transit.get_transit_gateway(gateway["id"]).get_result()["status"]
        wait_for("the gateway", look, lambda status: status == "available")
        resources = [{"resource_id": own["crn"]} for own in (vpc, subnet, gateway)]
        ibm.tagging.attach_tag(resources=resources, tag_names=[tag], tag_type="user")
        (zone,) = ibm.zones.list_zones().get_result()["result"]
        for name in ("api.demo-2", "api-int.old.demo", "x.apps.demo-2"):
            ibm.records(zone["id"]).create_dns_record(type="A", name=f"{name}.example.com", content="192.0.2.7", ttl=60)

    def expected(self, distribution):
        if distribution == "kubernetes":
            made, balanced = ["master-0", "worker-0"], {"api": 1, "config": 1, "ingress-http": 1, "ingress-https": 1}
        else:
            made = ["bootstrap", "master-0", "master-1", "master-2", "worker-0", "worker-1"]
            balanced = {"api": 4, "config": 4, "ingress-http": 0, "ingress-https": 0}
        tags = "tags ['landfall:ID']"
        labels = [f"machine ID-{name} ACTIVE" for name in made] + [f"volume ID-{name}-boot-0 in-use" for name in made]
        labels += ["network DHCPSERVERID-network_Private", "dhcp ACTIVE", "image ID-image active", "tag landfall:ID"]
        labels += [f"vpc ID-vpc, {tags}", f"security group ID-sg, 5 rules, {tags}", f"transit gateway ID-tg available, {tags}"]
        labels += [f"subnet ID-subnet-{zone}, {tags}" for zone in ZONES]
        labels += [f"public gateway ID-gateway-{zone}, {tags}" for zone in ZONES]
        labels += ["floating address of a public gateway" for _ in ZONES]
        labels += ["connection ID-vpc-con attached", "connection ID-pvs-con attached"]
        for name, pools in (("loadbalancer", ["api", "ingress-http", "ingress-https"]), ("loadbalancer-int", ["api", "config"])):
            members = [f"{pool} {balanced[pool]}" for pool in pools]
            labels.append(f"load balancer ID-{name}, members {members}, {tags}")
        for name in ("api", "api-int", "*.apps"):
            labels += [f"record CNAME {name}.demo.example.com"]
            labels += [f"record TXT {OWNER[name]}.demo.example.com"]
        if distribution in kills.OTHERS:
            # The bootstrap machine's config, which stays until it has done its work.
            labels += [f"instance ID-cos active, {tags}", "key ID-cos-key"]
        if not self.shares:
            labels.append(f"instance ID-power-iaas active, {tags}")
        return collections.Counter(labels)


@pytest.fixture
def account(simulators, clients_of, tmp_path):
    def make(seed):
        return Account(simulators, clients_of, tmp_path, shares=seed % 2 == 1)

    return make


@pytest.mark.parametrize("seed", kills.seeds())
def test_kills(account, tmp_path, seed):
    kills.Trial(account(seed), tmp_path, seed).survive()


@tier.full_only
def test_kills_at_every_record(account, tmp_path):
    kills.Trial(account(0), tmp_path, 0).survive_every_record()


@tier.full_only
@pytest.mark.parametrize("distribution", kills.OTHERS)
@pytest.mark.parametrize("seed", kills.seeds())
def test_kills_of_other_distributions(account, tmp_path, distribution, seed):
    kills.Trial(account(seed), tmp_path, seed, distribution).survive()
