"""The published description itself: every call of a cluster's life must be one that it names, answered with a status that it names
and a body of its shape.

The description is not to be had as a package of its own; equinix-metal is generated from it and carries all of it: the path, verb
and answers of each operation, and the shape of each object. What the description is known to be wrong about is left out, with the
reason: it has hardly any field that may be null, though the service sends null (so fields that are null are not judged).
"""

import inspect
import json
import pkgutil
import re

import equinix_metal
import equinix_metal.api
import pytest
import requests
from simulator import wait_for


def described():
    """Verb and path of each operation, with the model of each answer by its status."""
    found = {}
    for module in pkgutil.iter_modules(equinix_metal.api.__path__):
        source = inspect.getsource(__import__(f"equinix_metal.api.{module.name}", fromlist=["_"]))
        answers = None
        for line in re.finditer(
            r"_response_types_map: Dict\[str, Optional\[str\]\] = \{([^}]*)\}|method='(\w+)',\s*resource_path='([^']+)'", source
        ):
            if line.group(1) is not None:
                answers = dict(re.findall(r"'(\d+)': \"?(\w+)\"?", line.group(1)))
            else:
                found[(line.group(2), line.group(3))] = answers
    return found


DESCRIBED = described()


def without_nulls(value):
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


class Api:
    """Makes calls, and judges each."""

    def __init__(self, metal):
        self.metal = metal
        self.session = requests.Session()
        # An authority that the environment names would go before the one that is given here.
        self.session.trust_env = False
        self.session.verify = metal.ca_file
        self.session.headers["X-Auth-Token"] = metal.ready["api_key"]
        self.seen = set()

    def __call__(self, verb, path, body=None, query=None, **parameters):
        answers = DESCRIBED.get((verb, path))
        assert answers is not None, f"{verb} {path} is not described"
        url = self.metal.url + path.format(**parameters)
        answer = self.session.request(verb, url, json=body, params=query)
        assert str(answer.status_code) in answers, f"{verb} {path}: {answer.status_code} is none of {answers}: {answer.text}"
        self.seen.add((verb, path))
        model = answers[str(answer.status_code)]
        if model == "None":
            return None
        document = without_nulls(answer.json())
        shape = getattr(equinix_metal, model)
        shape.from_dict(json.loads(json.dumps(document)))
        return answer.json()


@pytest.fixture(scope="module")
def api(metal):
    return Api(metal)


def test_the_table_was_read():
    assert len(DESCRIBED) > 150
    assert DESCRIBED[("GET", "/devices/{id}")]["200"] == "Device"
    assert DESCRIBED[("POST", "/projects/{id}/devices")]["201"] == "Device"


