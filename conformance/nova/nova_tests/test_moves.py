"""Other shapes and other hosts."""

import threading

from nova.tests import fixtures as nova_fixtures
from nova.tests.functional.api import client

from nova_tests.base import PowerVMTest
from simulator import wait_for


class MoveTest(PowerVMTest):
    def flavors(self):
        """Two that differ in processors and memory."""
        return [self._create_flavor(memory_mb=memory, vcpu=vcpus, disk=10, ephemeral=0, swap=0) for memory, vcpus in ((2048, 2), (4096, 3))]

    def shape(self, made, host="power-a"):
        partition = self.partition(made, host)
        shared = "PartitionProcessorConfiguration/SharedProcessorConfiguration/DesiredVirtualProcessors"
        return partition.findtext("PartitionMemoryConfiguration/DesiredMemory"), partition.findtext(shared)

    def state(self, made, host="power-a"):
        partition = self.partition(made, host)
        return None if partition is None else partition.findtext("PartitionState")

    def test_resize_on_the_same_host(self):
        self.flags(allow_resize_to_same_host=True)
        small, large = self.flavors()
        made = self.create(name="resized", flavor_id=small)
        volume = nova_fixtures.CinderFixture.SWAP_OLD_VOL
        self._stop_server(made)
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": volume}})
        self._wait_for_volume_attach(made["id"], volume)
        self._start_server(made)
        shown = self.servers["power-a"].mappings(made["id"])
        for end, shape in ((self._revert_resize, ("2048", "2")), (self._confirm_resize, ("4096", "3"))):
            self._resize_server(made, large)
            self.assertEqual(("running", ("4096", "3")), (self.state(made), self.shape(made)))
            end(made)
            self.assertEqual(("running", shape), (self.state(made), self.shape(made)))
            self.assertEqual(shown, self.servers["power-a"].mappings(made["id"]))
        self.delete(made)
        self.assert_nothing_left()

    def test_resize_to_another_host(self):
        self.start_power("power-b")
        small, large = self.flavors()
        made = self.create(name="moved", flavor_id=small, host="power-a", config_drive=True)
        units = self.servers["power-a"].units()
        self._resize_server(made, large)
        self.assertEqual(("not activated", "running"), (self.state(made), self.state(made, "power-b")))
        self.assertEqual(("4096", "3"), self.shape(made, "power-b"))
        self._revert_resize(made)
        self.assertEqual(("running", None), (self.state(made), self.state(made, "power-b")))
        self.assertEqual(units, self.servers["power-a"].units(), "its disk is the one that it had")
        self._resize_server(made, large)
        self._confirm_resize(made)
        self.assertEqual((None, "running"), (self.state(made), self.state(made, "power-b")))
        self.assertEqual(units, self.servers["power-a"].units())
        self.delete(made)
        self.assert_nothing_left()

    def test_a_cold_migration_with_a_volume(self):
        self.start_power("power-b")
        volume = nova_fixtures.CinderFixture.IMAGE_BACKED_VOL
        mapping = {"boot_index": 0, "uuid": volume, "source_type": "volume", "destination_type": "volume"}
        small, _ = self.flavors()
        made = self.create(name="volume", image_uuid="", block_device_mapping_v2=[mapping], flavor_id=small, host="power-a")
        self._migrate_server(made)
        self._wait_for_state_change(made, "VERIFY_RESIZE")
        self.assertEqual(["PhysicalVolume"] * 2, [kind for _, kind, _ in self.servers["power-b"].mappings(made["id"])])
        self._confirm_resize(made)
        self.assertEqual((None, "running"), (self.state(made), self.state(made, "power-b")))
        self.delete(made)
        self.assert_nothing_left()

    def test_what_cannot_be_resized_stays_as_it_is(self):
        self.flags(allow_resize_to_same_host=True)
        small, _ = self.flavors()
        made = self.create(name="same", flavor_id=small)
        # Nova itself refuses what is smaller than an instance was made with, but not what is smaller than it has become.
        self._resize_server(made, self._create_flavor(memory_mb=2048, vcpu=2, disk=20, ephemeral=0, swap=0))
        self._confirm_resize(made)
        # With these fixtures the API waits for the compute, and hears of its refusal.
        refused = self.assertRaises(client.OpenStackApiException, self._resize_server, made, small)
        self.assertIn("ResizeError", str(refused))
        self.assertEqual(("running", ("2048", "2")), (self.state(made), self.shape(made)))

    def test_a_larger_disk(self):
        self.flags(allow_resize_to_same_host=True)
        small, _ = self.flavors()
        made = self.create(name="grown", flavor_id=small)
        flavors = {gib: self._create_flavor(memory_mb=2048, vcpu=2, disk=gib, ephemeral=0, swap=0) for gib in (15, 20, 25)}
        self._resize_server(made, flavors[20])
        self._revert_resize(made)
        self.assertEqual(20, self.boot_disk(made), "what has grown stays so")
        self._resize_server(made, flavors[15])
        self._confirm_resize(made)
        self.assertEqual(20, self.boot_disk(made))
        self.start_power("power-b")
        self.flags(allow_resize_to_same_host=False)
        self._resize_server(made, flavors[25])
        self._confirm_resize(made)
        self.assertEqual((25, "running"), (self.boot_disk(made), self.state(made, "power-b")))
        self.delete(made)
        self.assert_nothing_left()

    def boot_disk(self, made):
        """How large it is."""
        units = self.servers["power-a"].sizes()
        return next(size for name, size in units.items() if name.startswith("boot_") and made["id"][-8:].upper() in name.upper())

    def test_rebuild(self):
        made = self.create(name="rebuilt")
        volume = nova_fixtures.CinderFixture.SWAP_OLD_VOL
        self.wait_for_rmc(made)
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": volume}})
        self._wait_for_volume_attach(made["id"], volume)
        before = [(vios, kind) for vios, kind, _ in self.servers["power-a"].mappings(made["id"])]
        self._rebuild_server(made, self.image_id)
        self.assertEqual("running", self.state(made))
        self.assertEqual(before, [(vios, kind) for vios, kind, _ in self.servers["power-a"].mappings(made["id"])])
        self.delete(made)
        self.assert_nothing_left()

    def test_a_snapshot(self):
        made = self.create(name="pictured")
        device = self.servers["power-a"].mappings(made["id"])[0][2]
        devices = self.directory / "devices"
        devices.mkdir()
        self.stub_out("landfall_powervm.images.DEVICES", str(devices))
        self.stub_out("landfall_powervm.images.SCANS", str(devices / "no-bus-*"))
        kept = {}
        real = self.glance.update

        def update(context, image_id, metadata, data=None, purge_props=False):
            if data is not None:
                kept[image_id] = data.read()
            return real(context, image_id, metadata, data, purge_props)

        self.glance.update = update

        def kernel():
            """Shows the disk once the management partition is given it."""
            count = lambda: [name for _, _, name in self.servers["power-a"].mappings()].count(device)  # noqa: E731
            wait_for("the disk at the management partition", count, lambda count: count == 3)
            (devices / f"scsi-{device[-32:]}").write_bytes(b"what is on the disk")

        thread = threading.Thread(target=kernel)
        thread.start()
        answer = self.api.post_server_action(made["id"], {"createImage": {"name": "picture"}})
        thread.join()
        image = (answer or {}).get("image_id") or next(one["id"] for one in self.glance.images.values() if one["name"] == "picture")
        wait_for("the snapshot", lambda: kept.get(image), lambda data: data is not None)
        self.assertEqual(b"what is on the disk", kept[image])
        self._wait_for_server_parameter(made, {"OS-EXT-STS:task_state": None})
        self.assertEqual(("raw", "active"), (self.glance.images[image]["disk_format"], self.glance.images[image]["status"]))
        self.delete(made)
        self.assert_nothing_left()
