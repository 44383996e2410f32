"""What is left when the server refuses something: nothing, whatever it was."""

import contextlib

from nova.tests.functional.api import client

from nova_tests import refusals
from nova_tests.base import PowerVMTest
from simulator import wait_for


class FaultTest(PowerVMTest):
    """The requests that change something while an instance is made are counted, and then each of them is refused in turn."""

    vif_type = "ovs"

    def options(self):
        return {"name": "refused", "config_drive": True}

    def test_each_change_is_refused_once(self):
        before = len(self.simulator.requests())
        made = self.create(**self.options())
        kinds = refusals.kinds(self.simulator, before)
        self.delete(made)
        self.assert_nothing_left()
        self.assertGreater(len(kinds), 8, kinds)
        outcomes = {}
        for kind in kinds:
            with self.fault(refusals.rule(kind)):
                made = self.create(expected_state=None, **self.options())
                outcomes[kind] = self.settled(made)["status"]
            if outcomes[kind] == "ERROR":
                self.assert_nothing_left()
            # Some refusals do no harm: a note of an upload that is deleted at the second attempt.
            self.delete(made)
            self.assert_nothing_left()
        self.assertGreater(list(outcomes.values()).count("ERROR"), len(kinds) / 2, outcomes)

    def settled(self, made):
        shown = lambda: self.api.get_server(made["id"])  # noqa: E731
        return wait_for("an outcome", shown, lambda server: server["status"] in ("ACTIVE", "ERROR"))

    def test_another_host_is_tried(self):
        self.start_power("power-b")
        with self.fault("PUT /rest/api/uom/ManagedSystem/*/LogicalPartition* first=1 status=400 body=platform"):
            made = self.create(**self.options())
        hosts = [name for name in ("power-a", "power-b") if self.partition(made, name) is not None]
        self.assertEqual([made["OS-EXT-SRV-ATTR:host"]], hosts)
        self.delete(made)
        self.assert_nothing_left()

    def test_a_destruction_that_is_refused_can_be_repeated(self):
        made = self.create(**self.options())
        with self.fault("DELETE /rest/api/uom/LogicalPartition/* status=400 body=platform"):
            with contextlib.suppress(client.OpenStackApiException):
                # With these fixtures the API waits for the compute, and hears of its failure.
                self.api.delete_server(made["id"])
            self._wait_for_state_change(made, "ERROR")
        self.delete(made)
        self.assert_nothing_left()

    def test_trouble_that_passes_is_waited_for(self):
        with self.fault("* /rest/api/uom/V* nth=4 status=503"), self.fault("POST /rest/api/uom/VirtualIOServer/* first=2 status=500 body=platform"):
            made = self.create(**self.options())
            self.delete(made)
        self.assert_nothing_left()
