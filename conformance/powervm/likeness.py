"""What a partition is, as IBM's library reads it back: every element of every object that belongs to it, without what only tells it
from another one.

Ids, names, addresses and slots are replaced by their kind and by the order in which they appear: `VirtualSlotNumber 1` is the first
slot that was met, wherever it is met again. So two partitions that were made in the same way are equal, and two whose disks share an
adapter differently are not.
"""

import re

from lxml import etree
from pypowervm import const
from pypowervm.tasks import partition as tsk_par
from pypowervm.tasks import vfc_mapper
from pypowervm.wrappers import cluster as pvm_clust
from pypowervm.wrappers import iocard as pvm_card
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import network as pvm_net
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios

XAG = const.XAG

# Elements whose values only tell one object from another.
IDENTITY = {
    "AtomID", "AtomCreated", "PartitionID", "PartitionUUID", "PartitionName", "LogicalSerialNumber",
    "VirtualSlotNumber", "RemoteSlotNumber", "ConnectingVirtualSlotNumber", "ConnectingPartitionID", "LocalPartitionID",
    "RemoteLogicalPartitionID", "LocationCode", "DynamicReconfigurationConnectorName", "AdapterName", "DeviceName",
    "TargetName", "UniqueDeviceID", "BackingDeviceName", "MACAddress", "PortVLANID", "WWPNs", "WWPN", "UnitName", "MapPort",
    "DiskName", "DiskLabel", "MediaName", "MediaUDID", "UDID", "VolumeName", "StorageLabel", "OvsPortExternalIds",
    "RelativeDeviceID", "LogicalPortID", "ConfigurationID", "ResourceMonitoringIPAddress", "SupportedDeviceID",
    "OSMACAddress", "VolumeUniqueID", "MACAddressPrefix", "PartitionNVRAM",
    "ServerLocationCode", "DescriptorPage83", "RelatedSRIOVAdapterID", "RelatedSRIOVPhysicalPortID",
}
# What others have left of a port when it is looked at.
STATE_OF_OTHERS = {"AvailablePorts"}
UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")


class Reader:
    """Turns elements into lines, and remembers which identities it has met."""

    def __init__(self):
        self.met = {}

    def _rank(self, kind, value):
        ranks = self.met.setdefault(kind, {})
        return f"{kind.rsplit('/', 1)[-1]} {ranks.setdefault(value, len(ranks) + 1)}"

    def lines(self, prefix, element):
        """Path and text of every element, in the order of the document."""
        found = {}
        counts = {}
        for child in element:
            if not isinstance(child.tag, str):
                continue
            name = etree.QName(child).localname
            if name in STATE_OF_OTHERS:
                continue
            counts[name] = counts.get(name, 0) + 1
            path = f"{prefix}/{name}" + (f"[{counts[name]}]" if counts[name] > 1 else "")
            if child.get("href"):
                found[path + "@href"] = UUID.sub("ID", re.sub(r"^https?://[^/]*", "", child.get("href")))
            text = (child.text or "").strip()
            if name in IDENTITY and text:
                # A client's slots and a server's are counted apart, and so are those of different VIOSes.
                text = self._rank(f"{prefix.split()[0]}/{etree.QName(element).localname}/{name}", text)
            if text or len(child) == 0:
                found[path] = text
            found.update(self.lines(path, child))
        return found

    def wrapper(self, prefix, wrapper):
        return self.lines(prefix, etree.fromstring(wrapper.toxmlstring()))


def kind_of(mapping):
    """What a mapping shows, for people and for the order of mappings."""
    storage = mapping.backing_storage
    return "nothing" if storage is None else type(storage).__name__


def partition(adapter, uuid):
    """Everything that belongs to a partition."""
    reader = Reader()
    lpar = pvm_lpar.LPAR.get(adapter, uuid=uuid, xag=[XAG.ALL])
    found = reader.wrapper("partition", lpar)
    networks = pvm_net.CNA.get(adapter, parent=lpar)
    # In the order of their slots, which is that in which an operating system sees them.
    for number, cna in enumerate(sorted(networks, key=lambda cna: cna.slot), 1):
        found.update(reader.wrapper(f"network adapter {number}", cna))
    for number, vnic in enumerate(pvm_card.VNIC.get(adapter, parent=lpar), 1):
        # Which of several ports that are as good it is on is a matter of chance.
        found.update(reader.wrapper(f"virtual NIC {number}", vnic))
    for number, client in enumerate(pvm_stor.VFCClientAdapter.get(adapter, parent=lpar), 1):
        found.update(reader.wrapper(f"fibre channel adapter {number}", client))
    found.update(_mapped(reader, adapter, lpar))
    found.update(_trunks(adapter, uuid))
    return found


