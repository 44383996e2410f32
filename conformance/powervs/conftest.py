"""Fixtures: a running simulator, and IBM's clients of each of its services."""

import os

import pytest
from ibm_cloud_networking_services import DnsRecordsV1, DnsSvcsV1, TransitGatewayApisV1, ZonesV1
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_platform_services import (
    GlobalCatalogV1,
    GlobalSearchV2,
    GlobalTaggingV1,
    IamIdentityV1,
    ResourceControllerV2,
    ResourceManagerV2,
)
from ibm_vpc import VpcV1
from power import Power
from simulator import started, wait_for

pytest_plugins = ["judged"]

# Tokens live in simulated time; these clients renew theirs in real time.
LONG = "10000h"


@pytest.fixture(scope="session")
def simulators(tmp_path_factory):
    """Starts simulators. All have one authority, since the clients find theirs in the environment."""
    authority = tmp_path_factory.mktemp("authority")

    def start(name, *options, **settings):
        defaults = []
        for flag, value in (("--time-scale", "200"), ("--token-lifetime", LONG), ("--ca-dir", str(authority))):
            if flag not in options:
                defaults += [flag, value]
        return start_one(name, *defaults, *options, **settings)

    with started(tmp_path_factory.mktemp) as start_one:
        yield start


@pytest.fixture(scope="session")
def ibm(simulators):
    """The simulator that most tests share."""
    return simulators("ibm")


class Clients:
    """IBM's clients of one simulator."""

    def __init__(self, simulator):
        self.simulator = simulator
        self.ready = simulator.ready
        self.services = simulator.ready["services"]
        os.environ["REQUESTS_CA_BUNDLE"] = simulator.ca_file

    @property
    def authenticator(self):
        return IAMAuthenticator(self.ready["api_key"], url=self.services["IAM"])

    def _make(self, kind, name, *arguments, **named):
        client = kind(*arguments, authenticator=self.authenticator, **named)
        client.set_service_url(self.services[name])
        return client

    @property
    def identity(self):
        return self._make(IamIdentityV1, "IAM")

    @property
    def controller(self):
        return self._make(ResourceControllerV2, "ResourceController")

    @property
    def manager(self):
        return self._make(ResourceManagerV2, "ResourceManager")

    @property
    def catalog(self):
        return self._make(GlobalCatalogV1, "GlobalCatalog")

    @property
    def tagging(self):
        return self._make(GlobalTaggingV1, "GlobalTagging")

    @property
    def search(self):
        return self._make(GlobalSearchV2, "GlobalSearch")

    @property
    def vpc(self):
        return self._make(VpcV1, "VPC")

    @property
    def transit(self):
        return self._make(TransitGatewayApisV1, "TransitGateway", version="2024-01-01")

    @property
    def dns(self):
        return self._make(DnsSvcsV1, "DNSServices")

    @property
    def zones(self):
        return self._make(ZonesV1, "CIS", self.ready["cis_crn"])

    def records(self, zone):
        return self._make(DnsRecordsV1, "CIS", self.ready["cis_crn"], zone)

    @property
    def group(self):
        return self.ready["resource_group_id"]

    def power(self, workspace):
        token = self.authenticator.token_manager.get_token()
        return Power(self.services["Power"], token, self.ready["account"], workspace, self.simulator.ca_file)

    def workspace(self, name, zone="dal10"):
        """Makes a workspace and waits for its router, as an installer does."""
        made = self.controller.create_resource_instance(
            name=name, target=zone, resource_group=self.group, resource_plan_id="f165dd34-3a40-423b-9d95-e90a23f724dd"
        ).get_result()
        guid = made["guid"]
        look = lambda: self.controller.get_resource_instance(guid).get_result()["state"]
        wait_for("the workspace", look, lambda state: state == "active")
        power = self.power(guid)
        router = lambda: power.get(f"/v1/workspaces/{guid}").json()["details"]["powerEdgeRouter"]["state"]
        wait_for("its router", router, lambda state: state == "active")
        return power


@pytest.fixture(scope="session")
def clients(ibm):
    return Clients(ibm)


@pytest.fixture(scope="session")
def clients_of():
    return Clients
