"""ibm-cloud-networking-services: transit gateways, Internet Services, DNS Services."""

import socket
import struct
import uuid

import pytest
from ibm_cloud_networking_services import dns_records_v1, dns_svcs_v1, transit_gateway_apis_v1, zones_v1
from ibm_cloud_sdk_core import ApiException
from power import TIMEOUT
from simulator import wait_for


@pytest.fixture(scope="module")
def vpc(clients):
    made = clients.vpc.create_vpc(name="joined").get_result()
    wait_for("the VPC", lambda: clients.vpc.get_vpc(made["id"]).get_result()["status"], lambda status: status == "available")
    return made


@pytest.fixture(scope="module")
def power(clients):
    return clients.workspace("joined")


def crn_of(clients, power):
    return clients.controller.get_resource_instance(power.workspace).get_result()["crn"]


def test_a_gateway_joins(clients, vpc, power):
    transit = clients.transit
    made = transit.create_transit_gateway(location="us-south", name="join", global_=False).get_result()
    gateway = transit_gateway_apis_v1.TransitGateway.from_dict(made)
    assert gateway.status == "pending"
    with pytest.raises(ApiException) as early:
        transit.create_transit_gateway_connection(gateway.id, network_type="vpc", network_id=vpc["crn"])
    assert early.value.status_code == 409
    look = lambda: transit.get_transit_gateway(gateway.id).get_result()["status"]
    wait_for("the gateway", look, lambda status: status == "available")
    connections = []
    for kind, network in (("vpc", vpc["crn"]), ("power_virtual_server", crn_of(clients, power))):
        answer = transit.create_transit_gateway_connection(gateway.id, network_type=kind, network_id=network, name=f"{kind}-con".replace("_", "-"))
        connections.append(transit_gateway_apis_v1.TransitGatewayConnectionCust.from_dict(answer.get_result()))

    def states():
        listed = transit.list_transit_gateway_connections(gateway.id).get_result()
        read = transit_gateway_apis_v1.TransitGatewayConnectionCollection.from_dict(listed)
        return [connection.status for connection in read.connections]

    wait_for("the connections", states, lambda all: all == ["attached", "attached"])
    everywhere = transit_gateway_apis_v1.TransitConnectionCollection.from_dict(transit.list_connections().get_result())
    assert {connection.transit_gateway.id for connection in everywhere.connections} == {gateway.id}
    assert transit.get_transit_gateway(gateway.id).get_result()["connection_count"] == 2
    with pytest.raises(ApiException) as full:
        transit.delete_transit_gateway(gateway.id)
    assert full.value.status_code == 412
    for connection in connections:
        transit.delete_transit_gateway_connection(gateway.id, connection.id)
    wait_for("their removal", states, lambda all: all == [])
    transit.delete_transit_gateway(gateway.id)
    listed = lambda: transit_gateway_apis_v1.TransitGatewayCollection.from_dict(transit.list_transit_gateways().get_result())
    wait_for("its removal", listed, lambda all: gateway.id not in [own.id for own in all.transit_gateways])
    locations = transit.list_gateway_locations().get_result()["locations"]
    assert "us-south" in [location["name"] for location in locations]


def test_quota_of_gateways(simulators, clients_of):
    own = clients_of(simulators("gateways", "--quota", "transit-gateways=1"))
    own.transit.create_transit_gateway(location="us-south", name="first")
    with pytest.raises(ApiException) as refused:
        own.transit.create_transit_gateway(location="us-south", name="second")
    assert "precondition_failed" in refused.value.http_response.text


def ask(server, name):
    """The IPv4 addresses of a name: a question of twelve bytes and some, and whatever comes back."""
    host, port = server.rsplit(":", 1)
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0" + struct.pack(">HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(TIMEOUT)
        client.sendto(struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question, (host, int(port)))
        answer = client.recv(4096)
    _, flags, _, count, _, _ = struct.unpack(">HHHHHH", answer[:12])
    addresses, at = [], 12 + len(question)
    for _ in range(count):
        while answer[at]:
            if answer[at] >= 0xC0:
                at += 1
                break
            at += answer[at] + 1
        at += 1
        kind, _, _, length = struct.unpack(">HHIH", answer[at : at + 10])
        if kind == 1:
            addresses.append(socket.inet_ntoa(answer[at + 10 : at + 14]))
        at += 10 + length
    return flags & 15, addresses


@pytest.fixture(scope="module")
def zone(clients):
    listed = zones_v1.ListZonesResp.from_dict(clients.zones.list_zones().get_result())
    (zone,) = [zone for zone in listed.result if zone.name == "example.com"]
    assert zone.status == "active"
    return zone.id


def test_internet_services(clients, zone):
    records = clients.records(zone)
    made = records.create_dns_record(type="A", name="api.a.example.com", content="192.0.2.1", ttl=60).get_result()
    first = dns_records_v1.DnsrecordResp.from_dict(made).result
    assert (first.name, first.zone_id, first.proxied) == ("api.a.example.com", zone, False)
    records.create_dns_record(type="CNAME", name="api-int.a.example.com", content="api.a.example.com", ttl=60)
    records.create_dns_record(type="CNAME", name="*.apps.ba.example.com", content="api.a.example.com", ttl=60)
    with pytest.raises(ApiException) as twice:
        records.create_dns_record(type="CNAME", name="api.a.example.com", content="elsewhere.example.com", ttl=60)
    assert twice.value.status_code == 409 and "already exists" in str(twice.value)
    server = clients.ready["name_server"]
    assert ask(server, "api-int.a.example.com") == (0, ["192.0.2.1"])
    assert ask(server, "console.apps.ba.example.com") == (0, ["192.0.2.1"])
    assert ask(server, "api.ba.example.com")[0] == 3
    found = dns_records_v1.ListDnsrecordsResp.from_dict(records.list_all_dns_records(name="api.a.example.com").get_result())
    assert [record.id for record in found.result] == [first.id]
    changed = records.update_dns_record(first.id, type="A", name="api.a.example.com", content="192.0.2.2", ttl=60)
    assert changed.get_result()["result"]["content"] == "192.0.2.2"
    paged = records.list_all_dns_records(page=1, per_page=2).get_result()
    assert len(paged["result"]) == 2 and paged["result_info"]["total_count"] == 3
    for record in records.list_all_dns_records(per_page=100).get_result()["result"]:
        records.delete_dns_record(record["id"])
    assert not records.list_all_dns_records().get_result()["result"]
    assert ask(server, "api.a.example.com")[0] == 3


