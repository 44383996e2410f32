"""Many instances, several at a time: by the API, and by the Rust half alone. LOAD says how many; conformance/nova/load runs a hundred."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from landfall_powervm import driver as powervm_driver
from nova_tests.base import PowerVMTest, gate_in
import tier
from simulator import wait_for

COUNT = int(os.environ.get("LOAD", "8"))
AT_ONCE = int(os.environ.get("LOAD_AT_ONCE", "4"))
# Seconds for so many at a time. Only a test that fails waits so long.
PATIENCE = 600
# How many the Rust half makes and removes, how many at a time, and how often.
PARTITIONS, PARTITIONS_AT_ONCE, ROUNDS = tier.choose(40, 100), 10, 3
# What its memory may differ by from one round to another, in MiB: with 100 of them, 25 KiB for each would be noticed.
NOISE = 5


@gate_in("2026")
class LoadTest(PowerVMTest):
    def test_many(self):
        self.flags(instances=-1, cores=-1, ram=-1, group="quota")
        # What is made once: an image in the pool, connections, everything that Python loads late.
        first = self.create(name="first")
        memory = []
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as self.pool:
            for half in range(2):
                names = [f"load-{half}-{number}" for number in range(COUNT // 2)]
                made = [one for some in portions(names) for one in self.make(some)]
                self.assertEqual(COUNT // 2 + 1, self.compute.driver.get_num_instances())
                for some in portions(made):
                    self.remove(some)
                self.assertEqual(1, self.compute.driver.get_num_instances())
                memory.append(resident_mib())
        self.delete(first)
        self.assert_nothing_left()
        # All of Nova is in this process, with its databases and what it has logged.
        print(f"{COUNT} instances, {AT_ONCE} at once: {memory[0]:.0f} MiB after half of them, {memory[1]:.0f} MiB after all")
        self.assertLess(memory[1], memory[0] * 1.1 + 10)

    def test_many_without_nova(self):
        """A process that does what the driver asks for, and nothing else, does not grow."""
        asked, calls = [], self.compute.driver._calls

        def noted(call, instance=None, **arguments):
            if call == "spawn":
                asked.append(arguments["machine"])
            return calls(call, instance, **arguments)

        self.compute.driver._calls = noted
        first = self.create(name="first")
        script = pathlib.Path(__file__).with_name("many.py")
        words = [json.dumps(one) for one in (powervm_driver._settings("power-a"), asked[-1])]
        command = [sys.executable, script, *map(str, (PARTITIONS, PARTITIONS_AT_ONCE, ROUNDS))]
        ended = subprocess.run(command, input="\n".join(words), stdout=subprocess.PIPE, text=True, check=True)
        memory = [float(line) for line in ended.stdout.splitlines()]
        self.assertEqual(ROUNDS, len(memory))
        self.compute.driver._calls = calls
        self.delete(first)
        self.assert_nothing_left()
        shown = ", ".join(f"{one:.1f}" for one in memory)
        print(f"{PARTITIONS} partitions, {PARTITIONS_AT_ONCE} at once, {ROUNDS} times: {shown} MiB after each")
        # The first round makes what is kept: connections, and room that is used again.
        self.assertLess(memory[-1], memory[0] + NOISE)

    def make(self, names):
        """Creates instances at the same time, and waits until all are active."""
        made = [one["id"] for one in self.pool.map(lambda name: self.create(name=name, expected_state=None), names)]
        shown = self.settled("being made", made, lambda status: status != "BUILD")
        self.assertEqual({one: "ACTIVE" for one in made}, shown)
        return made

    def remove(self, made):
        """Deletes instances at the same time, and waits until all are gone."""
        list(self.pool.map(self.api.delete_server, made))
        shown = self.settled("being deleted", made, lambda status: status == "ERROR")
        self.assertEqual({}, shown)

    def settled(self, what, made, wanted):
        """The states of those that there are, once all are as wanted. One question about all: each instance asking for itself would
        take more of the processor than their making."""
        states = lambda: {one["id"]: one["status"] for one in self.api.get_servers() if one["id"] in made}  # noqa: E731
        return wait_for(what, states, lambda states: all(map(wanted, states.values())), timeout=PATIENCE, every=0.5)


def portions(these):
    return [these[start:start + AT_ONCE] for start in range(0, len(these), AT_ONCE)]


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
