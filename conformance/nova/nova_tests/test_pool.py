"""Instances in a shared storage pool, on VLANs that shared Ethernet adapters bridge."""

import base64
import json
import socket
import subprocess

from nova.tests import fixtures as nova_fixtures

from nova_tests import server
from nova_tests.base import USER_DATA, PowerVMTest
from simulator import wait_for


class PoolTest(PowerVMTest):
    def test_a_life(self):
        flavor = self._create_flavor(
            memory_mb=4096, vcpu=4, disk=10, ephemeral=1,
            extra_spec={"powervm:proc_units": "1.5", "powervm:max_mem": "8192", "powervm:uncapped": "false",
                        "powervm:processor_compatibility": "POWER9", "powervm:availability_priority": "150"},
        )
        made = self.create(name="one", flavor_id=flavor)
        partition = self.partition(made)
        self.assertEqual("running", partition.findtext("PartitionState"))
        text = lambda path: partition.findtext(f"Partition{path}")  # noqa: E731
        shared = "ProcessorConfiguration/SharedProcessorConfiguration"
        self.assertEqual(("4096", "8192"), (text("MemoryConfiguration/DesiredMemory"), text("MemoryConfiguration/MaximumMemory")))
        self.assertEqual(("4", "1.5"), (text(f"{shared}/DesiredVirtualProcessors"), str(float(text(f"{shared}/DesiredProcessingUnits")))))
        self.assertEqual("capped", text("ProcessorConfiguration/SharingMode"))
        self.assertEqual("150", partition.findtext("AvailabilityPriority"))
        self.assertEqual("POWER9", partition.findtext("PendingProcessorCompatibilityMode"))
        # The boot disk and the ephemeral one, on both VIOSes.
        self.assertEqual(["LogicalUnit"] * 4, [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])])
        # One adapter for the port, and one for the management switch.
        vlans = sorted(adapter.findtext("PortVLANID") for adapter in self.servers["power-a"].adapters(made["id"]))
        self.assertEqual(["100", "4094"], vlans)
        self.assertEqual([made["id"]], self.compute.driver.list_instance_uuids())

        self._reboot_server(made)
        self._reboot_server(made, hard=True)
        self._stop_server(made)
        self.assertEqual("not activated", self.partition(made).findtext("PartitionState"))
        self._start_server(made)
        self.assertEqual("running", self.partition(made).findtext("PartitionState"))
        self.delete(made)
        self.assert_nothing_left()

    def test_what_the_host_has(self):
        usage = self.admin_api.api_get("/os-hypervisors/detail").body["hypervisors"][0]
        self.assertEqual(("phyp", "power-a"), (usage["hypervisor_type"], usage["hypervisor_hostname"]))
        provider = self._get_provider_uuid_by_host("power-a")
        inventory = self._get_provider_inventory(provider)
        self.assertEqual((40, 524288, 2000), tuple(inventory[name]["total"] for name in ("VCPU", "MEMORY_MB", "DISK_GB")))
        traits = self._get_provider_traits(provider)
        self.assertIn("COMPUTE_IMAGE_TYPE_RAW", traits)
        self.assertIn("HW_CPU_PPC64LE_POWER9", traits)
        self.assertNotIn("COMPUTE_IMAGE_TYPE_QCOW2", traits)

    def test_a_config_drive_is_read_back(self):
        encoded = base64.b64encode(USER_DATA.encode()).decode()
        made = self.create(name="configured", config_drive=True, user_data=encoded, metadata={"role": "database"})
        drives = list(self.media.iterdir())
        self.assertEqual(1, len(drives))
        read = lambda name: subprocess.run(  # noqa: E731
            ["isoinfo", "-R", "-i", drives[0], "-x", f"/openstack/latest/{name}"], check=True, capture_output=True,
        ).stdout
        self.assertEqual(USER_DATA.encode(), read("user_data"))
        metadata = json.loads(read("meta_data.json"))
        self.assertEqual((made["id"], "configured", {"role": "database"}), tuple(metadata[key] for key in ("uuid", "name", "meta")))
        adapters = {adapter.findtext("MACAddress") for adapter in self.servers["power-a"].adapters(made["id"])}
        links = {link["ethernet_mac_address"].replace(":", "").upper() for link in json.loads(read("network_data.json"))["links"]}
        self.assertEqual(adapters, links)
        self.assertIn("VirtualOpticalMedia", [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])])
        self.delete(made)
        self.assert_nothing_left()

    def test_volumes_and_interfaces(self):
        made = self.create(name="attached")
        self.wait_for_rmc(made)
        before = self.servers["power-a"].mappings(made["id"])
        volume = nova_fixtures.CinderFixture.SWAP_OLD_VOL
        for power in ("on", "off"):
            if power == "off":
                self._stop_server(made)
            self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": volume}})
            self._wait_for_volume_attach(made["id"], volume)
            with_volume = [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])]
            self.assertEqual(2, with_volume.count("PhysicalVolume"), "on both VIOSes")
            self.api.delete_server_volume(made["id"], volume)
            self._wait_for_volume_detach(made["id"], volume)
            self.assertEqual(before, self.servers["power-a"].mappings(made["id"]))
        self._start_server(made)
        self.wait_for_rmc(made)
        attached = self.api.attach_interface(made["id"], {"interfaceAttachment": {"net_id": self.neutron.network_1["id"]}})
        port = attached.body["interfaceAttachment"]["port_id"]
        self.assertEqual(3, len(self.servers["power-a"].adapters(made["id"])))
        self.api.detach_interface(made["id"], port)
        wait_for("detachment", lambda: len(self.servers["power-a"].adapters(made["id"])), lambda count: count == 2)
        self.delete(made)
        self.assert_nothing_left()

    def test_boot_from_volume(self):
        volume = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL
        mapping = {"boot_index": 0, "uuid": volume, "source_type": "volume", "destination_type": "volume"}
        made = self.create(name="volume", image_uuid="", block_device_mapping_v2=[mapping])
        self.assertEqual(["PhysicalVolume"] * 2, [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])])
        self.assertEqual(self.at_first["power-a"]["units"], self.servers["power-a"].units())
        self.delete(made)
        self.assert_nothing_left()

    def test_a_console(self):
        made = self.create(name="console")
        context = self.nova_context()
        instance = self.instance(made, context)
        console = self.compute.driver.get_vnc_console(context, instance)
        self.assertEqual(server.lpar_uuid(made["id"]), console.internal_access_path)
        with socket.create_connection(("127.0.0.1", console.port), timeout=120) as viewer:
            viewer.sendall(f"CONNECT {console.internal_access_path} HTTP/1.1\r\n\r\n".encode())
            answer = viewer.makefile("rb")
            self.assertIn(b"200", answer.readline())
            self.assertEqual(b"\r\n", answer.readline())
            self.assertEqual(b"RFB 003.008\n", answer.readline())
        # With its console still open.
        self.delete(made)
        self.assert_nothing_left()


class SharedPoolTest(PowerVMTest):
    """The pool as a provider of its own in placement."""

    def _setup_compute_service(self):
        self.flags(share_pool_inventory=True, group="powervm")
        return super()._setup_compute_service()

    def test_two_hosts_share_it(self):
        self.start_power("power-b")
        providers = {one["name"]: one["uuid"] for one in self._get_all_providers()}
        pool = next(name for name in providers if name.startswith("powervm-pool-"))
        self.assertEqual({pool, "power-a", "power-b"}, set(providers))
        self.assertEqual(2000, self._get_provider_inventory(providers[pool])["DISK_GB"]["total"])
        for host in ("power-a", "power-b"):
            self.assertNotIn("DISK_GB", self._get_provider_inventory(providers[host]))
        made = self.create(name="sharing")
        self.assertEqual(1, self._get_provider_usages(providers[pool])["DISK_GB"])
        self.delete(made)
        self.assertEqual(0, self._get_provider_usages(providers[pool])["DISK_GB"])
        self.assert_nothing_left()
