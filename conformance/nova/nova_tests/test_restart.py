"""A nova-compute that is killed in the middle of something, and started again: Nova does what it does then, and so does the driver."""

import contextlib
import pathlib
from unittest import mock

import fixtures
import oslo_messaging
from nova import exception
from nova.tests import fixtures as nova_fixtures
from nova.tests.functional.api import client

from landfall_powervm.driver import LandfallPowerVMDriver
from nova_tests.base import CONF, PowerVMTest, gate_in
from nova_tests.killed import Killed, Mortal
from oslo_messaging.rpc import dispatcher
from simulator import wait_for
from tier import full_only

VOLUME = nova_fixtures.CinderFixture.SWAP_OLD_VOL
INVENTORY = pathlib.Path(__file__).parents[3] / "crates/simulator/src/powervm/inventory/default.yaml"

# Requests that are answered so for as long as somebody asks: the call gets no further.
MAPPING = "POST /rest/api/uom/VirtualIOServer/* status=503"
POWER_ON = "PUT /rest/api/uom/LogicalPartition/*/do/PowerOn* status=503"
POWER_OFF = "PUT /rest/api/uom/LogicalPartition/*/do/PowerOff* status=503"
SHAPE = "POST /rest/api/uom/LogicalPartition/* status=503"
REMOVAL = "DELETE /rest/api/uom/LogicalPartition/* status=503"
ADAPTER = "PUT /rest/api/uom/LogicalPartition/*/ClientNetworkAdapter* status=503"
ADAPTER_REMOVAL = "DELETE /rest/api/uom/LogicalPartition/*/ClientNetworkAdapter/* status=503"
MIGRATION = "PUT /rest/api/uom/LogicalPartition/*/do/Migrate* status=503"


@gate_in("2026")
class RestartTest(PowerVMTest):
    vif_type = "ovs"

    def setUp(self):
        # Nobody waits for a compute that is dead: casts are casts here.
        with mock.patch.object(nova_fixtures, "CastAsCallFixture", lambda test: fixtures.Fixture()):
            super().setUp()
        dispatch = dispatcher.RPCDispatcher.dispatch

        def answered(*arguments):
            try:
                return dispatch(*arguments)
            except Killed as killed:
                # Who does wait hears that at once, instead of nothing for a minute.
                raise RuntimeError("the compute is dead") from killed

        self.stub_out("oslo_messaging.rpc.dispatcher.RPCDispatcher.dispatch", answered)

    def killed_during(self, call, operate, held=None, until=None, host="power-a"):
        """A compute is killed in the middle of a call that an operation makes: when a request was answered as `held` says, or when
        `until` returns. Then it is started again."""
        before = len(self.simulator.requests())
        driver = self.computes[host].driver
        fault = self.fault(held) if held else contextlib.nullcontext()
        mortal = Mortal(driver, self.servers[host].url, call, fault, until or (lambda: self.wait_until_refused(before)))
        driver._calls = mortal
        with contextlib.suppress(client.OpenStackApiException):
            operate()
        wait_for("the death of the compute", mortal.died.is_set, bool, timeout=120)
        if call != "power":
            # Nova itself does that again, so it needs no journal.
            self.assertNotEqual([], self.journals(host), "there is something to undo")
        driver._calls = None
        self.restart_power(host)
        self.assertEqual([], self.journals(host))

    def journals(self, host="power-a"):
        """What is under way."""
        return [one.name for one in (self.directory / "journals" / host).iterdir() if one.suffix == ".sqlite"]

    def ended(self, made, status):
        """Waits until Nova has done what it does with an instance after a restart."""
        look = lambda: self.api.get_server(made["id"])  # noqa: E731
        return wait_for("the end", look, lambda seen: (seen["status"], seen["OS-EXT-STS:task_state"]) == (status, None))

    def removed(self, made):
        """Deletes an instance, of which nothing is left then. What hosts have that Nova does not connect it with any more goes as in
        Nova: periodically."""
        self.delete(self.api.get_server(made["id"]))
        for compute in self.computes.values():
            compute.manager._cleanup_running_deleted_instances(self.nova_context())
            compute.manager.update_available_resource(self.nova_context())
        self.assert_nothing_left()

    def shown(self, made, host="power-a"):
        """What an instance has on a server, and its shape."""
        here, partition = self.servers[host], self.partition(made, host)
        memory = partition.findtext("PartitionMemoryConfiguration/DesiredMemory")
        return here.mappings(made["id"]), here.disks(), len(here.adapters(made["id"])), memory, partition.findtext("PartitionState")

    def running(self, **options):
        made = self.create(name="killed", host="power-a", **options)
        self.wait_for_rmc(made)
        return made

    def with_volume(self, **options):
        made = self.running(**options)
        self.attach(made)
        found = lambda: [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])].count("PhysicalVolume")  # noqa: E731
        wait_for("the volume", lambda: (found(), self.journals()), lambda seen: seen == (2, []))
        return made

    def attach(self, made):
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": VOLUME}})

    def detach(self, made):
        self.api.delete_server_volume(made["id"], VOLUME)

    def act(self, made, **action):
        self.api.post_server_action(made["id"], action)


