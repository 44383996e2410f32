"""A nova-compute that is killed, and started again."""

import contextlib
import json
import pathlib
import subprocess
import sys

from nova import exception

from landfall_powervm.driver import LandfallPowerVMDriver
from nova_tests.base import CONF, TARGETS, PowerVMTest
from oslo_utils.fixture import uuidsentinel as uuids
from simulator import wait_for


class RestartTest(PowerVMTest):
    def begin(self, call, host="power-a"):
        """Another process begins something: what the compute was before it was killed."""
        settings = {
            "url": self.servers[host].url, "user": self.simulator.user, "password": self.simulator.password,
            "ca_bundle": None, "insecure": False, "system": None, "journals": str(self.directory / "journals" / host),
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

    def killed_at(self, rule, call, host="power-a"):
        """A process is killed in the middle of a call, which goes no further than a request that is answered so."""
        before = len(self.simulator.requests())
        with self.fault(rule):
            process = self.begin(call, host)
            self.wait_until_refused(before)
            process.kill()
            process.wait()
        self.assertNotEqual([], list((self.directory / "journals" / host).iterdir()), "there is something to undo")

    def shown(self, made):
        """What an instance has on the server, and its shape."""
        here, partition = self.servers["power-a"], self.partition(made)
        return here.mappings(made["id"]), here.disks(), partition.findtext("PartitionMemoryConfiguration/DesiredMemory")

    def undone(self, made, before, host="power-a"):
        """The compute is started again: the instance has what it had, and can be deleted."""
        self.computes[host].driver.init_host(host)
        self.assertEqual([], list((self.directory / "journals" / host).iterdir()))
        self.assertEqual(before, self.shown(made))
        self.delete(made)
        self.assert_nothing_left()

    def volume(self):
        return {"id": uuids.volume, "targets": TARGETS, "lun": 1, "device": None}

    def test_an_attachment(self):
        made = self.create(name="attached")
        self.wait_for_rmc(made)
        before = self.shown(made)
        # VIOSes have found the volume by then.
        self.killed_at(
            "POST /rest/api/uom/VirtualIOServer/* status=503", {"call": "attach-volume", "uuid": made["id"], "volume": self.volume()},
        )
        self.assertNotEqual(before, self.shown(made), "nobody has undone it")
        self.undone(made, before)

    def test_a_resize(self):
        made = self.create(name="resized")
        self._stop_server(made)
        before = self.shown(made)
        self.killed_at(
            "POST /rest/api/uom/LogicalPartition/* status=503",
            {"call": "resize", "uuid": made["id"], "shape": self.machine()["shape"], "growths": []},
        )
        self.undone(made, before)

    def test_a_snapshot(self):
        made = self.create(name="pictured")
        before, here = self.shown(made), self.servers["power-a"]
        devices = self.directory / "devices"
        devices.mkdir()
        places = {"directory": str(devices), "scans": [], "interval_seconds": 1}
        # The management partition is shown the disk, and nothing comes of it.
        process = self.begin({"call": "snapshot", "uuid": made["id"], "devices": places, "file": str(self.directory / "picture")})
        wait_for("the disk at the management partition", lambda: len(here.mappings()), lambda count: count == len(before[0]) + 1)
        process.kill()
        process.wait()
        self.undone(made, before)
        self.assertEqual(self.at_first["power-a"]["mappings"], here.mappings())

    def test_a_deletion(self):
        made = self.create(name="deleted", config_drive=True)
        self.killed_at(
            "DELETE /rest/api/uom/LogicalPartition/* status=503", {"call": "destroy", "uuid": made["id"], "with_disks": True},
        )
        self.assertIsNotNone(self.partition(made))
        # What was begun ends, as Nova ends it too: with an instance that is not there any more.
        self.compute.driver.init_host("power-a")
        self.assertIsNone(self.partition(made))
        self.delete(made)
        self.assert_nothing_left()

    def test_an_arrival_of_an_instance_that_runs(self):
        self.start_power("power-b")
        made = self.create(name="expected", host="power-a")
        before, there = self.shown(made), self.servers["power-b"]
        network = {"kind": "open-v-switch", "bridge": "br-int", "port": uuids.port, "mtu": None}
        nics = [{"mac": "fa:16:3e:00:00:01", "network": network}]
        self.killed_at(
            "PUT /rest/api/uom/LogicalPartition/*/ClientNetworkAdapter* status=503",
            {"call": "expect", "uuid": made["id"], "needs": {"volumes": [self.volume()], "nics": nics, "fibre": [], "key": None}},
            "power-b",
        )
        self.assertNotEqual(self.at_first["power-b"]["disks"], there.disks(), "VIOSes have found the volume")
        self.undone(made, before, "power-b")

    def test_an_arrival_of_an_instance_that_is_off(self):
        self.start_power("power-b")
        made = self.create(name="moved", host="power-a")
        self._stop_server(made)
        before, there = self.shown(made), self.servers["power-b"]
        machine = {**self.machine(), "uuid": made["id"], "name": self.partition(made).findtext("PartitionName")}
        machine["disks"] = [{**machine["disks"][0], "image": None}]
        self.killed_at(
            "PUT /rest/api/uom/LogicalPartition/*/do/PowerOn* status=503", {"call": "adopt", "machine": machine, "complete": True}, "power-b",
        )
        self.assertEqual(["LogicalUnit"] * 2, [kind for _, kind, _ in there.mappings(made["id"])])
        # Its disks are those of the instance that is still on the first host.
        self.undone(made, before, "power-b")

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
