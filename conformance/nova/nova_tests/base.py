"""Real Nova in this process (API, scheduler, conductor, computes, Placement), with the driver, over a simulated server.

Nova's own functional fixtures stand in for Neutron, Cinder, Glance and Keystone. Nothing of the driver is replaced.
"""

import contextlib
import glob
import hashlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

from nova import conf
from nova import context as nova_context
from nova import objects
from nova.tests.functional import integrated_helpers
from oslo_utils import importutils
from oslo_utils.fixture import uuidsentinel as uuids

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
import tier  # noqa: E402
from simulator import Simulator, forget_ended, show_simulators, wait_for  # noqa: E402

from nova_tests import cells  # noqa: E402
from nova_tests import server  # noqa: E402

CONF = conf.CONF
DRIVER = "landfall_powervm.LandfallPowerVMDriver"
# Registers [powervm], which tests set before any compute is there.
importutils.import_module("landfall_powervm.driver")

# A compute that ends takes the pools of threads of its process with it, for good, and some time after its test has ended. Here others
# live in that process.
pools = importutils.try_import("nova.thread_pool_factory")
if pools is not None:
    pools.shutdown_all_executors = lambda: None
cells.without_a_lock()

IMAGE = b"an image " * 1000
TARGETS = ["500507680B11AAAA", "500507680B22AAAA"]
# Of half a second each: only a test that fails waits so long.
RETRIES = 240
USER_DATA = "#!/bin/sh\necho hello\n"


def gate_in(release):
    """Marks tests that the gate runs in one release of Nova only. The tier `full` runs them in all."""
    return unittest.skipUnless(tier.FULL or os.environ["NOVA_RELEASE"] == release, tier.REASON)


