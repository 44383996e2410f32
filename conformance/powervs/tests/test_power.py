"""power-iaas field by field, where recordings of the service or the code of its clients say what is to be expected, and what
becomes of machines behind load balancers."""

import base64

import pytest
from ibm_cloud_sdk_core import ApiException
from keys import RSA
from simulator import wait_for

IMAGE = {"bucketName": "rhcos-powervs-images-us-south", "region": "us-south", "imageFilename": "rhcos-ppc64le-powervs.ova.gz"}


def server(name, image, network, **changes):
    body = {
        "serverName": name,
        "imageID": image,
        "memory": 8,
        "processors": 0.5,
        "procType": "shared",
        "networks": [{"networkID": network}],
        # The Go client sends lists that are not set as null.
        "volumeIDs": None,
        "networkIDs": None,
        "userData": base64.b64encode(b'{"ignition":{"version":"3.4.0"}}').decode(),
    }
    return {**body, **changes}


def import_image(power, name="rhcos"):
    answer = power.post("./cos-images", {"imageName": name, **IMAGE})
    assert answer.status_code == 202, answer.text
    job = lambda: power.get(f"./jobs/{answer.json()['id']}").json()["status"]
    return wait_for("the import", job, lambda status: status["state"] in ("completed", "failed"))


def dhcp_server(power, cidr, name="net"):
    made = power.post("./services/dhcp", {"name": name, "cidr": cidr})
    assert made.status_code == 202, made.text
    look = lambda: power.get(f"./services/dhcp/{made.json()['id']}").json()["status"]
    wait_for("the DHCP server", look, lambda status: status in ("ACTIVE", "ERROR"))
    return made.json()


def make_server(power, body):
    made = power.post("./pvm-instances", body)
    assert made.status_code == 201, made.text
    (own,) = made.json()
    look = lambda: power.get(f"./pvm-instances/{own['pvmInstanceID']}").json()
    return wait_for("the server", look, lambda own: own["status"] != "BUILD")


@pytest.fixture(scope="module")
def power(clients):
    return clients.workspace("fields")


@pytest.fixture(scope="module")
def image(power):
    assert import_image(power)["state"] == "completed"
    return power.get("./images").json()["images"][0]["imageID"]


@pytest.fixture(scope="module")
def dhcp(power):
    return dhcp_server(power, "192.168.5.0/24", "demo-network")


@pytest.fixture(scope="module")
def machine(power, image, dhcp):
    return make_server(power, server("demo-master-0", image, dhcp["network"]["id"]))


def test_a_network_of_a_dhcp_server(power, dhcp):
    (network,) = [own for own in power.get("./networks").json()["networks"] if own["networkID"] == dhcp["network"]["id"]]
    assert (network["name"], network["dhcpManaged"]) == ("DHCPSERVERdemo-network_Private", True)
    assert power.get(f"./networks/{network['networkID']}").json()["gateway"] == "192.168.5.1"
    # The server is a machine that no list shows.
    assert power.get(f"./pvm-instances/{dhcp['id']}").status_code == 200
    listed = power.get("./pvm-instances").json()["pvmInstances"]
    assert dhcp["id"] not in [own["pvmInstanceID"] for own in listed]


def test_lists_show_less_than_single_machines(power, machine):
    own = power.get(f"./pvm-instances/{machine['pvmInstanceID']}").json()
    (row,) = [row for row in power.get("./pvm-instances").json()["pvmInstances"] if row["pvmInstanceID"] == machine["pvmInstanceID"]]
    assert {"networkID", "networkInterfaceID", "externalIP"} <= set(own["networks"][0])
    assert not {"networkID", "networkInterfaceID", "externalIP"} & set(row["networks"][0])
    assert row["networks"][0]["href"].endswith("DHCPSERVERdemo-network_Private")
    assert own["networks"] == own["addresses"] and "href" in row and "href" not in own
    assert (own["maxmem"], own["maxproc"], own["minmem"], own["minproc"]) == (64, 4, 2, 0.25)
    assert own["virtualCores"]["assigned"] == 1 and own["networks"][0]["macAddress"].startswith("fa:16:3e:")
    assert (own["health"]["status"], own["health"]["reason"]) == ("WARNING", "rmc_state - inactive")
    (volume,) = [volume for volume in power.get("./volumes").json()["volumes"] if volume["volumeID"] in own["volumeIDs"]]
    assert volume["bootVolume"] and volume["name"].startswith("demo-master-0-") and volume["name"].endswith("-boot-0")
    assert volume["ioThrottleRate"] == "360 iops" and len(volume["wwn"]) == 32