class LifetimeRestartTest(RestartTest):
    def creation(self, held):
        made = []
        operate = lambda: made.append(self.create(name="killed", expected_state=None, config_drive=True))  # noqa: E731
        self.killed_during("spawn", operate, held)
        self.ended(made[0], "ERROR")
        self.assert_nothing_left()
        self.removed(made[0])

    def test_a_creation(self):
        self.creation(MAPPING)

    def test_a_creation_whose_image_is_on_its_way(self):
        self.creation("PUT /rest/api/web/File/contents/* status=503")

    def test_files_of_images_that_were_left(self):
        files = self.directory / "images" / "power-a"
        (files / "image.left").write_bytes(b"what a process that was killed has not removed")
        self.restart_power("power-a")
        self.assertEqual([], list(files.iterdir()))

    def test_a_deletion(self):
        made = self.with_volume(config_drive=True)
        self.killed_during("destroy", lambda: self.api.delete_server(made["id"]), REMOVAL)
        # Nova goes on with it.
        self._wait_until_deleted(made)
        self.assert_nothing_left()

    def rebuild(self, call, held):
        made = self.with_volume()
        self.killed_during(call, lambda: self.act(made, rebuild={"imageRef": self.image_id}), held)
        self.ended(made, "ERROR")
        # It is a matter of the user to do it again.
        self.act(made, rebuild={"imageRef": self.image_id})
        self.ended(made, "ACTIVE")
        kinds = sorted(kind for _, kind, _ in self.servers["power-a"].mappings(made["id"]))
        self.assertEqual(["LogicalUnit"] * 2 + ["PhysicalVolume"] * 2, kinds)
        self.removed(made)

    @full_only
    def test_a_rebuild_that_removes_the_old_one(self):
        self.rebuild("destroy", REMOVAL)

    def test_a_rebuild_that_makes_the_new_one(self):
        self.rebuild("spawn", MAPPING)

    def test_a_snapshot(self):
        made = self.running()
        before, here = self.shown(made), self.servers["power-a"]
        # The management partition is shown the disk, and nothing comes of it.
        devices = self.directory / "devices"
        devices.mkdir()
        self.stub_out("landfall_powervm.images.DEVICES", str(devices))
        self.stub_out("landfall_powervm.images.SCANS", str(devices / "no-bus-*"))
        count = len(here.mappings())
        is_shown = lambda: wait_for("the disk", lambda: len(here.mappings()), lambda now: now == count + 1)  # noqa: E731
        self.killed_during("snapshot", lambda: self.act(made, createImage={"name": "picture"}), until=is_shown)
        self.ended(made, "ACTIVE")
        self.assertEqual((before, count), (self.shown(made), len(here.mappings())))
        self.removed(made)


class PowerRestartTest(RestartTest):
    """Nova tries again."""

    @full_only
    def test_a_stop(self):
        made = self.running()
        self.killed_during("power", lambda: self.act(made, **{"os-stop": None}), POWER_OFF)
        self.ended(made, "SHUTOFF")
        self.assertEqual("not activated", self.partition(made).findtext("PartitionState"))
        self.removed(made)

    @full_only
    def test_a_start(self):
        made = self._stop_server(self.running())
        self.killed_during("power", lambda: self.act(made, **{"os-start": None}), POWER_ON)
        self.ended(made, "ACTIVE")
        self.assertEqual("running", self.partition(made).findtext("PartitionState"))
        self.removed(made)

    def test_a_reboot(self):
        made = self.running()
        self.killed_during("power", lambda: self.act(made, reboot={"type": "HARD"}), POWER_OFF)
        self.ended(made, "ACTIVE")
        self.assertEqual("running", self.partition(made).findtext("PartitionState"))
        self.removed(made)


