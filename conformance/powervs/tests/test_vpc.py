"""ibm-vpc. Every answer is read by the model that the client has for it, which refuses one that lacks a required field."""

import ibm_vpc.vpc_v1 as models
import pytest
from ibm_cloud_sdk_core import ApiException
from power import TIMEOUT
from simulator import wait_for

pytestmark = pytest.mark.story

REGION = "us-south"


def read(model, answer):
    """What the client makes of an answer."""
    return model.from_dict(answer.get_result())


@pytest.fixture(scope="module")
def network(clients):
    """A VPC with a subnet."""
    vpc = read(models.VPC, clients.vpc.create_vpc(name="typed", resource_group={"id": clients.group}))
    assert vpc.status == "pending"
    look = lambda: read(models.VPC, clients.vpc.get_vpc(vpc.id)).status
    wait_for("the VPC", look, lambda status: status == "available")
    prototype = {
        "ip_version": "ipv4",
        "total_ipv4_address_count": 256,
        "vpc": {"id": vpc.id},
        "zone": {"name": f"{REGION}-1"},
        "name": "typed-1",
        "resource_group": {"id": clients.group},
    }
    subnet = read(models.Subnet, clients.vpc.create_subnet(prototype))
    look = lambda: read(models.Subnet, clients.vpc.get_subnet(subnet.id)).status
    wait_for("the subnet", look, lambda status: status == "available")
    return vpc, subnet


def test_regions(clients):
    regions = read(models.RegionCollection, clients.vpc.list_regions()).regions
    assert REGION in [region.name for region in regions]
    region = read(models.Region, clients.vpc.get_region(REGION))
    zones = read(models.ZoneCollection, clients.vpc.list_region_zones(REGION)).zones
    assert [zone.name for zone in zones] == [f"{REGION}-{number}" for number in (1, 2, 3)]
    # Installers go on at the address of the region.
    pointed = clients.vpc
    pointed.set_service_url(region.endpoint + "/v1")
    assert read(models.VPCCollection, pointed.list_vpcs()).total_count >= 0


def test_versions(clients):
    import requests

    token = clients.authenticator.token_manager.get_token()
    for query, code in (("", "missing_version"), ("version=x&generation=2", "invalid_version"), ("version=2024-01-01", "invalid_generation")):
        answer = requests.get(
            f"{clients.services['VPC']}/vpcs?{query}",
            headers={"Authorization": f"Bearer {token}"},
            verify=clients.simulator.ca_file,
            timeout=TIMEOUT,
        )
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, code)


def test_networks(clients, network):
    vpc, subnet = network
    assert subnet.ipv4_cidr_block.startswith("10.240.0.")
    prefixes = read(models.AddressPrefixCollection, clients.vpc.list_vpc_address_prefixes(vpc.id)).address_prefixes
    assert len(prefixes) == 3
    listed = read(models.SubnetCollection, clients.vpc.list_subnets(vpc_id=vpc.id)).subnets
    assert [one.id for one in listed] == [subnet.id]
    with pytest.raises(ApiException) as refused:
        clients.vpc.create_vpc(name="typed")
    assert refused.value.status_code == 409
    gateway = read(
        models.PublicGateway,
        clients.vpc.create_public_gateway(vpc={"id": vpc.id}, zone={"name": f"{REGION}-1"}, name="way-out"),
    )
    read(models.PublicGateway, clients.vpc.set_subnet_public_gateway(subnet.id, {"id": gateway.id}))
    with pytest.raises(ApiException) as refused:
        clients.vpc.delete_public_gateway(gateway.id)
    assert refused.value.status_code == 409
    with pytest.raises(ApiException) as refused:
        clients.vpc.delete_vpc(vpc.id)
    assert refused.value.status_code == 409
    clients.vpc.unset_subnet_public_gateway(subnet.id)
    clients.vpc.delete_public_gateway(gateway.id)
    look = lambda: read(models.PublicGatewayCollection, clients.vpc.list_public_gateways()).public_gateways
    wait_for("its removal", look, lambda all: gateway.id not in [one.id for one in all])
    address = read(models.FloatingIP, clients.vpc.create_floating_ip({"zone": {"name": f"{REGION}-1"}, "name": "mine"}))
    assert address.id in [one.id for one in read(models.FloatingIPCollection, clients.vpc.list_floating_ips()).floating_ips]
    clients.vpc.delete_floating_ip(address.id)
    read(models.ReservedIPCollection, clients.vpc.list_subnet_reserved_ips(subnet.id))
    for empty, collection in (
        (clients.vpc.list_instances(), models.InstanceCollection),
        (clients.vpc.list_endpoint_gateways(), models.EndpointGatewayCollection),
    ):
        assert read(collection, empty).total_count == 0


def test_security_groups(clients, network):
    vpc, _ = network
    group = read(models.SecurityGroup, clients.vpc.create_security_group(vpc={"id": vpc.id}, name="strict"))
    rule = {"direction": "inbound", "protocol": "tcp", "port_min": 6443, "port_max": 6443}
    made = clients.vpc.create_security_group_rule(group.id, rule).get_result()
    assert models.SecurityGroupRule.from_dict(made).port_min == 6443
    rules = read(models.SecurityGroupRuleCollection, clients.vpc.list_security_group_rules(group.id)).rules
    assert [one.id for one in rules] == [made["id"]]
    read(models.SecurityGroupCollection, clients.vpc.list_security_groups())
    default = read(models.SecurityGroup, clients.vpc.get_security_group(vpc.default_security_group.id))
    assert {one.direction for one in default.rules} == {"inbound", "outbound"}
    with pytest.raises(ApiException):
        clients.vpc.delete_security_group(default.id)
    clients.vpc.delete_security_group_rule(group.id, made["id"])
    clients.vpc.delete_security_group(group.id)


