"""Does operations by the driver that Nova had until release 25: one line of JSON in, one out. `bench/compute-powervm` starts it.

What is not the driver's own is stood in for as in `conformance/powervm/nova_driver`, whose test case this is.
"""

import concurrent.futures
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import test_driver
from nova import objects
from nova.network import model
from powervm_tasks import serve


class Driver:
    """The driver, connected to a server."""

    def __init__(self, case, server):
        self.case, self.known, self.connections = case, {}, {}
        port = int(server["url"].rsplit(":", 1)[1])
        hook = pathlib.Path(tempfile.mkdtemp(prefix="landfall-nova")) / "session_config.py"
        lines = [f"session.port = {port}", "session.host = '127.0.0.1'", f"session.dest = 'http://127.0.0.1:{port}'"]
        hook.write_text("def session_config(session):\n" + "".join(f"    {line}\n" for line in lines))
        os.environ["PYPOWERVM_SESSION_CONFIG"] = str(hook)
        self.driver = case.driver("ssp")

    def do(self, line):
        return self.prepared(line)()

    def prepared(self, line):
        """The operation, to be called. What Nova has in its database before it asks its driver is made now."""
        case, driver, name = self.case, self.driver, line.pop("do")
        if name == "together":
            todo = [self.prepared(one) for one in line["operations"]]

            def together():
                with concurrent.futures.ThreadPoolExecutor(len(todo)) as pool:
                    return [future.result() for future in [pool.submit(one) for one in todo]]

            return together
        if name == "spawn":
            wanted = line["blueprint"]
            mac = wanted["nics"][0]["mac"].lower()
            address = ":".join(mac[at:at + 2] for at in range(0, 12, 2))
            network = model.NetworkInfo([case.vif("pvm_sea", address, vlan="100")])
            instance = case.instance("nova")
            # Read when they are first asked for, which threads must not do.
            instance.obj_load_attr("keypairs")
            self.known[wanted["partition"]["id"]] = instance, network

            def spawn():
                with mock.patch.object(instance, "save"):
                    driver.spawn(case.context, instance, case.image(), [], "secret", {}, network_info=network)
                return {"name": instance.name}

            return spawn
        instance, network = self.known[line["partition"]]
        if name == "destroy":
            return lambda: driver.destroy(case.context, instance, network, {}, destroy_disks=True)
        volume = line["volume"]
        if name == "attach-volume":
            connection = case.connection(driver, instance)
            connection["data"]["target_lun"] = volume["lun"]
            self.connections[volume["id"]] = connection
            return lambda: driver.attach_volume(case.context, connection, instance, "/dev/sdb")
        return lambda: driver.detach_volume(case.context, self.connections[volume["id"]], instance, "/dev/sdb")


class Driven(test_driver.DriverTest):
    """Nova's own test case makes the database and all else that the driver expects around it."""

    def test_what_it_is_told(self):
        # Many threads share the one connection to the test case's database, which it does not bear.
        nothing = mock.patch("nova.objects.BlockDeviceMappingList.get_by_instance_uuid", return_value=objects.BlockDeviceMappingList())
        with mock.patch("nova.objects.BlockDeviceMapping.get_by_volume_id"), nothing:
            serve(lambda server: Driver(self, server))


if __name__ == "__main__":
    suite = unittest.TestSuite([Driven("test_what_it_is_told")])
    succeeded = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite).wasSuccessful()
    # Not by returning: pypowervm's thread that looks for idle consoles sleeps for another five minutes.
    os._exit(0 if succeeded else 1)