class AttachmentRestartTest(RestartTest):
    def test_an_attachment(self):
        made = self.running()
        before = self.shown(made)
        # VIOSes have found the volume by then.
        self.killed_during("attach-volume", lambda: self.attach(made), MAPPING)
        self.ended(made, "ACTIVE")
        self.assertEqual(before, self.shown(made))
        self.removed(made)

    def test_a_detachment(self):
        made = self.with_volume()
        self.killed_during("detach-volume", lambda: self.detach(made), MAPPING)
        self.ended(made, "ACTIVE")
        # It is gone from some VIOSes perhaps, and not from others; whoever asks again gets it.
        self.detach(made)
        self._wait_for_volume_detach(made["id"], VOLUME)
        self.assertEqual(["LogicalUnit"] * 2, [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])])
        self.assertEqual(self.at_first["power-a"]["disks"], self.servers["power-a"].disks())
        self.removed(made)

    def attach_interface(self, made):
        return self.api.attach_interface(made["id"], {"interfaceAttachment": {"net_id": self.neutron.network_1["id"]}})

    def test_an_interface_that_is_attached(self):
        made = self.running()
        before, trunks = self.shown(made), len(self.servers["power-a"].trunks())
        self.killed_during("attach-nic", lambda: self.attach_interface(made), ADAPTER)
        self.ended(made, "ACTIVE")
        self.assertEqual((before, trunks), (self.shown(made), len(self.servers["power-a"].trunks())))
        self.removed(made)

    def test_an_interface_that_is_detached(self):
        made = self.running()
        before, trunks = self.shown(made), len(self.servers["power-a"].trunks())
        port = self.attach_interface(made).body["interfaceAttachment"]["port_id"]
        self.killed_during("detach-nic", lambda: self.api.detach_interface(made["id"], port), ADAPTER_REMOVAL)
        self.ended(made, "ACTIVE")
        with contextlib.suppress(client.OpenStackApiNotFoundException):
            self.api.detach_interface(made["id"], port)
        found = lambda: (self.shown(made), len(self.servers["power-a"].trunks()))  # noqa: E731
        wait_for("the detachment", found, lambda found: found == (before, trunks))
        self.removed(made)


class ResizeRestartTest(RestartTest):
    def setUp(self):
        super().setUp()
        self.flags(allow_resize_to_same_host=True)
        self.small, self.large = (
            self._create_flavor(memory_mb=memory, vcpu=2, disk=10, ephemeral=0, swap=0) for memory in (2048, 4096)
        )

    def resize(self, made):
        self.act(made, resize={"flavorRef": self.large})

    def rolled_back(self, call, held):
        """Nova brings an instance back if it had not left yet."""
        made = self.with_volume(flavor_id=self.small)
        before = self.shown(made)
        self.killed_during(call, lambda: self.resize(made), held)
        self.ended(made, "ACTIVE")
        self.assertEqual(before, self.shown(made))
        self.removed(made)

    @full_only
    def test_a_resize_that_switches_off(self):
        self.rolled_back("power", POWER_OFF)

    @full_only
    def test_a_resize_that_detaches(self):
        self.rolled_back("detach-volume", MAPPING)

    def test_a_resize_that_reshapes(self):
        made = self.with_volume(flavor_id=self.small)
        self.killed_during("resize", lambda: self.resize(made), SHAPE)
        self.assertEqual("resize_finish", self.api.get_server(made["id"])["OS-EXT-STS:task_state"])
        self.assertEqual("2048", self.partition(made).findtext("PartitionMemoryConfiguration/DesiredMemory"))
        self.removed(made)


class ColdMigrationRestartTest(ResizeRestartTest):
    """To another host."""

    def setUp(self):
        super().setUp()
        self.flags(allow_resize_to_same_host=False)
        self.start_power("power-b")

    def moved(self):
        made = self.with_volume(flavor_id=self.small)
        self.resize(made)
        return self._wait_for_state_change(made, "VERIFY_RESIZE")

    def test_a_resize_that_reshapes(self):
        made = self.with_volume(flavor_id=self.small)
        self.killed_during("adopt", lambda: self.resize(made), MAPPING, host="power-b")
        self.assertEqual("resize_finish", self.api.get_server(made["id"])["OS-EXT-STS:task_state"])
        self.assertIsNone(self.partition(made, "power-b"))
        self.assertIsNotNone(self.partition(made))
        self.removed(made)

    def test_a_confirmation(self):
        made = self.moved()
        self.killed_during("destroy", lambda: self.act(made, confirmResize=None), REMOVAL)
        self.assertEqual("running", self.partition(made, "power-b").findtext("PartitionState"))
        self.removed(made)

    def test_a_reversion(self):
        made = self.moved()
        self.killed_during("destroy", lambda: self.act(made, revertResize=None), REMOVAL, host="power-b")
        self.assertIsNotNone(self.partition(made))
        self.removed(made)


class LiveRestartTest(RestartTest):
    def setUp(self):
        super().setUp()
        self.start_power("power-b")

    def migrate(self, made):
        self.act(made, **{"os-migrateLive": {"host": None, "block_migration": "auto"}})

    def stays(self, held, until=None):
        made = self.with_volume()
        before = self.shown(made)
        self.killed_during("depart", lambda: self.migrate(made), held, until)
        made = self.ended(made, "ACTIVE")
        self.assertEqual("power-a", made["OS-EXT-SRV-ATTR:host"])
        self.assertEqual(before, self.shown(made))
        # The other host hears of it when it next looks.
        self._run_periodics()
        there = self.servers["power-b"].everything()
        there["units"] = self.at_first["power-b"]["units"]  # the pool is that of both
        self.assertEqual(self.at_first["power-b"], there)
        self.removed(made)


