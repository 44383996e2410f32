"""packet-python, beyond its own tests."""

import uuid

import packet
import pytest
import simulator


def wait_for(manager, device, state="active"):
    look = lambda: manager.get_device(device.id)
    return simulator.wait_for(f"{device.hostname} {state}", look, lambda seen: seen.state == state, progress=lambda seen: seen.state)


def wait_until_gone(manager, device):
    def look():
        try:
            return manager.get_device(device.id).state
        except packet.Error as error:
            return str(error)

    simulator.wait_for(f"the end of {device.hostname}", look, lambda seen: "Not found" in seen)


def make(manager, project, name, **fields):
    fields = {"plan": "c3.small.x86", "operating_system": "ubuntu_22_04", "metro": "da", **fields}
    return manager.create_device(project, name, **fields)


def test_pages(python_client, project):
    manager = python_client()
    tag = f"pages-{uuid.uuid4()}"
    made = {make(manager, project, f"page-{number}", tags=[tag]).id for number in range(12)}
    seen = {device.id for device in manager.list_devices(project, params={"tag": tag})}
    assert len(seen) == 10, "a page has ten items unless somebody asks for more"
    seen = {device.id for device in manager.list_devices(project, params={"tag": tag, "per_page": 100})}
    assert seen == made
    for device in manager.list_devices(project, params={"tag": tag, "per_page": 100}):
        wait_for(manager, device)
        device.delete()


def test_ipxe_rules(python_client, project):
    manager = python_client()
    with pytest.raises(packet.Error, match="iPXE"):
        make(manager, project, "nothing-to-boot", operating_system="custom_ipxe")
    device = make(
        manager, project, "boots", operating_system="custom_ipxe", ipxe_script_url="http://192.0.2.1/boot.ipxe"
    )
    seen = wait_for(manager, device)
    assert seen.ipxe_script_url == "http://192.0.2.1/boot.ipxe"
    seen.delete()


def test_deleting_while_provisioning(python_client, project):
    manager = python_client()
    device = make(manager, project, "young")
    with pytest.raises(packet.Error, match="provisioning"):
        device.delete()
    wait_for(manager, device).delete()
    wait_until_gone(manager, device)


def test_elastic_addresses_move(python_client, project):
    manager = python_client()
    first, second = (make(manager, project, name) for name in ("here", "there"))
    block = manager.reserve_ip_address(project, "public_ipv4", 1, metro="da", tags=["moves"])
    assert (block.cidr, block.tags) == (32, ["moves"])
    there = manager.create_device_ip(first.id, block.address)
    with pytest.raises(packet.Error, match="already assigned"):
        manager.create_device_ip(second.id, block.address)
    with pytest.raises(packet.Error, match="assignments"):
        manager.delete_ip(block.id)
    manager.delete_ip(there.id)
    manager.create_device_ip(second.id, f"{block.address}/32")
    for device in (first, second):
        wait_for(manager, device).delete()
    # What was assigned to a device that is gone is free.
    manager.delete_ip(block.id)


def test_capacity(python_client):
    manager = python_client()
    assert manager.validate_metro_capacity([("sv", "c3.medium.x86", 2)])
    assert not manager.validate_metro_capacity([("sv", "c3.medium.x86", 3)])


def test_reserved_hardware(python_client, project):
    manager = python_client()
    (reservation,) = manager.list_hardware_reservations(project)
    device = make(manager, project, "reserved", hardware_reservation_id="next-available")
    with pytest.raises(packet.Error, match="no available hardware reservations"):
        make(manager, project, "too-late", hardware_reservation_id="next-available")
    with pytest.raises(packet.Error, match="not provisionable"):
        make(manager, project, "too-late", hardware_reservation_id=reservation.id)
    wait_for(manager, device).delete()
    assert not manager.get_hardware_reservation(reservation.id).provisionable, "it is wiped for minutes first"


def test_who_may_do_what(python_client, project):
    with pytest.raises(packet.Error):
        python_client("nobody").list_projects()
    reader = python_client("only-reads")
    assert reader.list_projects()
    with pytest.raises(packet.Error, match="not authorized"):
        make(reader, project, "never")


def test_an_ssh_key_with_a_projects_key(python_client, project):
    """The client knows that this call is answered with 404 and succeeds."""
    manager = python_client("one-project")
    key = manager.create_project_ssh_key(project, "quirk", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ quirk")
    assert key.label == "quirk"


def test_spot_market(python_client, project, metal):
    manager = python_client()
    device = make(manager, project, "cheap", plan="m3.small.x86", spot_instance=True, spot_price_max=0.5)
    assert wait_for(manager, device).spot_instance
    with pytest.raises(packet.Error, match="no provisionable"):
        make(manager, project, "too-cheap", plan="m3.small.x86", spot_instance=True, spot_price_max=0.01)
    metal.admin("POST", "/packet/spot-price", {"location": "da", "plan": "m3.small.x86", "price": 1.0})
    assert manager.get_device(device.id).termination_time
    wait_until_gone(manager, device)
