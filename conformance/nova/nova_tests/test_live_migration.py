"""Instances that move while they run."""

from nova.tests import fixtures as nova_fixtures

from nova_tests.base import PowerVMTest
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
