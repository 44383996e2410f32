"""ibm-cloud-sdk-core and ibm-platform-services: tokens and API keys."""

import jwt
import pytest
import requests
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_platform_services import ResourceManagerV2
from power import TIMEOUT
from simulator import wait_for


def test_a_token_says_whose_it_is(clients):
    token = clients.authenticator.token_manager.get_token()
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["account"]["bss"] == clients.ready["account"]
    assert claims["iss"] == "https://iam.cloud.ibm.com/identity"
    assert claims["id"] == claims["iam_id"] and claims["exp"] > claims["iat"]


def test_a_wrong_key_is_refused(clients):
    manager = IAMAuthenticator("wrong", url=clients.services["IAM"]).token_manager
    with pytest.raises(ApiException) as refused:
        manager.get_token()
    assert refused.value.status_code == 400
    assert "Provided API key could not be found" in str(refused.value)


def test_details_of_a_key(clients):
    details = clients.identity.get_api_keys_details(iam_api_key=clients.ready["api_key"]).get_result()
    assert details["account_id"] == clients.ready["account"]
    assert details["iam_id"].startswith("IBMid-")


def test_without_a_token_nothing_is_answered_but_datacenters(clients):
    ca_file = clients.simulator.ca_file
    for path in ("/resource-manager/v2/resource_groups", "/vpc/v1/vpcs?version=2024-01-01&generation=2", "/power/v1/workspaces"):
        assert requests.get(clients.ready["url"] + path, verify=ca_file, timeout=TIMEOUT).status_code == 401, path
    answer = requests.get(clients.services["Power"] + "/v1/datacenters", verify=ca_file, timeout=TIMEOUT)
    assert answer.status_code == 200


def test_tokens_expire_in_simulated_time_and_are_renewed(simulators, clients_of):
    """The client renews at four fifths of the lifetime that it was told."""
    simulator = simulators("expiry", "--time-scale", "1", "--token-lifetime", "3s")
    own = clients_of(simulator)
    manager = own.authenticator.token_manager
    first = manager.get_token()
    groups = ResourceManagerV2(authenticator=own.authenticator)
    groups.set_service_url(own.services["ResourceManager"])
    wait_for("another token", manager.get_token, lambda token: token != first, every=0.1)
    assert groups.list_resource_groups().get_result()["resources"]
    headers = {"Authorization": f"Bearer {first}"}
    url = own.services["ResourceManager"] + "/v2/resource_groups"
    status = lambda: requests.get(url, headers=headers, verify=simulator.ca_file, timeout=TIMEOUT).status_code
    wait_for("the end of the first token", status, lambda status: status == 401, every=0.1)