POOL = {
    "name": "api",
    "algorithm": "round_robin",
    "protocol": "tcp",
    "health_monitor": {"delay": 5, "max_retries": 2, "timeout": 2, "type": "tcp"},
}


@pytest.fixture(scope="module")
def balancer(clients, network):
    _, subnet = network
    made = read(
        models.LoadBalancer,
        clients.vpc.create_load_balancer(
            is_public=True,
            subnets=[{"id": subnet.id}],
            name="front",
            pools=[POOL],
            listeners=[{"port": 6443, "protocol": "tcp", "default_pool": {"name": "api"}}],
        ),
    )
    assert made.provisioning_status == "create_pending"
    active(clients, made.id)
    return made.id


def active(clients, balancer):
    look = lambda: read(models.LoadBalancer, clients.vpc.get_load_balancer(balancer)).provisioning_status
    wait_for("the load balancer", look, lambda status: status == "active")


def test_one_change_at_a_time(clients, balancer):
    vpc = clients.vpc
    (pool,) = read(models.LoadBalancerPoolCollection, vpc.list_load_balancer_pools(balancer)).pools
    member = {"port": 6443, "target": {"address": "192.168.0.5"}}
    made = read(models.LoadBalancerPoolMember, vpc.create_load_balancer_pool_member(balancer, pool.id, **member))
    assert (made.provisioning_status, made.health) == ("create_pending", "unknown")
    with pytest.raises(ApiException) as busy:
        vpc.create_load_balancer_pool_member(balancer, pool.id, port=6443, target={"address": "192.168.0.6"})
    assert busy.value.status_code == 409 and "load_balancer_update_conflict" in busy.value.http_response.text
    active(clients, balancer)
    # Nothing has this address, so whatever is said of it, it is not healthy.
    seen = read(models.LoadBalancerPoolMember, vpc.get_load_balancer_pool_member(balancer, pool.id, made.id))
    assert (seen.provisioning_status, seen.health) == ("active", "faulted")
    replaced = vpc.replace_load_balancer_pool_members(
        balancer, pool.id, members=[{"port": 6443, "target": {"address": f"192.168.0.{last}"}} for last in (5, 6, 7)]
    )
    members = read(models.LoadBalancerPoolMemberCollection, replaced).members
    assert len(members) == 3 and made.id in [one.id for one in members]
    active(clients, balancer)
    vpc.delete_load_balancer_pool_member(balancer, pool.id, made.id)
    active(clients, balancer)
    left = read(models.LoadBalancerPoolMemberCollection, vpc.list_load_balancer_pool_members(balancer, pool.id)).members
    assert len(left) == 2


def test_pools_and_listeners(clients, balancer):
    vpc = clients.vpc
    active(clients, balancer)
    pool = read(models.LoadBalancerPool, vpc.create_load_balancer_pool(balancer, **{**POOL, "name": "config"}))
    active(clients, balancer)
    listener = read(
        models.LoadBalancerListener,
        vpc.create_load_balancer_listener(balancer, "tcp", port=22623, default_pool={"id": pool.id}),
    )
    active(clients, balancer)
    listeners = read(models.LoadBalancerListenerCollection, vpc.list_load_balancer_listeners(balancer)).listeners
    assert sorted(one.port for one in listeners) == [6443, 22623]
    with pytest.raises(ApiException) as used:
        vpc.delete_load_balancer_pool(balancer, pool.id)
    assert used.value.status_code == 409
    vpc.delete_load_balancer_listener(balancer, listener.id)
    active(clients, balancer)
    vpc.delete_load_balancer_pool(balancer, pool.id)
    active(clients, balancer)


def test_removal(clients, network, balancer):
    """The whole of it in the order that works."""
    vpc, subnet = network
    active(clients, balancer)
    with pytest.raises(ApiException) as used:
        clients.vpc.delete_subnet(subnet.id)
    assert used.value.status_code == 409
    clients.vpc.delete_load_balancer(balancer)
    gone(clients.vpc.get_load_balancer, balancer)
    clients.vpc.delete_subnet(subnet.id)
    gone(clients.vpc.get_subnet, subnet.id)
    clients.vpc.delete_vpc(vpc.id)
    gone(clients.vpc.get_vpc, vpc.id)


def gone(get, id):
    def look():
        try:
            get(id)
        except ApiException as error:
            return error.status_code

    wait_for("the removal", look, lambda code: code == 404)


def test_pages(clients):
    made = [clients.vpc.create_vpc(name=f"many-{number}").get_result()["id"] for number in range(5)]
    pager = models.VpcsPager(client=clients.vpc, limit=2)
    seen = []
    while pager.has_next():
        page = pager.get_next()
        assert len(page) <= 2
        seen += [vpc["id"] for vpc in page]
    assert set(made) <= set(seen)
    for vpc in made:
        clients.vpc.delete_vpc(vpc)


def test_quota(simulators, clients_of):
    own = clients_of(simulators("quota", "--quota", "vpcs=1"))
    own.vpc.create_vpc(name="first")
    with pytest.raises(ApiException) as refused:
        own.vpc.create_vpc(name="second")
    assert "over_quota" in refused.value.http_response.text
