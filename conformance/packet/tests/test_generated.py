"""equinix-metal, generated from the published description: it refuses answers that do not fit."""

import equinix_metal
import pytest
import simulator
from equinix_metal.exceptions import ApiException


def wait_for(devices, device, state="active"):
    look = lambda: devices.find_device_by_id(device)
    return simulator.wait_for(f"{device} {state}", look, lambda seen: seen.state == state, progress=lambda seen: seen.state)


@pytest.fixture(scope="module")
def device(generated, project):
    devices = equinix_metal.DevicesApi(generated)
    wanted = equinix_metal.DeviceCreateInMetroInput(
        metro="da",
        plan="m3.small.x86",
        operating_system="custom_ipxe",
        ipxe_script_url="http://192.0.2.1/boot.ipxe",
        hostname="typed",
        tags=["typed"],
        userdata="{}",
    )
    made = devices.create_device(project, equinix_metal.CreateDeviceRequest(wanted))
    assert made.state in ("queued", "provisioning")
    seen = wait_for(devices, made.id)
    yield seen
    devices.delete_device(made.id)


def test_a_device(generated, project, device):
    assert [port.name for port in device.network_ports] == ["bond0", "eth0", "eth1"]
    assert [address.management for address in device.ip_addresses] == [True, True, True]
    listed = equinix_metal.DevicesApi(generated).find_project_devices(project, tag="typed")
    assert [one.id for one in listed.devices] == [device.id]


def test_power(generated, device):
    devices = equinix_metal.DevicesApi(generated)
    for action, state in (("power_off", "inactive"), ("power_on", "active")):
        devices.perform_action(device.id, equinix_metal.DeviceActionInput(type=action))
        wait_for(devices, device.id, state)


def test_keys(generated, project, metal):
    """A key is found among those of its owner, with what it may do."""
    keys = equinix_metal.AuthenticationApi(generated)
    own = {key.token: key.read_only for key in keys.find_api_keys().api_keys}
    assert own == {metal.ready["api_key"]: False, "only-reads": True}
    assert all(key.user and key.id for key in keys.find_api_keys().api_keys)
    assert [key.read_only for key in keys.find_project_api_keys(project).api_keys] == [False]


def test_the_catalogue(generated, project):
    plans = equinix_metal.PlansApi(generated).find_plans().plans
    assert "c3.small.x86" in {plan.slug for plan in plans}
    systems = equinix_metal.OperatingSystemsApi(generated).find_operating_systems().operating_systems
    assert "custom_ipxe" in {system.slug for system in systems}
    metros = equinix_metal.MetrosApi(generated).find_metros().metros
    assert {"da", "sv"} <= {metro.code for metro in metros}
    assert equinix_metal.FacilitiesApi(generated).find_facilities().facilities
    assert equinix_metal.ProjectsApi(generated).find_project_by_id(project).name == "landfall"
    assert equinix_metal.OrganizationsApi(generated).find_organizations().organizations
    assert equinix_metal.UsersApi(generated).find_current_user().email
    capacity = equinix_metal.CapacityApi(generated).find_capacity_for_metro().capacity
    assert capacity


def test_addresses(generated, project, device):
    addresses = equinix_metal.IPAddressesApi(generated)
    wanted = equinix_metal.IPReservationRequestInput(
        type="public_ipv4", quantity=1, metro="da", tags=["typed"], fail_on_approval_required=True
    )
    made = addresses.request_ip_reservation(project, equinix_metal.RequestIPReservationRequest(wanted))
    block = made.actual_instance
    assert (block.cidr, block.type, block.tags) == (32, "public_ipv4", ["typed"])
    devices = equinix_metal.DevicesApi(generated)
    assigned = devices.create_ip_assignment(device.id, equinix_metal.IPAssignmentInput(address=block.address))
    assert assigned.assigned_to.href.endswith(device.id)
    listed = addresses.find_ip_reservations(project, types=["public_ipv4"])
    assert block.id in {one.actual_instance.id for one in listed.ip_addresses}
    addresses.delete_ip_address(assigned.id)
    addresses.delete_ip_address(block.id)


def test_virtual_networks_and_ports(generated, project, device):
    networks, ports = equinix_metal.VLANsApi(generated), equinix_metal.PortsApi(generated)
    made = networks.create_virtual_network(
        project, equinix_metal.VirtualNetworkCreateInput(metro="da", vxlan=1234, description="typed", tags=["typed"])
    )
    assert made.vxlan == 1234
    bond = device.network_ports[0].id
    assert ports.assign_port(bond, equinix_metal.PortAssignInput(vnid=made.id)).network_type == "hybrid-bonded"
    with pytest.raises(ApiException) as refused:
        networks.delete_virtual_network(made.id)
    assert refused.value.status == 422
    assert ports.unassign_port(bond, equinix_metal.PortAssignInput(vnid=made.id)).network_type == "layer3"
    networks.delete_virtual_network(made.id)


def test_bgp(generated, project, device):
    bgp = equinix_metal.BGPApi(generated)
    bgp.request_bgp_config(project, equinix_metal.BgpConfigRequestInput(asn=65000, deployment_type="local"))
    assert bgp.find_bgp_config_by_project(project).status == "enabled"
    devices = equinix_metal.DevicesApi(generated)
    session = devices.create_bgp_session(device.id, equinix_metal.BGPSessionInput(address_family="ipv4"))
    with pytest.raises(ApiException, match="already has session"):
        devices.create_bgp_session(device.id, equinix_metal.BGPSessionInput(address_family="ipv4"))
    neighbors = devices.get_bgp_neighbor_data(device.id).bgp_neighbors
    assert neighbors[0].peer_as == 65530
    bgp.delete_bgp_session(session.id)


def test_keys_and_events(generated, project, device):
    keys = equinix_metal.SSHKeysApi(generated)
    made = keys.create_project_ssh_key(
        project, equinix_metal.SSHKeyCreateInput(label="typed", key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAITyped t")
    )
    assert made.id in {key.id for key in keys.find_project_ssh_keys(project).ssh_keys}
    keys.delete_ssh_key(made.id)
    kinds = {event.type for event in equinix_metal.EventsApi(generated).find_device_events(device.id, per_page=100).events}
    assert {"provisioning.101", "provisioning.104", "provisioning.110"} <= kinds


def test_what_is_not_there(generated):
    with pytest.raises(ApiException) as refused:
        equinix_metal.DevicesApi(generated).find_device_by_id("0b4c8b1e-9f3d-4c58-8d1e-1f2e3d4c5b6a")
    assert refused.value.status == 404