def _mapped(reader, adapter, lpar):
    found, shown = {}, {}
    vioses = pvm_vios.VIOS.get(adapter, xag=[XAG.VIO_SMAP, XAG.VIO_FMAP])
    for vios in sorted(vioses, key=lambda vios: vios.name):
        own = [m for m in vios.scsi_mappings if m.client_adapter is not None and m.client_adapter.lpar_id == lpar.id]
        for mapping in sorted(own, key=kind_of):
            shown[(vios.uuid, kind_of(mapping))] = mapping.backing_storage
            found.update(reader.wrapper(f"{vios.name} shows {kind_of(mapping)}", mapping))
        ports = vfc_mapper.find_maps(vios.vfc_mappings, lpar.id)
        for mapping in sorted(ports, key=lambda m: m.backing_port.name):
            found.update(reader.wrapper(f"{vios.name} gives {mapping.backing_port.name}", mapping))
        found.update(_of_groups(reader, adapter, vios, shown))
    for (_, kind), storage in shown.items():
        if kind == "LU":
            found.update(_unit(reader, adapter, storage))
            break
    return found


def _of_groups(reader, adapter, vios, shown):
    """The disks and media that a VIOS shows, as its volume groups have them."""
    found = {}
    for group in pvm_stor.VG.get(adapter, parent=vios):
        for disk in group.virtual_disks:
            wanted = shown.get((vios.uuid, "VDisk"))
            if wanted is not None and wanted.name == disk.name:
                found.update(reader.wrapper(f"virtual disk in {group.name} of {vios.name}", disk))
        for repository in group.vmedia_repos:
            for medium in repository.optical_media:
                wanted = shown.get((vios.uuid, "VOptMedia"))
                if wanted is not None and wanted.media_name == medium.media_name:
                    found.update(reader.wrapper(f"medium in {group.name} of {vios.name}", medium))
    return found


def _unit(reader, adapter, shown):
    """A logical unit, and the image that it is a clone of."""
    found = {}
    for tier in pvm_stor.Tier.get(adapter):
        units = pvm_stor.LUEnt.get(adapter, parent=tier)
        for unit in (unit for unit in units if unit.udid == shown.udid):
            found.update(reader.wrapper(f"unit in tier {tier.name}", unit))
            images = [image for image in units if image.udid[2:] == (unit.cloned_from_udid or "")[2:]]
            found.update({f"unit in tier {tier.name}, its image": image.name for image in images})
    return found


def _trunks(adapter, uuid):
    found = {}
    management = tsk_par.get_mgmt_partition(adapter)
    own = [t for t in pvm_net.CNA.get(adapter, parent=management) if f"vm-uuid={uuid.lower()}" in (t.ovs_ext_ids or "")]
    lpar = pvm_lpar.LPAR.get(adapter, uuid=uuid)
    vlans = [cna.pvid for cna in pvm_net.CNA.get(adapter, parent=lpar)]
    # Slots of the management partition are not slots of the partition.
    reader = Reader()
    for number, trunk in enumerate(sorted(own, key=lambda trunk: trunk.ovs_ext_ids), 1):
        found.update(reader.wrapper(f"trunk {number}", trunk))
        found[f"trunk {number}, adapters on its VLAN"] = str(vlans.count(trunk.pvid))
        # What Open vSwitch is told, without who is told of.
        found[f"trunk {number}, what Open vSwitch is told"] = re.sub(r"=[^,]*", "", trunk.ovs_ext_ids)
    return found


def differences(ours, theirs):
    """Paths at which two partitions differ, with what is there."""
    return {
        path: (ours.get(path), theirs.get(path))
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
    }


def everything(adapter):
    """All that partitions are made of, by name: what must be the same before a partition is made and after it is gone."""
    system = pvm_ms.System.get(adapter)[0]
    found = {"partitions": [lpar.name for lpar in pvm_lpar.LPAR.get(adapter)]}
    for vios in pvm_vios.VIOS.get(adapter, xag=[XAG.ALL]):
        groups = pvm_stor.VG.get(adapter, parent=vios)
        found[vios.name] = {
            "mappings": [mapping.server_adapter.name for mapping in vios.scsi_mappings],
            "fibre channel mappings": [mapping.server_adapter.name for mapping in vios.vfc_mappings],
            "disks": sorted(disk.name for disk in vios.phys_vols),
            "virtual disks": [disk.name for group in groups for disk in group.virtual_disks],
            "media": [m.name for group in groups for repository in group.vmedia_repos for m in repository.optical_media],
        }
    found["units"] = sorted(unit.name for tier in pvm_stor.Tier.get(adapter) for unit in pvm_stor.LUEnt.get(adapter, parent=tier))
    found["trunks"] = sorted(t.mac for t in pvm_net.CNA.get(adapter, parent=tsk_par.get_mgmt_partition(adapter)))
    found["bridges"] = [sorted(b.list_vlans()) for b in pvm_net.NetBridge.get(adapter, parent=system)]
    assert pvm_clust.Cluster.get(adapter), "the pool is still there"
    return found
