"""schemathesis: whatever is sent to power-iaas, the answer is one that its description allows."""

import pathlib

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from power import TIMEOUT
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

EXAMPLES = 15


@pytest.fixture(scope="session")
def workspace(clients):
    """A workspace with one of everything, so that not all that is asked for is missing."""
    power = clients.workspace("fuzzed")
    power.post("./services/dhcp", {"name": "fuzzed", "cidr": "192.168.66.0/24"})
    power.post("./volumes", {"name": "fuzzed", "size": 1})
    power.post("./placement-groups", {"name": "fuzzed", "policy": "affinity"})
    power.post("./networks", {"type": "vlan", "cidr": "10.66.0.0/24", "name": "fuzzed"})
    return power


DESCRIPTION = pathlib.Path(__file__).parents[3] / "crates/simulator/src/powervs/power/openapi.yaml"
schema = schemathesis.openapi.from_path(DESCRIPTION)


def test_the_description_is_served(clients):
    answer = requests.get(clients.services["Power"] + "/v1/openapi.json", verify=clients.simulator.ca_file, timeout=TIMEOUT)
    served = answer.json()
    assert served["servers"] == [{"url": clients.services["Power"]}]
    assert served["paths"] == schema.raw_schema["paths"]


def known(workspace):
    """What is really there, by the name that the description has for it in paths."""
    first = lambda path, field, key: workspace.get(path).json()[field][0][key]
    return {
        "ws": workspace.workspace,
        "workspace": workspace.workspace,
        "tenant": workspace.account,
        "zone": "dal10",
        "image": first("./stock-images", "images", "imageID"),
        "network": first("./networks", "networks", "networkID"),
        "server": workspace.get("./services/dhcp").json()[0]["id"],
        "volume": first("./volumes", "volumes", "volumeID"),
        "group": first("./placement-groups", "placementGroups", "id"),
        "type": "tier3",
        "pool": "Tier3-Flash-1",
    }


@pytest.fixture(scope="session")
def things(workspace):
    return known(workspace)


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
def test_power(case, clients, workspace, things):
    parameters = case.path_parameters or {}
    keep = case.method != "DELETE"
    case.path_parameters = {
        name: things[name] if name in ("ws", "tenant") or (keep and name in things) else value
        for name, value in parameters.items()
    }
    case.headers = {**(case.headers or {}), **{name: workspace.session.headers[name] for name in ("Authorization", "CRN")}}
    case.call_and_validate(
        base_url=clients.services["Power"],
        session=workspace.session,
        checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance],
    )
