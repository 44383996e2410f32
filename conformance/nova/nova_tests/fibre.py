"""Tests with npiv: instances have virtual Fibre Channel ports of their own."""

from nova_tests.base import PowerVMTest


class FibreBase(PowerVMTest):
    """Two fabrics: the first ports of all VIOSes are on one, the second ones on the other."""

    def _setup_compute_service(self):
        vioses = [vios for found in self.servers.values() for vios in found.feed("uom/VirtualIOServer")]
        ports = [[port.findtext("WWPN") for port in vios.iter("PhysicalFibreChannelPort")] for vios in vioses]
        self.assertGreaterEqual(len(vioses), 4)
        self.flags(fc_attach_strategy="npiv", fabric_port_wwpns=[",".join(fabric) for fabric in zip(*ports)], group="powervm")
        return super()._setup_compute_service()

    def ports(self, made, host="power-a"):
        """The virtual ports of an instance: (port of a VIOS, its two names), in the order of their slots."""
        found = self.servers[host].fibre_ports(made["id"])
        return [(port, names.split()) for _, port, _, names in sorted(found, key=lambda one: int(one[2]))]

    def told(self, volume):
        """What Cinder knows of where a volume is attached: (host, names of ports), for each attachment."""
        connectors = [one["connector"] for one in self.cinder.volume_to_attachment[volume].values()]
        return [(connector["host"], sorted(name.lower() for name in connector["wwpns"])) for connector in connectors]

    def names_in_use(self, made, host="power-a"):
        return sorted(names[0].lower() for _, names in self.ports(made, host))

    def attach(self, made, volume):
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": volume}})
        self._wait_for_volume_attach(made["id"], volume)