class LiveMigrationRestartTest(LiveRestartTest):
    def test_the_target(self):
        made = self.with_volume()
        before = self.shown(made)
        self.killed_during("expect", lambda: self.migrate(made), ADAPTER, host="power-b")
        self.ended(made, "ACTIVE")
        self.assertEqual(before, self.shown(made))
        self.removed(made)

    @full_only
    def test_the_source_before_anything_moves(self):
        self.stays(MIGRATION)

    def moved_meanwhile(self):
        """An instance that moves while no compute is there to tell Nova of it."""
        made = self.with_volume()
        there = self.servers["power-b"]
        arrived = lambda: wait_for("its arrival", lambda: (self.partition(made), there.partition(made["id"])), has_moved)  # noqa: E731
        self.killed_during("depart", lambda: self.migrate(made), ADAPTER_REMOVAL, arrived)
        # Nobody has told Nova but the compute that was started again.
        made = self.ended(made, "ACTIVE")
        self.assertEqual("power-b", made["OS-EXT-SRV-ATTR:host"])
        self.assertEqual("running", self.partition(made, "power-b").findtext("PartitionState"))
        self.assertEqual([], self.servers["power-a"].trunks())
        self.assertEqual(self.at_first["power-a"]["mappings"], self.servers["power-a"].mappings())
        self.assertEqual(self.at_first["power-a"]["disks"], self.servers["power-a"].disks())
        migration = self.api.api_get(f"/os-migrations?instance_uuid={made['id']}").body["migrations"][0]
        self.assertEqual({}, self.placement.get(f"/allocations/{migration['uuid']}").body["allocations"])
        return made, migration["status"]

    def test_the_source_when_all_is_done(self):
        made, status = self.moved_meanwhile()
        self.assertEqual("completed", status)
        # It is an instance like any other.
        self.detach(made)
        self._wait_for_volume_detach(made["id"], VOLUME)
        self.removed(made)

    def test_the_source_when_all_is_done_and_the_target_is_away(self):
        self.stub_out("nova.compute.rpcapi.ComputeAPI.post_live_migration_at_destination", nobody)
        made, status = self.moved_meanwhile()
        self.assertEqual("error", status)
        # It hears of it later.
        self.assertNotEqual([], self.journals("power-b"))
        self._run_periodics()
        self.assertEqual([], self.journals("power-b"))
        self.removed(made)


def nobody(*arguments, **options):
    raise oslo_messaging.MessagingTimeout


def has_moved(seen):
    here, there = seen
    return here is None and there is not None and there.findtext("PartitionState") == "running"


class SlowMigrationRestartTest(LiveRestartTest):
    """Migrations take longer than anybody waits."""

    def simulator_options(self):
        inventory = self.directory / "inventory.yaml"
        inventory.write_text(INVENTORY.read_text() + "settings: { migration_seconds: 360000 }\n")
        return "--inventory", inventory

    def test_the_source_in_the_middle(self):
        states = lambda: [one.findtext("PartitionState") for one in self.servers["power-a"].feed("uom/LogicalPartition")]  # noqa: E731
        is_moving = lambda states: any(state.startswith("migrating") for state in states)  # noqa: E731
        self.stays(None, lambda: wait_for("the migration", states, is_moving))


class StartTest(PowerVMTest):
    def test_what_is_wrong_is_said_at_the_start(self):
        for options, words in (
            ({"novalink_password": "wrong"}, "refused user admin"),
            ({"disk_driver": "localdisk", "volume_group_name": ""}, "needs volume_group_name"),
            ({"disk_driver": "localdisk", "volume_group_name": "nosuchvg"}, "nosuchvg"),
            ({"fc_attach_strategy": "npiv"}, "needs fabric_port_wwpns"),
            ({"connect_timeout": 0, "novalink_url": "http://127.0.0.1:1"}, "cannot be used"),
            ({"image_directory": "/dev/null/images"}, "image_directory cannot be used"),
        ):
            with self.settings(options):
                driver = LandfallPowerVMDriver(None)
                wrong = self.assertRaises(exception.NovaException, driver.init_host, "power-a")
                self.assertIn(words, str(wrong))
                self.assertNotIn("wrong", str(wrong), "a password is never shown")

    @contextlib.contextmanager
    def settings(self, options):
        before = {name: getattr(CONF.powervm, name) for name in options}
        self.flags(group="powervm", **options)
        yield
        self.flags(group="powervm", **before)
