"""What becomes of an instance when the server refuses something while it is changed: the state that Nova has for that, and nothing is left
once it is deleted.

In the tier `full` each kind of request that an operation makes is refused in turn; in the gate the last one that it fails for.
"""

import contextlib

from nova import objects
from nova.tests import fixtures as nova_fixtures
from nova.tests.functional.api import client

from nova_tests import refusals
from nova_tests.base import PowerVMTest, gate_in
from simulator import wait_for

VOLUME = nova_fixtures.CinderFixture.SWAP_OLD_VOL


@gate_in("debian")
class RefusalTest(PowerVMTest):
    vif_type = "ovs"

    def refuse(self, prepare, operate, wanted, afterwards=None):
        """Carries out an operation on instances that are prepared for it, with one kind of request after another refused, from the last
        to the first. Those that it fails for are to be in the wanted state, and the server as before if that is the one from before,
        unless `afterwards` sees to it."""
        made = prepare()
        started = len(self.simulator.requests())
        operate(made)
        self.assertFalse(self.failed(made))
        kinds = refusals.kinds(self.simulator, started)
        self.remove(made)
        outcomes = {}
        for kind in reversed(kinds):
            made = prepare()
            was = self.api.get_server(made["id"])["status"], self.shown(made)
            with self.fault(refusals.rule(kind)):
                with contextlib.suppress(client.OpenStackApiException):
                    # With these fixtures the API waits for the compute, and hears of its failure.
                    operate(made)
                outcomes[kind] = self.failed(made)
            if outcomes[kind]:
                status = self.api.get_server(made["id"])["status"]
                self.assertEqual(wanted, status, kind)
                if afterwards is not None:
                    afterwards(made)
                elif status == was[0]:
                    self.assertEqual(was[1], self.shown(made), kind)
            self.remove(made)
            if outcomes[kind] and not refusals.EACH:
                break
        # Some refusals do no harm: what is already as it should be, or is done at the second attempt.
        self.assertIn(True, outcomes.values(), outcomes)

    def failed(self, made):
        """Whether the last operation failed, as Nova has it, once it has ended."""
        def ended():
            try:
                return self.api.get_server(made["id"])["OS-EXT-STS:task_state"] is None
            except client.OpenStackApiNotFoundException:
                return True

        wait_for("the end of the operation", ended, lambda ended: ended, timeout=120)
        # A reboot that failed is no error to Nova if the instance runs: it notes it, and says nothing to those who ask.
        noted = objects.InstanceFaultList.get_by_instance_uuids(self.nova_context(), [made["id"]])
        return bool(noted) or self.api.get_instance_actions(made["id"])[0]["message"] == "Error"

    def shown(self, made):
        """What an instance has on the server, and whether it runs."""
        here = self.servers["power-a"]
        return here.mappings(made["id"]), len(here.adapters(made["id"])), self.partition(made).findtext("PartitionState")

    def remove(self, made):
        """Deletes an instance. What it has on hosts that Nova does not connect it with any more goes as in Nova: periodically."""
        with contextlib.suppress(client.OpenStackApiNotFoundException):
            self.delete(self.api.get_server(made["id"]))
        for compute in self.computes.values():
            compute.manager._cleanup_running_deleted_instances(self.nova_context())
        self.assert_nothing_left()

    def act(self, made, **action):
        self.api.post_server_action(made["id"], action)

    # Instances that something is done with

    def running(self):
        made = self.create(name="running", host="power-a")
        self.wait_for_rmc(made)
        return made

    def with_volume(self):
        made = self.running()
        self.attach(made)
        self._wait_for_volume_attach(made["id"], VOLUME)
        return made

    def attach(self, made):
        self.api.post_server_volume(made["id"], {"volumeAttachment": {"volumeId": VOLUME}})


class PowerRefusalTest(RefusalTest):
    def test_stop(self):
        self.refuse(self.running, lambda made: self.act(made, **{"os-stop": None}), "ACTIVE")

    def test_start(self):
        def stopped():
            return self._stop_server(self.create(name="stopped"))

        self.refuse(stopped, lambda made: self.act(made, **{"os-start": None}), "SHUTOFF")

    def test_reboot(self):
        self.refuse(self.running, lambda made: self.act(made, reboot={"type": "HARD"}), "ACTIVE")

    def test_deletion(self):
        self.refuse(self.with_volume, lambda made: self.api.delete_server(made["id"]), "ERROR")