class PowerVMTest(integrated_helpers._IntegratedTestBase):
    """Two servers, power-a and power-b, and a compute on the first."""

    ADMIN_API = True
    microversion = "latest"
    api_major_version = "v2.1"
    disk_driver = "ssp"
    vif_type = "pvm_sea"

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="landfall-nova"))
        self.tools = self.directory / "tools"
        self.media = self.directory / "media"
        forget_ended()
        self.keep = False
        self.addOnException(self.show)
        self.simulator = Simulator(
            self.directory, "--http", "--time-scale", "100", "--media", "keep", "--tools-dir", self.tools, "--media-dir", self.media,
            *self.simulator_options(),
        )
        try:
            super().setUp()
        except BaseException:
            self.simulator.kill()
            raise

    def show(self, _):
        """Shows what the simulator did when something fails, and keeps its files."""
        self.keep = True
        show_simulators(self)

    def simulator_options(self):
        return ()

    def _setup_services(self):
        # Fixtures look for it in a source tree.
        self.flags(api_paste_config=os.path.join(sys.prefix, "etc", "nova", "api-paste.ini"), group="wsgi")
        self.flags(compute_driver=DRIVER)
        self.flags(
            disk_driver=self.disk_driver, volume_group_name="datavg", novalink_user=self.simulator.user,
            novalink_password=self.simulator.password, job_poll_interval=0.02, connect_timeout=20,
            journal_directory=str(self.directory / "journals"), image_directory=str(self.directory / "images"),
            vterm_directory=str(self.tools), vnc_port=0, group="powervm",
        )
        self.flags(mkisofs_cmd="genisoimage", force_config_drive=False)
        self.servers = {host["name"]: server.Server(host["url"], self.simulator) for host in self.simulator.ready["hosts"]}
        self.at_first = {name: found.everything() for name, found in self.servers.items()}
        super()._setup_services()

    def _setup_compute_service(self):
        self.glance.create(None, self.raw_image(), data=io.BytesIO(IMAGE))
        self.bind_ports()
        self.cinder.VOLUME_CONNECTION_INFO = {"fake": self.connection(1)}
        return self.start_power("power-a")

    def connection(self, lun):
        """How Cinder would connect a volume over Fibre Channel."""
        return {"driver_volume_type": "fibre_channel", "data": {"target_lun": lun, "target_wwn": TARGETS, "initiator_target_map": {}}}

    def raw_image(self):
        """An image that PowerVM can boot."""
        image = dict(self.glance.image1)
        image.update(id="70a599e0-31e7-49b7-b260-868f441e862c", name="aix 7.3", disk_format="raw", container_format="bare",
                     checksum=hashlib.md5(IMAGE).hexdigest(), size=len(IMAGE), min_ram=0, min_disk=0, properties={"architecture": "ppc64le"})
        self.image_id = image["id"]
        return image

    def bind_ports(self):
        """Lets Neutron bind ports as a mechanism driver for PowerVM would."""
        binding = {
            "pvm_sea": {"binding:vif_type": "pvm_sea", "binding:vif_details": {"vlan": "100"}},
            "ovs": {"binding:vif_type": "ovs", "binding:vif_details": {}},
            "pvm_sriov": {"binding:vif_type": "pvm_sriov", "binding:vif_details": {"physical_network": "physnet1", "vlan": "100"}},
        }[self.vif_type]
        self.neutron.default_port = {**self.neutron.default_port, **binding}
        for port in self.neutron._ports.values():
            port.update(binding)

    def start_power(self, name):
        """A compute on a server."""
        self.flags(novalink_url=self.servers[name].url, group="powervm")
        with self.identity(name):
            return self._start_compute(name)

    def restart_power(self, name):
        """The compute is started again: what it knows is what it finds."""
        self.flags(novalink_url=self.servers[name].url, group="powervm")
        with self.identity(name):
            self.computes[name] = self.restart_compute_service(self.computes[name], keep_hypervisor_state=False)

    def identity(self, name):
        """Since release 27 a host has a file with the identity of its node. Here one host is two."""
        if importutils.try_import("nova.virt.node") is None:
            return contextlib.nullcontext()
        return mock.patch("nova.virt.node.get_local_node_uuid", return_value=getattr(uuids, name))

    def tearDown(self):
        super().tearDown()
        self.simulator.stop()
        if not self.keep:
            shutil.rmtree(self.directory)

    def _wait_for_server_parameter(self, server, expected_params, max_retries=0, *arguments, **options):
        # Nova's own tests have no server to wait for, and give up after five seconds.
        return super()._wait_for_server_parameter(server, expected_params, max(max_retries, RETRIES), *arguments, **options)

    # What tests do

    def create(self, expected_state="ACTIVE", **options):
        options.setdefault("image_uuid", self.image_id)
        options.setdefault("networks", "auto")
        build = self._build_server(**{key: options.pop(key) for key in ("image_uuid", "networks", "flavor_id", "host") if key in options})
        build.update(options)
        made = self.api.post_server({"server": build})
        return self._wait_for_state_change(made, expected_state) if expected_state else made

    def delete(self, made):
        self._delete_server(made)

    def wait_for_rmc(self, made, host="power-a"):
        """Until the operating system is connected, without which a partition that runs cannot be changed."""
        state = lambda: self.partition(made, host).findtext("ResourceMonitoringControlState")  # noqa: E731
        wait_for("RMC", state, lambda state: state == "active")

    def nova_context(self):
        return nova_context.get_admin_context()

    def instance(self, made, context):
        """What the compute has of a server."""
        with nova_context.target_cell(context, self.cell_mappings["cell1"]) as cell:
            return objects.Instance.get_by_uuid(cell, made["id"], expected_attrs=["flavor", "info_cache", "metadata", "system_metadata"])

    def partition(self, made, host="power-a"):
        return self.servers[host].partition(made["id"])

    def assert_nothing_left(self):
        for name, found in self.servers.items():
            self.assertEqual(self.at_first[name], found.everything(), name)
        self.assertEqual([], glob.glob(str(self.directory / "journals" / "*" / "*")))
        self.assertEqual([], glob.glob(str(self.directory / "images" / "*" / "*")))

    def wait_until_refused(self, after=0):
        """Until a rule has met a request, among those after the first ones."""
        refused = lambda: [one for one in self.simulator.requests(after) if one.get("fault")]  # noqa: E731
        wait_for("a request that a rule is for", refused, bool)

    @contextlib.contextmanager
    def fault(self, rule):
        self.simulator.add_fault(rule)
        try:
            yield
        finally:
            self.simulator.clear_faults()
