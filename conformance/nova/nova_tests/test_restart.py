"""A nova-compute that is killed, and started again."""

import contextlib
import json
import pathlib
import subprocess
import sys

from nova import exception

from landfall_powervm.driver import LandfallPowerVMDriver
from nova_tests.base import CONF, PowerVMTest
from oslo_utils.fixture import uuidsentinel as uuids
from simulator import wait_for


class RestartTest(PowerVMTest):
    def begin(self, call):
        """Another process begins something: what the compute was before it was killed."""
        settings = {
            "url": self.simulator.ready["hosts"][0]["url"], "user": self.simulator.user, "password": self.simulator.password,
            "ca_bundle": None, "insecure": False, "system": None, "journals": str(self.directory / "journals" / "power-a"),
            "job_timeout_seconds": 60, "job_interval_seconds": 0.05,
        }
        script = pathlib.Path(__file__).with_name("killed.py")
        process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(json.dumps(settings) + "\n" + json.dumps(call) + "\n")
        process.stdin.flush()
        return process

    def machine(self):
        image = self.directory / "image"
        image.write_bytes(b"an image")
        share = {"minimum": 1, "desired": 1, "maximum": 1}
        pool = {"kind": "pool", "pool": None, "tier": None}
        return {
            "uuid": uuids.killed, "name": "killed", "system": "aix-linux", "volumes": [], "fibre_ports": [], "config_drive": None,
            "shape": {
                "memory": {"minimum_mib": 2048, "desired_mib": 2048, "maximum_mib": 2048},
                "processors": {"kind": "shared", "virtual_processors": share, "units": share, "uncapped_weight": 64, "pool": 0},
                "compatibility_mode": None, "availability_priority": None, "remote_restart": None,
            },
            "disks": [{"name": "boot", "gib": 10, "place": pool, "image": {"name": "image_killed_" + "0" * 32, "file": str(image)}}],
            "nics": [{"mac": "fa:16:3e:00:00:01", "network": {"kind": "bridged", "switch": "ETHERNET0", "vlan": 100}}],
            "power_on": True,
        }

    def test_what_was_begun_is_undone(self):
        here = self.servers["power-a"]
        # The last step cannot succeed, so that the process is in the middle of it when it is killed.
        with self.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn* status=503"):
            process = self.begin({"call": "spawn", "machine": self.machine(), "complete": True})
            wait_for("a partition with a disk", lambda: here.mappings(uuids.killed), lambda found: len(found) == 2)
            process.kill()
            process.wait()
        self.assertIsNotNone(here.partition(uuids.killed), "nobody has undone it")
        (self.directory / "image").unlink()
        self.compute.driver.init_host("power-a")
        self.assertIsNone(here.partition(uuids.killed))
        self.assert_nothing_left()
        # Once more, with nothing to undo.
        self.compute.driver.init_host("power-a")

    def test_what_is_wrong_is_said_at_the_start(self):
        for options, words in (
            ({"novalink_password": "wrong"}, "refused user admin"),
            ({"disk_driver": "localdisk", "volume_group_name": ""}, "needs volume_group_name"),
            ({"disk_driver": "localdisk", "volume_group_name": "nosuchvg"}, "nosuchvg"),
            ({"fc_attach_strategy": "npiv"}, "needs fabric_port_wwpns"),
            ({"connect_timeout": 0, "novalink_url": "http://127.0.0.1:1"}, "cannot be used"),
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
