"""What Nova hears of instances that others switch on and off. The periodic task that notices it otherwise never runs here."""

from nova.virt import event

from nova_tests.base import PowerVMTest
from simulator import wait_for

READ = "/rest/api/uom/Event"


class Events(PowerVMTest):
    delay = 0

    def _setup_compute_service(self):
        self.flags(power_event_delay=self.delay, group="powervm")
        self.flags(sync_power_state_interval=-1)
        compute = super()._setup_compute_service()
        self.wait_for_reads(2)
        return compute

    def setUp(self):
        super().setUp()
        self.made = self.create(name="watched", flavor_id=self.flavor(2048))
        self.here = self.servers["power-a"]

    def wait_for_reads(self, count):
        """Until so many more reads of events are answered as they should be: the second one shows that there is a queue."""
        reads = lambda: len([one for one in self.simulator.requests() if one["path"] == READ and not one.get("fault")])  # noqa: E731
        wanted = reads() + count
        wait_for("reads of events", reads, lambda seen: seen >= wanted)

    def flavor(self, memory):
        return self._create_flavor(memory_mb=memory, vcpu=2, disk=10, ephemeral=0, swap=0)

    def state(self):
        return self.partition(self.made).findtext("PartitionState")

    def actions(self):
        """What was done with the instance by the API, by users and by Nova itself."""
        listed = self.api.api_get(f"/servers/{self.made['id']}/os-instance-actions").body["instanceActions"]
        return [action["action"] for action in reversed(listed)]

    def finish(self):
        self.delete(self.made)
        self.assert_nothing_left()


class EventTest(Events):
    """Nova is told at once, also in the middle of what it does itself."""

    def test_an_instance_that_is_switched_off(self):
        self.here.switch_off(self.made["id"])
        self._wait_for_state_change(self.made, "SHUTOFF")
        self.assertEqual("not activated", self.state())
        self._start_server(self.made)
        self.assertEqual("running", self.state())
        self.finish()

    def test_an_instance_that_is_switched_on(self):
        self._stop_server(self.made)
        self.here.switch_on(self.made["id"])
        # Nova wants it off.
        wait_for("its end", self.state, lambda state: state == "not activated")
        wait_for("what Nova did", self.actions, lambda actions: actions == ["create", "stop", "stop"])
        self._wait_for_server_parameter(self.made, {"status": "SHUTOFF", "OS-EXT-STS:task_state": None})
        self.finish()

    def test_what_nova_does_itself(self):
        self._stop_server(self.made)
        self._start_server(self.made)
        self._reboot_server(self.made)
        self._reboot_server(self.made, hard=True)
        self.flags(allow_resize_to_same_host=True)
        self._resize_server(self.made, self.flavor(4096))
        self._confirm_resize(self.made)
        self.wait_for_reads(2)
        self.assertEqual(("ACTIVE", "running"), (self.api.get_server(self.made["id"])["status"], self.state()))
        self.assertEqual(["create", "stop", "start", "reboot", "reboot", "resize", "confirmResize"], self.actions())
        self.finish()

    def test_a_queue_that_is_lost(self):
        with self.fault(f"GET {READ} first=2 status=500"):
            wait_for("refusals", lambda: self.simulator.admin("GET", "/faults"), lambda rules: str(rules).count("'fired': 2"))
        self.wait_for_reads(2)
        self.here.switch_off(self.made["id"])
        self._wait_for_state_change(self.made, "SHUTOFF")
        self.assertEqual(1, self.stdlog.logger.output.count("noticed by Nova's periodic task only"))
        self._start_server(self.made)
        # A NovaLink that was restarted knows neither the queue nor the session.
        self.simulator.admin("DELETE", "/powervm/hosts/0/events")
        with self.fault(f"GET {READ} first=1 token-expired"):
            self.wait_for_reads(2)
        self.here.switch_off(self.made["id"])
        self._wait_for_state_change(self.made, "SHUTOFF")
        self.finish()

    def test_the_end(self):
        watch = self.compute.driver._watch
        self.compute.driver.cleanup_host("power-a")
        self.assertFalse(watch._thread.is_alive())
        self.finish()


class DelayTest(Events):
    """Nova is told of what lasts."""

    # Longer than a partition needs to go off and on again.
    delay = 4

    def _setup_compute_service(self):
        compute = super()._setup_compute_service()
        self.heard = []
        nova = compute.manager.handle_events

        def listen(happened):
            self.heard.append(happened.get_transition())
            nova(happened)

        compute.driver.register_event_listener(listen)
        return compute

    def test_an_instance_that_is_restarted(self):
        # It was switched on when it was made.
        wait_for("an event", lambda: self.heard, bool)
        self.here.switch_off(self.made["id"])
        self.here.switch_on(self.made["id"])
        wait_for("another event", lambda: self.heard, lambda heard: len(heard) > 1)
        self.assertEqual([event.EVENT_LIFECYCLE_STARTED] * 2, self.heard)
        self.assertEqual(("ACTIVE", "running"), (self.api.get_server(self.made["id"])["status"], self.state()))
        self.finish()


class NoEventsTest(PowerVMTest):
    """Nova can be told not to listen."""

    def _setup_compute_service(self):
        self.flags(handle_virt_lifecycle_events=False, group="workarounds")
        return super()._setup_compute_service()

    def test_nothing_is_read(self):
        self.delete(self.create(name="alone"))
        self.assertEqual([], [one for one in self.simulator.requests() if one["path"] == READ])
        self.assert_nothing_left()
