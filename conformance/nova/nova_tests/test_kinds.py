"""Other kinds of everything: IBM i, dedicated processors, SR-IOV, NPIV."""

from nova.tests import fixtures as nova_fixtures

from nova_tests.base import PowerVMTest


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


class FibreTest(PowerVMTest):
    """Volumes that instances see themselves."""

    def _setup_compute_service(self):
        vioses = self.servers["power-a"].feed("uom/VirtualIOServer")
        ports = [port.findtext("WWPN") for vios in vioses for port in vios.iter("PhysicalFibreChannelPort")]
        self.assertGreaterEqual(len(ports), 4)
        self.flags(fc_attach_strategy="npiv", fabric_port_wwpns=[",".join(ports[0::2]), ",".join(ports[1::2])], group="powervm")
        return super()._setup_compute_service()

    def ports(self, made):
        """The names of an instance's virtual ports, by VIOS."""
        found = []
        for vios in self.servers["power-a"].feed("uom/VirtualIOServer?group=ViosFCMapping"):
            for mapping in vios.findall("VirtualFibreChannelMappings/VirtualFibreChannelMapping"):
                owner = mapping.find("AssociatedLogicalPartition").get("href").rsplit("/", 1)[-1]
                if owner.upper() == self.partition(made).get("id").upper():
                    found.append((vios.findtext("PartitionName"), mapping.findtext("ClientAdapter/WWPNs")))
        return found

    def test_boot_from_volume(self):
        volume = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL
        mapping = {"boot_index": 0, "uuid": volume, "source_type": "volume", "destination_type": "volume"}
        made = self.create(name="npiv", image_uuid="", block_device_mapping_v2=[mapping])
        ports = self.ports(made)
        self.assertEqual(2, len(ports), "one on each fabric")
        self.assertEqual([], self.servers["power-a"].mappings(made["id"]))
        # Cinder was told the names before the partition was there.
        attachment = next(iter(self.cinder.volume_to_attachment[volume].values()))
        told = {name.upper() for name in attachment["connector"]["wwpns"]}
        self.assertEqual({name.upper() for _, names in ports for name in names.split()}, told)
        self.delete(made)
        self.assert_nothing_left()
