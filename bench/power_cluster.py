"""Makes what a cluster on PowerVS needs with IBM's Python SDKs, in the order of the reference installer: what is in the workspace next to
what is in the VPC, then the gateway, then machines, and each machine behind each pool by a change of its own, because that is how the
reference joins them. power-iaas has no complete Python client, so it is asked over plain HTTP.

Usage: power_cluster.py READY MASTERS WORKERS   (READY: what the simulator says of itself, in a file; environment: SCALE)
"""

import base64
import concurrent.futures
import json
import os
import pathlib
import sys
import time

from ibm_cloud_networking_services import TransitGatewayApisV1
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_platform_services import ResourceControllerV2
from ibm_vpc import VpcV1
from power import Power

# As the reference's controllers look again, in seconds of the simulated clock.
PAUSE_SECONDS = 15 / float(os.environ["SCALE"])
POWER_PLAN = "f165dd34-3a40-423b-9d95-e90a23f724dd"
NAME = "peer-x7k2p"
ZONES = ("us-south-1", "us-south-2", "us-south-3")


def until(look, wanted):
    while (seen := look()) not in wanted:
        time.sleep(PAUSE_SECONDS)
    return seen


class Cluster:
    def __init__(self, ready, masters, workers):
        self.ready, self.masters, self.workers = ready, masters, workers
        self.group = {"id": ready["resource_group_id"]}
        self.controller = self.client(ResourceControllerV2, "ResourceController")
        self.vpcs = self.client(VpcV1, "VPC")
        self.transit = self.client(TransitGatewayApisV1, "TransitGateway", version="2024-01-01")

    def client(self, kind, service, **named):
        authenticator = IAMAuthenticator(self.ready["api_key"], url=self.ready["services"]["IAM"])
        client = kind(authenticator=authenticator, **named)
        client.set_service_url(self.ready["services"][service])
        return client

    def again(self, call):
        """A call, again and again while the service says that it is busy."""
        while True:
            try:
                return call().get_result()
            except ApiException as error:
                if error.status_code not in (409, 429, 500, 503):
                    raise
                time.sleep(PAUSE_SECONDS)

    # --- the workspace ---

    def make_workspace(self):
        made = self.controller.create_resource_instance(
            name=f"{NAME}-power-iaas", target=self.ready["zone"], resource_group=self.group["id"], resource_plan_id=POWER_PLAN
        ).get_result()
        self.workspace = made
        until(lambda: self.controller.get_resource_instance(made["guid"]).get_result()["state"], ("active",))
        authenticator = IAMAuthenticator(self.ready["api_key"], url=self.ready["services"]["IAM"])

        def power():
            token = authenticator.token_manager.get_token()
            return Power(self.ready["services"]["Power"], token, self.ready["account"], made["guid"], self.ready["ca_file"])

        self.power = power
        router = lambda: power().get(f"/v1/workspaces/{made['guid']}").json()["details"]["powerEdgeRouter"]["state"]
        until(router, ("active",))
        self.dhcp = power().post("./services/dhcp", {"name": f"{NAME}-network", "cidr": "192.168.125.0/24"}).json()["id"]
        until(lambda: power().get(f"./services/dhcp/{self.dhcp}").json()["status"], ("ACTIVE",))
        self.network = power().get(f"./services/dhcp/{self.dhcp}").json()["network"]["id"]

    def make_image(self):
        """Alongside, once the workspace is there."""
        until(lambda: hasattr(self, "dhcp"), (True,))
        body = {
            "imageName": f"rhcos-{NAME}", "bucketName": "rhcos-powervs-images-us-south", "region": "us-south",
            "imageFilename": "rhcos-ppc64le-powervs.ova.gz", "bucketAccess": "public",
        }
        self.power().post("./cos-images", body).raise_for_status()
        state = lambda: {image["name"]: image["state"] for image in self.power().get("./images").json()["images"]}
        until(lambda: state().get(f"rhcos-{NAME}"), ("active",))
        images = self.power().get("./images").json()["images"]
        self.image = next(image["imageID"] for image in images if image["name"] == f"rhcos-{NAME}")

    # --- the VPC ---

    def make_vpc(self):
        vpc = self.vpcs.create_vpc(name=f"vpc-{NAME}", resource_group=self.group).get_result()
        self.vpc = vpc
        until(lambda: self.vpcs.get_vpc(vpc["id"]).get_result()["status"], ("available",))
        subnets = []
        for zone in ZONES:
            prototype = {
                "name": f"{NAME}-vpcsubnet-{zone}", "vpc": {"id": vpc["id"]}, "zone": {"name": zone},
                "total_ipv4_address_count": 256, "ip_version": "ipv4", "resource_group": self.group,
            }
            subnets.append(self.vpcs.create_subnet(prototype).get_result()["id"])
        for subnet in subnets:
            until(lambda: self.vpcs.get_subnet(subnet).get_result()["status"], ("available",))
        for port in (22, 80, 443, 6443, 22623):
            rule = {"direction": "inbound", "protocol": "tcp", "port_min": port, "port_max": port}
            self.vpcs.create_security_group_rule(vpc["default_security_group"]["id"], rule).get_result()
        self.balancers = []
        for is_public in (True, False):
            ports = (6443,) if is_public else (6443, 22623)
            pools = [
                {
                    "name": f"pool-{port}", "algorithm": "round_robin", "protocol": "tcp",
                    "health_monitor": {"delay": 5, "max_retries": 2, "timeout": 2, "type": "tcp"},
                }
                for port in ports
            ]
            listeners = [{"port": port, "protocol": "tcp", "default_pool": {"name": f"pool-{port}"}} for port in ports]
            made = self.vpcs.create_load_balancer(
                is_public=is_public, subnets=[{"id": subnet} for subnet in subnets], pools=pools, listeners=listeners,
                name=f"{NAME}-loadbalancer{'' if is_public else '-int'}", resource_group=self.group,
            ).get_result()
            self.balancers.append((made["id"], ports))
        for balancer, _ in self.balancers:
            self.wait_for_balancer(balancer)

    def wait_for_balancer(self, balancer):
        until(lambda: self.vpcs.get_load_balancer(balancer).get_result()["provisioning_status"], ("active",))

    # --- what joins them ---

    def make_gateway(self):
        gateway = self.transit.create_transit_gateway(
            location=self.ready["vpc_region"], name=f"{NAME}-tg", global_=False, resource_group=self.group
        ).get_result()["id"]
        until(lambda: self.transit.get_transit_gateway(gateway).get_result()["status"], ("available",))
        for kind, crn, name in (
            ("power_virtual_server", self.workspace["crn"], "pvs-con"), ("vpc", self.vpc["crn"], "vpc-con")
        ):
            self.transit.create_transit_gateway_connection(gateway, kind, network_id=crn, name=f"{NAME}-{name}").get_result()
        connections = lambda: self.transit.list_transit_gateway_connections(gateway).get_result()["connections"]
        until(lambda: {connection["status"] for connection in connections()} == {"attached"}, (True,))

    # --- machines ---

    def make_machine(self, name):
        body = {
            "serverName": f"{NAME}-{name}", "imageID": self.image, "networks": [{"networkID": self.network}], "memory": 32,
            "processors": 0.5, "procType": "shared", "sysType": "s922", "userData": base64.b64encode(b"{}").decode(),
        }
        self.power().post("./pvm-instances", body).raise_for_status()

    def addresses(self, names):
        """Waits until all run and have been lent an address."""
        wanted = {f"{NAME}-{name}" for name in names}

        def lent():
            instances = self.power().get("./pvm-instances").json()["pvmInstances"]
            leases = self.power().get(f"./services/dhcp/{self.dhcp}").json()["leases"]
            by_mac = {lease["instanceMacAddress"].lower(): lease["instanceIP"] for lease in leases}
            return {
                instance["serverName"]: by_mac[port["macAddress"].lower()]
                for instance in instances
                for port in instance["networks"]
                if instance["status"] == "ACTIVE" and port["macAddress"].lower() in by_mac
            }

        until(lambda: wanted <= set(lent()), (True,))
        found = lent()
        return {name: found[f"{NAME}-{name}"] for name in names}

    def pools(self):
        for balancer, ports in self.balancers:
            for pool in self.vpcs.list_load_balancer_pools(balancer).get_result()["pools"]:
                yield balancer, pool["id"], int(pool["name"].rsplit("-", 1)[1])

    def join(self, address):
        for balancer, pool, port in self.pools():
            member = {"address": address}
            self.again(lambda: self.vpcs.create_load_balancer_pool_member(balancer, pool, port, member))
            self.wait_for_balancer(balancer)

    def leave(self, address):
        for balancer, pool, _ in self.pools():
            members = self.vpcs.list_load_balancer_pool_members(balancer, pool).get_result()["members"]
            for member in (member for member in members if member["target"]["address"] == address):
                self.again(lambda: self.vpcs.delete_load_balancer_pool_member(balancer, pool, member["id"]))
                self.wait_for_balancer(balancer)

    def make(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            image = pool.submit(self.make_image)
            for branch in (pool.submit(self.make_workspace), pool.submit(self.make_vpc)):
                branch.result()
            self.make_gateway()
            image.result()
        control = ["bootstrap", *(f"master-{number}" for number in range(self.masters))]
        for name in control:
            self.make_machine(name)
        addresses = self.addresses(control)
        for name in control:
            self.join(addresses[name])
        self.leave(addresses["bootstrap"])
        instances = self.power().get("./pvm-instances").json()["pvmInstances"]
        bootstrap = next(one["pvmInstanceID"] for one in instances if one["serverName"] == f"{NAME}-bootstrap")
        self.power().delete(f"./pvm-instances/{bootstrap}").raise_for_status()
        workers = [f"worker-{number}" for number in range(self.workers)]
        for name in workers:
            self.make_machine(name)
        if workers:
            self.addresses(workers)


def main():
    ready = json.loads(pathlib.Path(sys.argv[1]).read_text())
    Cluster(ready, int(sys.argv[2]), int(sys.argv[3])).make()


if __name__ == "__main__":
    main()
