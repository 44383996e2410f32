"""Instances on disks of one VIOS, and on Open vSwitch."""

from nova_tests.base import PowerVMTest
from nova_tests.server import lpar_uuid


class LocalDiskTest(PowerVMTest):
    disk_driver = "localdisk"
    vif_type = "ovs"

    def test_a_life(self):
        made = self.create(name="local")
        self.assertEqual([("vios1", "VirtualDisk")], [(vios, kind) for vios, kind, _ in self.servers["power-a"].mappings(made["id"])])
        trunks = self.servers["power-a"].trunks()
        self.assertEqual(1, len(trunks))
        self.assertEqual("br-int", trunks[0].findtext("OvsBridge"))
        self.assertIn(f"vm-uuid={lpar_uuid(made['id']).lower()}", trunks[0].findtext("OvsPortExternalIds"))
        adapters = self.servers["power-a"].adapters(made["id"])
        self.assertIn(trunks[0].findtext("PortVLANID"), [adapter.findtext("PortVLANID") for adapter in adapters])
        self._reboot_server(made)
        self.delete(made)
        self.assert_nothing_left()

    def test_what_the_host_has(self):
        inventory = self._get_provider_inventory(self._get_provider_uuid_by_host("power-a"))
        self.assertEqual(290, inventory["DISK_GB"]["total"])