def test_addresses_are_in_leases_alone(power, dhcp, machine):
    assert machine["networks"][0]["ipAddress"] == ""
    mac = machine["networks"][0]["macAddress"]
    leases = lambda: power.get(f"./services/dhcp/{dhcp['id']}").json()["leases"]
    (lease,) = wait_for("the lease", leases, lambda all: all)
    assert lease["instanceMacAddress"] == mac and lease["instanceIP"].startswith("192.168.5.")


def test_either_id_of_a_workspace(power):
    own = power.get(".").json()
    assert own["name"] == power.workspace and own["cloudInstanceID"] != power.workspace
    other = f"/pcloud/v1/cloud-instances/{own['cloudInstanceID']}/networks"
    assert power.get(other).status_code == 200
    assert own["cloudInstanceID"] in power.get("./images").json()["images"][0]["href"]


def test_refusals_have_their_shape(power):
    for path, words in (("./images/none", "not found"), ("./services/dhcp/none", "dhcp server does not exist")):
        answer = power.get(path)
        assert answer.status_code == 404 and words in answer.json()["description"] and answer.json()["error"]
    assert power.call("GET", "./images", headers={"CRN": "crn:v1:x"}).status_code == 400
    assert power.call("GET", "./images", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_network_before_the_router_is_refused(simulators, clients_of):
    own = clients_of(simulators("early", "--delay", "router=1000h"))
    made = own.controller.create_resource_instance(
        name="early", target="dal10", resource_group=own.group, resource_plan_id="f165dd34-3a40-423b-9d95-e90a23f724dd"
    ).get_result()
    power = own.power(made["guid"])
    look = lambda: power.get(f"/v1/workspaces/{made['guid']}")
    seen = wait_for("the workspace", look, lambda answer: answer.status_code == 200).json()
    assert seen["details"]["powerEdgeRouter"]["state"] == "configuring"
    answer = power.post("./networks", {"type": "vlan", "cidr": "10.0.0.0/24", "name": "early"})
    assert answer.status_code == 500 and "power edge router" in answer.json()["description"]


@pytest.fixture(scope="module")
def balanced(clients, power, machine, dhcp):
    """A VPC with a load balancer, and the member that stands for the machine."""
    vpc = clients.vpc.create_vpc(name="balanced").get_result()
    status = lambda: clients.vpc.get_vpc(vpc["id"]).get_result()["status"]
    wait_for("the VPC", status, lambda status: status == "available")
    subnet = clients.vpc.create_subnet({"vpc": {"id": vpc["id"]}, "zone": {"name": "us-south-1"}, "name": "balanced"}).get_result()
    status = lambda: clients.vpc.get_subnet(subnet["id"]).get_result()["status"]
    wait_for("the subnet", status, lambda status: status == "available")
    lease = wait_for("the lease", lambda: power.get(f"./services/dhcp/{dhcp['id']}").json()["leases"], lambda all: all)[0]
    monitor = {"delay": 5, "max_retries": 2, "timeout": 2, "type": "tcp"}
    members = [{"port": 6443, "target": {"address": lease["instanceIP"]}}, {"port": 0, "target": {"address": lease["instanceIP"]}}]
    made = clients.vpc.create_load_balancer(
        is_public=False,
        subnets=[{"id": subnet["id"]}],
        name="internal",
        pools=[{"name": "api", "algorithm": "round_robin", "protocol": "tcp", "health_monitor": monitor, "members": members}],
        listeners=[{"port": 6443, "protocol": "tcp", "default_pool": {"name": "api"}}],
    ).get_result()
    status = lambda: clients.vpc.get_load_balancer(made["id"]).get_result()["provisioning_status"]
    wait_for("the load balancer", status, lambda status: status == "active")
    return vpc, made


def test_members_are_healthy_when_everything_is_in_place(clients, power, balanced):
    vpc, balancer = balanced
    pool = balancer["pools"][0]["id"]

    def health():
        members = clients.vpc.list_load_balancer_pool_members(balancer["id"], pool).get_result()["members"]
        return {member["port"]: member["health"] for member in members}

    assert health() == {6443: "faulted", 0: "faulted"}
    gateway = clients.transit.create_transit_gateway(location="us-south", name="both").get_result()["id"]
    status = lambda: clients.transit.get_transit_gateway(gateway).get_result()["status"]
    wait_for("the gateway", status, lambda status: status == "available")
    workspace = clients.controller.get_resource_instance(power.workspace).get_result()["crn"]
    for kind, network in (("vpc", vpc["crn"]), ("power_virtual_server", workspace)):
        clients.transit.create_transit_gateway_connection(gateway, network_type=kind, network_id=network, name=kind.replace("_", "-"))
    look = lambda: clients.transit.list_transit_gateway_connections(gateway).get_result()["connections"]
    wait_for("the connections", look, lambda all: {own["status"] for own in all} == {"attached"})
    assert health() == {6443: "faulted", 0: "faulted"}
    rule = {"direction": "inbound", "protocol": "tcp", "port_min": 6443, "port_max": 6443}
    clients.vpc.create_security_group_rule(vpc["default_security_group"]["id"], rule)
    wait_for("the health", health, lambda seen: seen == {6443: "ok", 0: "faulted"})


def test_what_can_go_wrong(simulators, clients_of):
    own = clients_of(
        simulators(
            "wrong",
            "--outcome", "image broken failed-once",
            "--outcome", "dhcp bad failed",
            "--outcome", "instance doomed failed",
            "--outcome", "instance sticky leaves-interface",
            "--quota", "dhcp=2",
        )
    )
    power = own.workspace("wrong")
    assert import_image(power, "broken")["state"] == "failed"
    assert import_image(power, "broken")["state"] == "completed"
    image = power.get("./images").json()["images"][0]["imageID"]

    bad = dhcp_server(power, "192.168.1.0/24", "bad")["id"]
    seen = power.get(f"./services/dhcp/{bad}").json()
    assert (seen["status"], seen["network"]["name"]) == ("ERROR", "")
    assert power.delete(f"./services/dhcp/{bad}").status_code == 400
    assert power.delete(f"./pvm-instances/{bad}").status_code == 200
    wait_for("its removal", lambda: power.get(f"./services/dhcp/{bad}").status_code, lambda code: code == 404)

    good = dhcp_server(power, "192.168.2.0/24", "good")
    network = good["network"]["id"]
    doomed = make_server(power, server("doomed", image, network))
    assert (doomed["status"], doomed["health"]["status"]) == ("ERROR", "CRITICAL") and doomed["fault"]["details"]
    power.delete(f"./pvm-instances/{doomed['pvmInstanceID']}")
    sticky = make_server(power, server("sticky", image, network))
    power.delete(f"./pvm-instances/{sticky['pvmInstanceID']}")
    for one in (doomed, sticky):
        look = lambda: power.get(f"./pvm-instances/{one['pvmInstanceID']}").status_code
        wait_for("the removal", look, lambda code: code == 404)
    refused = power.delete(f"./services/dhcp/{good['id']}")
    assert refused.status_code == 400 and "still attached to pvm-instances" in refused.json()["description"]
    (left,) = power.get(f"/v1/networks/{network}/network-interfaces").json()["interfaces"]
    assert power.delete(f"/v1/networks/{network}/network-interfaces/{left['id']}").status_code == 200
    assert power.delete(f"./services/dhcp/{good['id']}").status_code == 202


def test_faults_speak_the_dialect_of_their_service(simulators, clients_of):
    own = clients_of(simulators("faulty"))
    own.simulator.add_fault("GET /vpc/* first=1 status=409 body=platform")
    own.simulator.add_fault("GET /transit/* first=1 throttle=3s body=platform")
    own.simulator.add_fault("GET /resource-controller/* first=1 token-expired")
    with pytest.raises(ApiException) as conflict:
        own.vpc.list_vpcs()
    assert "load_balancer_update_conflict" in conflict.value.http_response.text
    with pytest.raises(ApiException) as throttled:
        own.transit.list_transit_gateways()
    assert (throttled.value.status_code, throttled.value.http_response.headers["retry-after"]) == (429, "3")
    controller = own.controller
    with pytest.raises(ApiException) as expired:
        controller.list_resource_instances()
    assert expired.value.status_code == 401
    # The very token is dead from now on; another exchange helps.
    with pytest.raises(ApiException):
        controller.list_resource_instances()
    assert own.controller.list_resource_instances().get_result()["resources"]


def test_a_lost_reply_has_an_effect(simulators, clients_of):
    own = clients_of(simulators("lost"))
    power = own.workspace("lost")
    own.simulator.add_fault("POST /power/pcloud/*/services/dhcp first=1 lost-reply")
    with pytest.raises(Exception):
        power.post("./services/dhcp", {"name": "lost", "cidr": "192.168.1.0/24"})
    assert [server["network"]["name"] for server in power.get("./services/dhcp").json()] == ["DHCPSERVERlost_Private"]
    again = power.post("./services/dhcp", {"name": "lost", "cidr": "192.168.1.0/24"})
    assert again.status_code == 400


def test_keys_are_the_accounts(clients, power):
    path = f"/pcloud/v1/tenants/{clients.ready['account']}/sshkeys"
    assert power.post(path, {"name": "shared", "sshKey": RSA}).status_code == 201
    assert "shared" in [key["name"] for key in power.get("/v1/ssh-keys").json()["sshKeys"]]
    assert power.post("/pcloud/v1/tenants/other/sshkeys", {"name": "x", "sshKey": RSA}).status_code == 403
    assert power.delete(f"{path}/shared").status_code == 200
