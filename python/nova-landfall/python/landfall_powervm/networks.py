"""VIFs, as network adapters."""

import contextlib
import copy
import inspect
import sys

from nova import conf
from nova import exception
from nova.network import model
from oslo_log import log as logging

CONF = conf.CONF
LOG = logging.getLogger(__name__)

SEA_SWITCH = "ETHERNET0"
MANAGEMENT_SWITCH = "MGMTSWITCH"


def nic(vif):
    """A network adapter for a VIF, by its type: pvm_sea, ovs, pvm_sriov."""
    kind, details = vif["type"], vif.get("details") or {}
    if kind == "pvm_sea":
        network = {"kind": "bridged", "switch": SEA_SWITCH, "vlan": int(details["vlan"])}
    elif kind == "ovs":
        network = {
            "kind": "open-v-switch",
            "bridge": vif["network"]["bridge"],
            "port": vif.get("ovs_interfaceid") or vif["id"],
            "mtu": vif["network"].get_meta("mtu"),
        }
    elif kind == "pvm_sriov":
        capacity = details.get("capacity")
        network = {
            "kind": "sriov",
            "physical_network": details["physical_network"],
            "vlan": int(details["vlan"]) if details.get("vlan") else None,
            "redundancy": int(details.get("redundancy") or 1),
            # Neutron has shares of a port as a part of one; the server in percent.
            "capacity_percent": None if capacity is None else float(capacity) * 100,
        }
    else:
        raise exception.VirtualInterfacePlugException(f"a VIF of type {kind} cannot be plugged on PowerVM")
    return {"mac": vif["address"], "network": network}


def nics(network_info, management):
    """Those of all VIFs, in order, and last the one that connects the operating system to the management partition."""
    found = [nic(vif) for vif in network_info or []]
    if management is not None:
        found.append(management)
    return found


def plug_events(network_info):
    """The events that Neutron sends when the VIFs that it does not call active yet are plugged."""
    return [("network-vif-plugged", vif["id"]) for vif in network_info or [] if vif.get("active", True) is False]


def for_drive(network_info, management):
    """The VIFs as cloud-init understands them: it knows no types of PowerVM. The management partition is reached by the
    address that IPv6 makes from the adapter's own."""
    shown = model.NetworkInfo(copy.deepcopy(list(network_info or [])))
    for vif in shown:
        if vif["type"] != "ovs":
            vif["type"] = "vif"
    if management is not None:
        mac = ":".join(management["mac"][at:at + 2] for at in range(0, 12, 2)).lower()
        address = model.FixedIP(address=link_local(mac))
        subnet = model.Subnet(version=6, cidr="fe80::/64", ips=[address])
        network = model.Network(id="mgmt", subnets=[subnet], injected="yes")
        shown.append(model.VIF(id="mgmt_vif", address=mac, network=network))
    return shown


def link_local(mac):
    """The address of an adapter on its link (RFC 4291, appendix A)."""
    octets = [int(octet, 16) for octet in mac.split(":")]
    octets[0] ^= 2
    octets[3:3] = [0xFF, 0xFE]
    return "fe80::" + ":".join(f"{octets[at]:02x}{octets[at + 1]:02x}" for at in range(0, 8, 2))


def socket_address(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextlib.contextmanager
def awaited(virtapi, instance, events):
    """Plugs VIFs, and then waits for Neutron to say that they are."""

    def failed(name, instance):
        LOG.error("Neutron says that %(name)s has failed", {"name": name}, instance=instance)
        if CONF.vif_plugging_is_fatal:
            raise exception.VirtualInterfaceCreateException()

    wait = virtapi.wait_for_instance_event
    # It was called a deadline before releases could do without eventlet.
    word = "timeout" if "timeout" in inspect.signature(wait).parameters else "deadline"
    try:
        with wait(instance, events, error_callback=failed, **{word: CONF.vif_plugging_timeout}):
            yield
    except _timeouts() as timeout:
        LOG.warning("Neutron did not say in time that the interfaces are plugged: %s", timeout, instance=instance)
        if CONF.vif_plugging_is_fatal:
            raise exception.VirtualInterfaceCreateException() from timeout


def _timeouts():
    """What is raised when no event comes: eventlet's exception, or, in releases that can do without eventlet, Nova's own."""
    own = getattr(exception, "InstanceEventTimeout", None)
    eventlet = sys.modules.get("eventlet")
    return tuple(kind for kind in (own, eventlet and eventlet.timeout.Timeout) if kind)
