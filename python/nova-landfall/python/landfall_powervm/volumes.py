"""Cinder's connections, as volumes."""

from nova import exception

# Where the volume's id on the server is noted, by the name that the driver of release 25 used.
DEVICE = "target_UDID"


def volume(connection_info):
    """A volume for a connection."""
    kind = connection_info.get("driver_volume_type")
    if kind != "fibre_channel":
        raise exception.InvalidVolume(reason=f"a volume that is connected by {kind} cannot be attached on PowerVM")
    data = connection_info["data"]
    targets = data["target_wwn"]
    return {
        "id": volume_id(connection_info),
        "targets": [targets] if isinstance(targets, str) else list(targets),
        "lun": int(data["target_lun"]),
        "device": data.get(DEVICE),
    }


def volume_id(connection_info):
    return connection_info.get("serial") or connection_info["data"]["volume_id"]


def connections(block_device_info):
    """The connections of an instance's volumes, that of the one that it boots from first."""
    mappings = (block_device_info or {}).get("block_device_mapping") or []
    boots = [mapping for mapping in mappings if mapping.get("boot_index") == 0]
    others = [mapping for mapping in mappings if mapping.get("boot_index") != 0]
    return [mapping["connection_info"] for mapping in boots + others]


def boots_from_volume(block_device_info):
    mappings = (block_device_info or {}).get("block_device_mapping") or []
    return any(mapping.get("boot_index") == 0 for mapping in mappings)


def connector(ports, host):
    """What Cinder needs to know of the host: the ports of its VIOSes."""
    return {"wwpns": ports, "multipath": False, "host": host, "initiator": None}
