"""Other kinds of everything: IBM i, dedicated processors, SR-IOV, NPIV."""

from nova.tests import fixtures as nova_fixtures

from nova_tests.base import PowerVMTest
from nova_tests.fibre import FibreBase


class KindsTest(PowerVMTest):
    vif_type = "pvm_sriov"

    def test_ibm_i_on_dedicated_processors_and_a_virtual_nic(self):
        self.glance.images[self.image_id]["properties"]["os_distro"] = "ibmi"
        specs = {"powervm:dedicated_proc": "true", "powervm:dedicated_sharing_mode": "keep_idle_procs"}
        flavor = self._create_flavor(memory_mb=4096, vcpu=2, disk=10, ephemeral=0, swap=0, extra_spec=specs)
        made = self.create(name="ibmi", flavor_id=flavor)
        partition = self.partition(made)
        self.assertEqual(("OS400", "running"), (partition.findtext("PartitionType"), partition.findtext("PartitionState")))
        processors = partition.find("PartitionProcessorConfiguration")
        self.assertEqual("2", processors.findtext("DedicatedProcessorConfiguration/DesiredProcessors"))
        self.assertEqual("keep idle procs", processors.findtext("SharingMode"))
        # It loads itself from the slot of its disk.
        self.assertNotIn(partition.findtext("PartitionIOConfiguration/TaggedIO/LoadSource"), (None, "0", "NONE"))
        here = self.servers["power-a"]
        vnics = here.feed(f"uom/LogicalPartition/{partition.get('id')}/VirtualNICDedicated")
        self.assertEqual(["100"], [vnic.findtext("Details/PortVLANID") for vnic in vnics])
        self.delete(made)
        self.assert_nothing_left()


class FibreTest(FibreBase):
    """Volumes that instances see themselves."""

    def test_boot_from_volume(self):
        volume = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL
        mapping = {"boot_index": 0, "uuid": volume, "source_type": "volume", "destination_type": "volume"}
        made = self.create(name="npiv", image_uuid="", block_device_mapping_v2=[mapping])
        self.assertEqual(["fcs0", "fcs1"], sorted(port for port, _ in self.ports(made)), "one on each fabric")
        self.assertEqual([], self.servers["power-a"].mappings(made["id"]))
        # Cinder was told the names before the partition was there.
        self.assertEqual([name for _, name in self.told(volume)], [self.names_in_use(made)])
        self.delete(made)
        self.assert_nothing_left()

    def attachments_come_and_go(self, made, volume):
        """A volume is attached to an instance that runs, and detached, twice. Nothing changes on the server for that."""
        here = self.servers["power-a"]
        before = here.everything()
        for _ in range(2):
            self.attach(made, volume)
            self.assertEqual([name for _, name in self.told(volume)], [self.names_in_use(made)])
            self.assertEqual(before, here.everything())
            self.api.delete_server_volume(made["id"], volume)
            self._wait_for_volume_detach(made["id"], volume)
            self.assertEqual([], self.told(volume))
            self.assertEqual(before, here.everything())

    def test_a_volume_for_an_instance_without_any(self):
        made = self.create(name="later")
        self.assertEqual(2, len(self.ports(made)))
        self.attachments_come_and_go(made, nova_fixtures.CinderFixture.SWAP_OLD_VOL)
        self.delete(made)
        self.assert_nothing_left()

    def test_a_volume_for_an_instance_that_boots_from_another(self):
        boot, other = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL, nova_fixtures.CinderFixture.SWAP_OLD_VOL
        mapping = {"boot_index": 0, "uuid": boot, "source_type": "volume", "destination_type": "volume"}
        made = self.create(name="second", image_uuid="", block_device_mapping_v2=[mapping])
        before = self.told(boot)
        self.attachments_come_and_go(made, other)
        self.assertEqual(before, self.told(boot))
        # One that is attached when the instance is deleted.
        self.attach(made, other)
        self.delete(made)
        self.assert_nothing_left()

    def test_a_cold_migration(self):
        self.start_power("power-b")
        volume = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL
        mapping = {"boot_index": 0, "uuid": volume, "source_type": "volume", "destination_type": "volume"}
        made = self.create(name="cold", image_uuid="", block_device_mapping_v2=[mapping], host="power-a")
        names = sorted(names for _, names in self.ports(made))
        self._migrate_server(made)
        self._wait_for_state_change(made, "VERIFY_RESIZE")
        # It is made anew over there, with the names that it had in the order that they had.
        self.assertEqual(names, sorted(names for _, names in self.ports(made, "power-b")))
        self._confirm_resize(made)
        self.assertEqual([], self.servers["power-a"].fibre_ports())
        self.assertEqual([self.names_in_use(made, "power-b")], [name for _, name in self.told(volume)])
        self.delete(made)
        self.assert_nothing_left()
