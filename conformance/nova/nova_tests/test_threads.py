"""What goes on beside a call of the Rust half, and what becomes of one that nobody waits for any more."""

import contextlib
import sys
import threading

from nova_tests.base import PowerVMTest
from simulator import wait_for

# A step that is tried again for as long as this answer comes: the call does not end before somebody lets it.
HELD = "POST /rest/api/uom/VirtualIOServer/* status=503"
# How long others wait for a process that stands still. Only a test that fails waits so long.
PATIENCE = 240


def native_threads():
    """The module for real threads, also where eventlet has put green ones into its place."""
    eventlet = sys.modules.get("eventlet")
    return eventlet.patcher.original("threading") if eventlet is not None else threading


class ThreadTest(PowerVMTest):
    @contextlib.contextmanager
    def released_at_last(self):
        """Lets a process go on that stands still, so that its test fails instead of standing still too. Tells whether that was so."""
        late = []

        def release():
            late.append(True)
            self.simulator.clear_faults()

        timer = native_threads().Timer(PATIENCE, release)
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    def test_others_go_on_while_an_instance_is_made(self):
        ticks = []

        def tick():
            self.wait_until_refused()
            for number in range(20):
                ticks.append(number)
                self.api.get_servers()
            self.simulator.clear_faults()

        self.simulator.add_fault(HELD)
        with self.released_at_last() as late:
            ticker = threading.Thread(target=tick)
            ticker.start()
            made = self.create(name="slow")
            ticker.join()
        # It could not end before all of these.
        self.assertEqual((20, []), (len(ticks), late))
        self.delete(made)
        self.assert_nothing_left()

    def test_an_instance_that_is_deleted_while_it_is_made(self):
        with self.fault(HELD):
            made = self.create(name="unwanted", expected_state=None)
            self.wait_until_refused()
            deletion = threading.Thread(target=self.api.delete_server, args=(made["id"],))
            deletion.start()
            # Nova notes it at once, and carries it out when the making has ended.
            self._wait_for_server_parameter(made, {"OS-EXT-STS:task_state": "deleting"})
        deletion.join()
        self._wait_until_deleted(made)
        self.assert_nothing_left()

    def test_a_thread_that_is_killed(self):
        eventlet = sys.modules.get("eventlet")
        if eventlet is None or not eventlet.patcher.is_monkey_patched("thread"):
            self.skipTest("only green threads can be killed")
        driver, threads = self.compute.driver, []
        spawn = driver.spawn

        def noted(*arguments, **options):
            threads.append(eventlet.getcurrent())
            return spawn(*arguments, **options)

        driver.spawn = noted
        with self.fault(HELD):
            made = self.create(name="killed", expected_state=None)
            self.wait_until_refused()
            self.assertIsNotNone(self.partition(made))
            eventlet.kill(threads[0])
        wait_for("the end of what was begun", lambda: self.partition(made), lambda partition: partition is None)
        # Nova has heard nothing of it.
        self.assertEqual("BUILD", self.api.get_server(made["id"])["status"])
        self.delete(made)
        self.assert_nothing_left()