class VolumeRefusalTest(RefusalTest):
    def test_attachment(self):
        self.refuse(self.running, self.attach, "ACTIVE")

    def test_detachment(self):
        def detach(made):
            self.api.delete_server_volume(made["id"], VOLUME)

        def detach_again(made):
            # It is gone from some VIOSes perhaps, and not from others.
            detach(made)
            self._wait_for_volume_detach(made["id"], VOLUME)
            self.assertNotIn("PhysicalVolume", [kind for _, kind, _ in self.servers["power-a"].mappings(made["id"])])

        self.refuse(self.with_volume, detach, "ACTIVE", afterwards=detach_again)


class InterfaceRefusalTest(RefusalTest):
    def attach_interface(self, made):
        return self.api.attach_interface(made["id"], {"interfaceAttachment": {"net_id": self.neutron.network_1["id"]}})

    def test_attachment(self):
        self.refuse(self.running, self.attach_interface, "ACTIVE")

    def test_detachment(self):
        def with_interface():
            made = self.running()
            self.before = self.shown(made)
            self.port = self.attach_interface(made).body["interfaceAttachment"]["port_id"]
            return made

        def detach(made):
            self.api.detach_interface(made["id"], self.port)

        def detach_again(made):
            detach(made)
            wait_for("the detachment", lambda: self.shown(made), lambda shown: shown == self.before)

        self.refuse(with_interface, detach, "ACTIVE", afterwards=detach_again)


class DiskRefusalTest(RefusalTest):
    def test_rebuild(self):
        self.refuse(self.with_volume, lambda made: self.act(made, rebuild={"imageRef": self.image_id}), "ERROR")

    def test_snapshot(self):
        devices = self.directory / "devices"
        devices.mkdir()
        self.stub_out("landfall_powervm.images.DEVICES", str(devices))
        self.stub_out("landfall_powervm.images.SCANS", str(devices / "no-bus-*"))

        def pictured():
            made = self.running()
            device = self.servers["power-a"].mappings(made["id"])[0][2]
            (devices / f"scsi-{device[-32:]}").write_bytes(b"what is on the disk")
            return made

        self.refuse(pictured, lambda made: self.act(made, createImage={"name": "picture"}), "ACTIVE")


class MoveRefusalTest(RefusalTest):
    """On the same host, or from one to another."""

    def setUp(self):
        super().setUp()
        self.small, self.large = (
            self._create_flavor(memory_mb=memory, vcpu=2, disk=10, ephemeral=0, swap=0) for memory in (2048, 4096)
        )

    def small_with_volume(self):
        made = self.create(name="moved", flavor_id=self.small, host="power-a")
        self.wait_for_rmc(made)
        self.attach(made)
        self._wait_for_volume_attach(made["id"], VOLUME)
        return made

    def resize(self, made):
        self.act(made, resize={"flavorRef": self.large})

    def resized(self):
        made = self.small_with_volume()
        self.resize(made)
        return self._wait_for_state_change(made, "VERIFY_RESIZE")

    def confirm(self, made):
        self.act(made, confirmResize=None)

    def revert(self, made):
        self.act(made, revertResize=None)

    def test_resize(self):
        self.flags(allow_resize_to_same_host=True)
        self.refuse(self.small_with_volume, self.resize, "ERROR")

    def test_resize_that_is_reverted(self):
        self.flags(allow_resize_to_same_host=True)
        self.refuse(self.resized, self.revert, "ERROR")

    def test_resize_to_another_host(self):
        self.start_power("power-b")
        self.refuse(self.small_with_volume, self.resize, "ERROR")

    def test_resize_to_another_host_that_is_reverted(self):
        self.start_power("power-b")
        self.refuse(self.resized, self.revert, "ERROR")

    def test_resize_to_another_host_that_is_confirmed(self):
        self.start_power("power-b")
        self.refuse(self.resized, self.confirm, "ERROR")

    def test_live_migration(self):
        self.start_power("power-b")

        def migrate(made):
            self.act(made, **{"os-migrateLive": {"host": None, "block_migration": "auto"}})
            ends = ("completed", "failed", "error", "cancelled")
            look = lambda: self.api.api_get(f"/os-migrations?instance_uuid={made['id']}").body["migrations"][0]["status"]  # noqa: E731
            wait_for("the end of the migration", look, lambda status: status in ends, timeout=120)

        self.refuse(self.small_with_volume, migrate, "ACTIVE")
