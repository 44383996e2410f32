"""A server as its NovaLink shows it, read without the driver: over its REST API, with the standard library."""

import urllib.error
import urllib.request
import uuid
import xml.etree.ElementTree as tree

from simulator import wait_for

ATOM = "{http://www.w3.org/2005/Atom}"
UOM = "{http://www.ibm.com/xmlns/systems/power/firmware/uom/mc/2012_10/}"
WEB = "{http://www.ibm.com/xmlns/systems/power/firmware/web/mc/2012_10/}"
WEB_TYPE = "application/vnd.ibm.powervm.web+xml; type="


def lpar_uuid(instance):
    """The id of an instance's partition: upper case, the first bit clear."""
    number = uuid.UUID(instance).int & ~(1 << 127)
    return str(uuid.UUID(int=number)).upper()


class Server:
    def __init__(self, url, simulator):
        self.url = url
        body = (
            f'<LogonRequest xmlns="{WEB[1:-1]}" schemaVersion="V1_0"><UserID>{simulator.user}</UserID>'
            f"<Password>{simulator.password}</Password></LogonRequest>"
        )
        answer = self._send("PUT", "web/Logon", body.encode(), {"content-type": WEB_TYPE + "LogonRequest"})
        self.token = tree.fromstring(answer).findtext(WEB + "X-API-Session")

    def _send(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if path != "web/Logon":
            headers["X-API-Session"] = self.token
        request = urllib.request.Request(f"{self.url}/rest/api/{path}", data=body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()

    def switch(self, instance, wish, **parameters):
        """Switches an instance on (PowerOn) or off (PowerOff), as anybody can who is let in, and waits until that is done."""
        listed = "".join(
            f'<JobParameter schemaVersion="V1_0"><ParameterName>{name}</ParameterName><ParameterValue>{value}</ParameterValue></JobParameter>'
            for name, value in parameters.items()
        )
        body = (
            f'<JobRequest xmlns="{WEB[1:-1]}" schemaVersion="V1_0"><RequestedOperation schemaVersion="V1_0">'
            f"<OperationName>{wish}</OperationName><GroupName>LogicalPartition</GroupName></RequestedOperation>"
            f'<JobParameters schemaVersion="V1_0">{listed}</JobParameters></JobRequest>'
        )
        path = f"uom/LogicalPartition/{lpar_uuid(instance)}/do/{wish}"
        answer = self._send("PUT", path, body.encode(), {"content-type": WEB_TYPE + "JobRequest"})
        job = next(tree.fromstring(answer).iter(WEB + "JobID")).text
        status = lambda: self.feed(f"uom/jobs/{job}")[0].findtext("Status")  # noqa: E731
        ended = wait_for(f"the end of {wish}", status, lambda status: status not in ("RUNNING", "NOT_STARTED"))
        assert ended == "COMPLETED_OK", ended

    def switch_off(self, instance):
        self.switch(instance, "PowerOff", operation="shutdown", immediate="true")

    def switch_on(self, instance):
        self.switch(instance, "PowerOn")

    def feed(self, path):
        """The objects of a feed, or the one of an entry, without namespaces."""
        text = self._send("GET", path)
        if not text.strip():
            return []
        root = tree.fromstring(text)
        entries = [root] if root.tag == ATOM + "entry" else root.findall(ATOM + "entry")
        return [_plain(entry.find(ATOM + "content")[0], entry.findtext(ATOM + "id")) for entry in entries]

    def partition(self, instance):
        """The partition of an instance, or None."""
        try:
            return self.feed(f"uom/LogicalPartition/{lpar_uuid(instance)}")[0]
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def adapters(self, instance):
        return self.feed(f"uom/LogicalPartition/{lpar_uuid(instance)}/ClientNetworkAdapter")

    def trunks(self):
        """What the management partition has for Open vSwitch."""
        mine = next(one for one in self.feed("uom/LogicalPartition") if one.findtext("IsManagementPartition") == "true")
        return self.feed(f"uom/LogicalPartition/{mine.get('id')}/ClientNetworkAdapter")

    def mappings(self, instance=None):
        """What VIOSes show, to one instance or to all: (VIOS, kind, name)."""
        found = []
        for vios in self.feed("uom/VirtualIOServer?group=ViosSCSIMapping"):
            for mapping in vios.findall("VirtualSCSIMappings/VirtualSCSIMapping"):
                owner = mapping.find("AssociatedLogicalPartition")
                owner = "" if owner is None else owner.get("href", "").rsplit("/", 1)[-1].upper()
                if instance is not None and owner != lpar_uuid(instance):
                    continue
                storage = mapping.find("Storage")
                thing = storage[0] if storage is not None and len(storage) else None
                name = "" if thing is None else thing.findtext("UniqueDeviceID") or thing.findtext("MediaName") or thing.findtext("DiskName")
                found.append((vios.findtext("PartitionName"), "" if thing is None else thing.tag, name))
        return sorted(found)

    def fibre_ports(self, instance=None):
        """The virtual Fibre Channel ports that VIOSes have, for one instance or for all: (VIOS, port, slot of the instance, names)."""
        found = []
        for vios in self.feed("uom/VirtualIOServer?group=ViosFCMapping"):
            for mapping in vios.findall("VirtualFibreChannelMappings/VirtualFibreChannelMapping"):
                owner = mapping.find("AssociatedLogicalPartition")
                owner = "" if owner is None else owner.get("href", "").rsplit("/", 1)[-1].upper()
                if instance is None or owner == lpar_uuid(instance):
                    words = ("Port/PortName", "ClientAdapter/VirtualSlotNumber", "ClientAdapter/WWPNs")
                    found.append((vios.findtext("PartitionName"), *(mapping.findtext(word) or "" for word in words)))
        return sorted(found)

    def units(self):
        """The logical units of the pool, without images, which are kept while disks are made from them."""
        return sorted(unit.findtext("UnitName") for unit in self._units())

    def sizes(self):
        """How large each of them is, in GB."""
        return {unit.findtext("UnitName"): float(unit.findtext("UnitCapacity")) for unit in self._units()}

    def _units(self):
        return [unit for tier in self.feed("uom/Tier") for unit in self.feed(f"uom/Tier/{tier.get('id')}/LogicalUnit")]

    def groups(self):
        """The volume groups, with disks and media: (VIOS, group, names)."""
        found = []
        for vios in self.feed("uom/VirtualIOServer"):
            for group in self.feed(f"uom/VirtualIOServer/{vios.get('id')}/VolumeGroup"):
                disks = [disk.findtext("DiskName") for disk in group.iter("VirtualDisk")]
                media = [medium.findtext("MediaName") for medium in group.iter("VirtualOpticalMedia")]
                found.append((vios.findtext("PartitionName"), group.findtext("GroupName"), sorted(disks + media)))
        return sorted(found)

    def disks(self):
        """The disks that VIOSes know: (VIOS, name)."""
        found = []
        for vios in self.feed("uom/VirtualIOServer?group=ViosStorage"):
            found += [(vios.findtext("PartitionName"), disk.findtext("VolumeName")) for disk in vios.findall("PhysicalVolumes/PhysicalVolume")]
        return sorted(found)

    def everything(self):
        """All that instances can leave behind."""
        return {
            "partitions": sorted(one.findtext("PartitionName") for one in self.feed("uom/LogicalPartition")),
            "mappings": self.mappings(),
            "fibre": self.fibre_ports(),
            "units": self.units(),
            "disks": self.disks(),
            "groups": self.groups(),
            "trunks": sorted(one.findtext("MACAddress") for one in self.trunks()),
            "files": [one.findtext("Filename") for one in self.feed("web/File")],
        }


def _plain(element, identity):
    """An element with names only, and the id of its entry."""
    for one in element.iter():
        one.tag = one.tag.rsplit("}", 1)[-1]
    element.set("id", identity)
    return element
