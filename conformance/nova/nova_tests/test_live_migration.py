"""Instances that move while they run."""

from nova import conf
from nova.tests import fixtures as nova_fixtures

from nova_tests.base import PowerVMTest
from nova_tests.fibre import FibreBase
from nova_tests.server import lpar_uuid


class LiveMigrationTest(PowerVMTest):
    vif_type = "ovs"

    def setUp(self):
        super().setUp()
        self.start_power("power-b")

    def running(self):
        """An instance with a volume, of which the operating system can be asked to move."""
        made = self.create(name="live", host="power-a", config_drive=True)
        self.wait_for_rmc(made)
        volume = nova_fixtures.CinderFixture.SWAP_OLD_VOL
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": volume}})
        self._wait_for_volume_attach(made["id"], volume)
        return made

    def test_there_and_deleted(self):
        made = self.running()
        self._live_migrate(made, "completed")
        self.assertIsNone(self.partition(made))
        self.assertEqual("running", self.partition(made, "power-b").findtext("PartitionState"))
        there = self.servers["power-b"]
        kinds = sorted(kind for _, kind, _ in there.mappings(made["id"]))
        self.assertEqual(["LogicalUnit"] * 2 + ["PhysicalVolume"] * 2, kinds)
        # Its link to Open vSwitch is one of the new host, and nothing of it is left on the old one.
        trunk = there.trunks()[0]
        self.assertIn(f"vm-uuid={lpar_uuid(made['id']).lower()}", trunk.findtext("OvsPortExternalIds"))
        self.assertIn(trunk.findtext("PortVLANID"), [adapter.findtext("PortVLANID") for adapter in there.adapters(made["id"])])
        self.assertEqual([], self.servers["power-a"].trunks())
        self.assertEqual(self.at_first["power-a"]["mappings"], self.servers["power-a"].mappings())
        self.delete(made)
        self.assert_nothing_left()

    def test_a_migration_that_fails_leaves_it_where_it_is(self):
        made = self.running()
        before = self.servers["power-a"].mappings(made["id"])
        with self.fault("PUT /rest/api/uom/LogicalPartition/*/do/Migrate* status=400 body=platform"):
            self._live_migrate(made, "failed")
        self.assertEqual("running", self.partition(made).findtext("PartitionState"))
        self.assertIsNone(self.partition(made, "power-b"))
        media = [one for one in before if one[1] != "VirtualOpticalMedia"]
        self.assertEqual(media, self.servers["power-a"].mappings(made["id"]))
        there = self.servers["power-b"].everything()
        there["units"] = self.at_first["power-b"]["units"]  # the pool is that of both
        self.assertEqual(self.at_first["power-b"], there)
        self.delete(made)
        self.assert_nothing_left()


class FibreLiveMigrationTest(FibreBase):
    """With npiv: virtual Fibre Channel ports go with the instance, and use their other names there."""

    vif_type = "ovs"
    VOLUME = nova_fixtures.CinderFixture.SWAP_OLD_VOL

    def setUp(self):
        super().setUp()
        self.start_power("power-b")

    def running(self):
        made = self.create(name="live", host="power-a")
        self.wait_for_rmc(made)
        self.attach(made, self.VOLUME)
        return made

    def noted(self, made):
        """The ports that are noted with an instance: (port, names), in the order of fabrics; and whether any others are."""
        metadata = self.instance(made, self.nova_context()).system_metadata
        own = [metadata[key].split() for key in sorted(metadata) if key.startswith("landfall_powervm_port_")]
        others = [key for key in metadata if key.startswith("landfall_powervm_") and not key.startswith("landfall_powervm_port_")]
        return sorted((port, [first.lower(), second.lower()]) for _, port, first, second in own), others

    def test_there_and_back_and_deleted(self):
        made = self.running()
        before = self.ports(made)
        self.assertEqual(["fcs0", "fcs1"], sorted(port for port, _ in before), "one on each fabric")
        name = made["OS-EXT-SRV-ATTR:instance_name"]
        self.assertEqual([(f"power-a_{name}", self.names_in_use(made))], self.told(self.VOLUME))
        self._live_migrate(made, "completed")
        self.assertEqual("running", self.partition(made, "power-b").findtext("PartitionState"))
        there = self.ports(made, "power-b")
        self.assertEqual([(port, names[::-1]) for port, names in before], there)
        self.assertEqual((sorted(there), []), self.noted(made))
        # Nothing is left of it on the old host, and Cinder lets in only who is there now.
        self.assertEqual([], self.servers["power-a"].fibre_ports())
        self.assertEqual([(f"power-b_{name}", self.names_in_use(made, "power-b"))], self.told(self.VOLUME))
        # It has its volume, and others come and go.
        self.api.delete_server_volume(made["id"], self.VOLUME)
        self._wait_for_volume_detach(made["id"], self.VOLUME)
        self.attach(made, self.VOLUME)
        self.assertEqual([(f"power-b_{name}", self.names_in_use(made, "power-b"))], self.told(self.VOLUME))
        self._live_migrate(made, "completed")
        self.assertEqual(before, self.ports(made))
        self.assertEqual((sorted(before), []), self.noted(made))
        self.assertEqual([], self.servers["power-b"].fibre_ports())
        self.assertEqual([(f"power-a_{name}", self.names_in_use(made))], self.told(self.VOLUME))
        self.delete(made)
        self.assert_nothing_left()

    def assert_it_stayed(self, made, before, told):
        self.assertEqual("running", self.partition(made).findtext("PartitionState"))
        self.assertEqual(before, self.ports(made))
        self.assertEqual((sorted(before), []), self.noted(made))
        self.assertEqual(told, self.told(self.VOLUME))
        self.assertIsNone(self.partition(made, "power-b"))
        there = self.servers["power-b"].everything()
        there["units"] = self.at_first["power-b"]["units"]  # the pool is that of both
        self.assertEqual(self.at_first["power-b"], there)

    def test_a_migration_that_fails_leaves_it_where_it_is(self):
        made = self.running()
        before, told = self.ports(made), self.told(self.VOLUME)
        with self.fault("PUT /rest/api/uom/LogicalPartition/*/do/Migrate* status=400 body=platform"):
            self._live_migrate(made, "failed")
        self.assert_it_stayed(made, before, told)
        # The next one goes as if there had been none.
        self._live_migrate(made, "completed")
        self.assertEqual([(port, names[::-1]) for port, names in before], self.ports(made, "power-b"))
        self.delete(made)
        self.assert_nothing_left()

    def test_a_host_without_ports_on_its_fabrics(self):
        made = self.running()
        before, told = self.ports(made), self.told(self.VOLUME)
        fabrics = conf.CONF.powervm.fabric_port_wwpns
        vioses = self.servers["power-b"].feed("uom/VirtualIOServer")
        there = {port.findtext("WWPN") for vios in vioses for port in vios.iter("PhysicalFibreChannelPort")}
        others = [",".join(set(fabric.split(",")) - there) for fabric in fabrics]
        self.flags(fabric_port_wwpns=others, group="powervm")
        self.api.post_server_action(made["id"], {"os-migrateLive": {"host": None, "block_migration": "auto"}})
        # Releases have different words for it.
        self._wait_for_migration_status(made, ["error", "failed"])
        self._wait_for_state_change(made, "ACTIVE")
        self.assert_it_stayed(made, before, told)
        self.delete(made)
        self.assert_nothing_left()