def test_the_life_of_a_cluster_is_described(api):
    # A project of its own: BGP can be asked for once in each.
    project = api("POST", "/projects", {"name": "life"})["id"]

    # What is looked at before anything is made.
    api("GET", "/user")
    (organization, *_) = api("GET", "/organizations")["organizations"]
    api("GET", "/organizations/{id}", id=organization["id"])
    api("GET", "/projects")
    api("GET", "/projects/{id}", id=project)
    api("GET", "/projects/{id}/plans", id=project)
    for path in ("/plans", "/operating-systems", "/facilities", "/locations/metros", "/capacity", "/capacity/metros"):
        api("GET", path)
    servers = {"servers": [{"metro": "da", "plan": "c3.small.x86", "quantity": "4"}]}
    assert api("POST", "/capacity/metros", servers)["servers"][0]["available"]
    for path in ("/market/spot/prices", "/market/spot/prices/metros"):
        api("GET", path)
    api("GET", "/projects/{id}/hardware-reservations", id=project)

    # What is made.
    key = {"label": "described", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDescribed described"}
    key = api("POST", "/projects/{id}/ssh-keys", key, id=project)
    api("GET", "/projects/{id}/ssh-keys", id=project)
    block = {"type": "public_ipv4", "quantity": 1, "metro": "da", "tags": ["described"], "fail_on_approval_required": True}
    block = api("POST", "/projects/{id}/ips", block, id=project)
    api("GET", "/projects/{id}/ips", query={"include": "assignments"}, id=project)
    network = api("POST", "/projects/{id}/virtual-networks", {"metro": "da", "description": "described"}, id=project)
    api("GET", "/projects/{id}/virtual-networks", id=project)
    api("POST", "/projects/{id}/bgp-configs", {"deployment_type": "local", "asn": 65000, "use_case": "described"}, id=project)
    api("GET", "/projects/{id}/bgp-config", id=project)
    wanted = {
        "metro": "da", "plan": "m3.small.x86", "operating_system": "custom_ipxe", "hostname": "described", "tags": ["described"],
        "ipxe_script_url": "http://192.0.2.1/boot.ipxe", "userdata": "{}", "billing_cycle": "hourly",
        "project_ssh_keys": [key["id"]], "user_ssh_keys": [],
        "ip_addresses": [{"address_family": 4, "public": True}, {"address_family": 4, "public": False}],
    }
    device = api("POST", "/projects/{id}/devices", wanted, id=project)["id"]
    look = lambda: api("GET", "/devices/{id}", id=device)
    seen = wait_for("an active device", look, lambda seen: seen["state"] == "active", progress=lambda seen: seen["state"])
    api("GET", "/projects/{id}/devices", query={"tag": "described"}, id=project)

    # What is led to it.
    assignment = api("POST", "/devices/{id}/ips", {"address": block["address"]}, id=device)
    api("GET", "/devices/{id}/ips", id=device)
    api("POST", "/devices/{id}/bgp/sessions", {"address_family": "ipv4", "default_route": False}, id=device)
    api("GET", "/devices/{id}/bgp/sessions", id=device)
    api("GET", "/devices/{id}/bgp/neighbors", id=device)
    bond = seen["network_ports"][0]["id"]
    api("POST", "/ports/{id}/assign", {"vnid": network["id"]}, id=bond)
    api("GET", "/ports/{id}", id=bond)
    api("POST", "/ports/{id}/unassign", {"vnid": network["id"]}, id=bond)

    # What is asked afterwards.
    api("GET", "/projects/{id}/events", id=project)
    api("GET", "/devices/{id}/events", id=device)
    for action, state in (("power_off", "inactive"), ("power_on", "active")):
        api("POST", "/devices/{id}/actions", {"type": action}, id=device)
        wait_for(action, lambda: look()["state"], lambda seen: seen == state)
    api("PUT", "/devices/{id}", {"locked": False}, id=device)

    # What is removed.
    api("DELETE", "/ips/{id}", id=assignment["id"])
    api("DELETE", "/devices/{id}", id=device)
    api("DELETE", "/ips/{id}", id=block["id"])
    api("DELETE", "/virtual-networks/{id}", id=network["id"])
    api("DELETE", "/ssh-keys/{id}", id=key["id"])
    assert len(api.seen) >= 44


def test_a_project_is_described(api):
    made = api("POST", "/projects", {"name": "described"})
    api("PUT", "/projects/{id}", {"name": "described too"}, id=made["id"])
    api("DELETE", "/projects/{id}", id=made["id"])


def test_refusals_are_described(api, project):
    # The description names the answers to mistakes too; each is judged by its shape.
    assert api("GET", "/devices/{id}", id="00000000-0000-4000-8000-000000000000")["errors"]
    assert api("POST", "/projects/{id}/devices", {"plan": "none", "metro": "da", "operating_system": "none"}, id=project)["errors"]
    assert api("POST", "/projects/{id}/virtual-networks", {"metro": "nowhere"}, id=project)["errors"]


def test_a_shape_that_does_not_fit_is_refused(api, project):
    """The judge itself: a document with a word that the description does not know is not let through."""
    device = api("GET", "/projects/{id}/devices", id=project)
    plan = without_nulls(api("GET", "/plans")["plans"][0])
    with pytest.raises(ValueError):
        equinix_metal.Plan.from_dict({**plan, "deployment_types": ["by_mail"]})
    assert "devices" in device