def test_services_in_a_public_zone(clients, zone):
    records = clients.records(zone)
    parts = {"service": "_etcd-server-ssl", "proto": "_tcp", "name": "c", "priority": 0, "weight": 10, "port": 2380}
    made = records.create_dns_record(type="SRV", ttl=60, data={**parts, "target": "etcd-0.c.example.com"}).get_result()
    record = dns_records_v1.DnsrecordResp.from_dict(made).result
    assert (record.name, record.data["port"]) == ("_etcd-server-ssl._tcp.c.example.com", 2380)
    with pytest.raises(ApiException) as incomplete:
        records.create_dns_record(type="SRV", ttl=60, data=parts)
    assert incomplete.value.status_code == 400
    records.delete_dns_record(record.id)


def test_a_public_zone(clients):
    made = clients.zones.create_zone(name="example.org").get_result()["result"]
    assert (made["status"], made["name"]) == ("pending", "example.org")
    assert clients.zones.get_zone(made["id"]).get_result()["result"]["id"] == made["id"]
    clients.zones.delete_zone(made["id"])
    with pytest.raises(ApiException) as gone:
        clients.zones.get_zone(made["id"])
    assert gone.value.status_code == 404


def test_dns_services(clients, vpc):
    dns, instance = clients.dns, clients.ready["dns_instance"]
    zone = dns.create_dnszone(instance, name="inside.example.com", description="x").get_result()
    assert zone["state"] == "pending_network_add"
    dns.create_permitted_network(instance, zone["id"], type="vpc", permitted_network={"vpc_crn": vpc["crn"]})
    look = lambda: dns.get_dnszone(instance, zone["id"]).get_result()["state"]
    wait_for("the zone", look, lambda state: state == "active")
    record = dns.create_resource_record(
        instance, zone["id"], type="CNAME", name="api-int.demo", rdata={"cname": "lb.example.com"}, ttl=120
    ).get_result()
    assert record["name"] == "api-int.demo.inside.example.com"
    address = dns.create_resource_record(
        instance, zone["id"], type="A", name="lb", rdata={"ip": "192.0.2.9"}, ttl=120
    ).get_result()
    assert ask(clients.ready["name_server"], "lb.inside.example.com") == (0, ["192.0.2.9"])
    service = dns.create_resource_record(
        instance,
        zone["id"],
        type="SRV",
        name="demo",
        service="_etcd-server-ssl",
        protocol="tcp",
        rdata={"priority": 0, "weight": 10, "port": 2380, "target": "etcd-0.demo.inside.example.com"},
    ).get_result()
    assert service["name"] == "_etcd-server-ssl._tcp.demo.inside.example.com"
    listed = dns_svcs_v1.ListResourceRecords.from_dict(dns.list_resource_records(instance, zone["id"]).get_result())
    assert {own.id for own in listed.resource_records} == {record["id"], address["id"], service["id"]}
    changed = dns.update_resource_record(instance, zone["id"], address["id"], name="lb", rdata={"ip": "192.0.2.10"}).get_result()
    assert changed["rdata"] == {"ip": "192.0.2.10"}
    for own in listed.resource_records:
        dns.delete_resource_record(instance, zone["id"], own.id)
    with pytest.raises(ApiException) as used:
        dns.delete_dnszone(instance, zone["id"])
    assert used.value.status_code == 409
    networks = dns_svcs_v1.ListPermittedNetworks.from_dict(dns.list_permitted_networks(instance, zone["id"]).get_result())
    for network in networks.permitted_networks:
        dns.delete_permitted_network(instance, zone["id"], network.id)
    dns.delete_dnszone(instance, zone["id"])
    zones = dns_svcs_v1.ListDnszones.from_dict(dns.list_dnszones(instance).get_result())
    assert zone["id"] not in [own.id for own in zones.dnszones]


def test_a_custom_resolver(clients, vpc):
    dns, instance = clients.dns, clients.ready["dns_instance"]
    subnet = clients.vpc.create_subnet(
        {"vpc": {"id": vpc["id"]}, "zone": {"name": "us-south-1"}, "total_ipv4_address_count": 16, "name": "resolvers"}
    ).get_result()
    made = dns.create_custom_resolver(
        instance, name="near", locations=[{"subnet_crn": subnet["crn"], "enabled": True}]
    ).get_result()
    assert made["locations"][0]["dns_server_ip"].startswith("10.240.")
    dns.update_custom_resolver(instance, made["id"], enabled=True)
    look = lambda: dns.get_custom_resolver(instance, made["id"]).get_result()["health"]
    wait_for("the resolver", look, lambda health: health == "HEALTHY")
    with pytest.raises(ApiException):
        dns.delete_custom_resolver(instance, made["id"])
    dns.update_custom_resolver(instance, made["id"], enabled=False)
    dns.delete_custom_resolver(instance, made["id"])
    assert not dns.list_custom_resolvers(instance).get_result()["custom_resolvers"]
    assert uuid.UUID(made["id"])
