"""The driver for PowerVM that Nova had until release 25, as it is, against the simulator.

What is not the driver's own is stood in for: the image service (bytes), the events of the network service, and the file of a
POWER kernel that says which partition one is in. The database is Nova's own, in memory.
"""

import contextlib
import copy
import hashlib
import os
import pathlib
import shutil
import socket
import tempfile
from unittest import mock

# Nova would otherwise replace sockets and threads by green ones, which the simulator's process has no part in.
os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "1"

from nova import context as nova_context
from nova import exception
from nova import objects
from nova import test
from nova.compute import power_state, provider_tree
from nova.network import model
from nova.tests import fixtures as nova_fixtures
from nova.virt import fake
from nova.virt.powervm import driver as pvm_driver
from nova.virt.powervm import vm
from oslo_utils.fixture import uuidsentinel as uuids
from pypowervm import const as pvm_const
from pypowervm.tasks import vterm as pvm_vterm
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import network as pvm_net
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios

from core import Core
from simulator import Simulator, show_simulators, wait_for

IMAGE = b"an image" * 1000
TARGETS = ["500507680B11AAAA", "500507680B22AAAA"]


RUNNING = {}


def setUpModule():
    """Starts the simulator. Nova is told where it is by the hook that IBM's library has for that."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="landfall-nova"))
    tools = directory / "tools"
    simulator = Simulator(directory, "--http", "--time-scale", "50", "--media", "keep", "--tools-dir", tools)
    RUNNING.update(simulator=simulator, directory=directory)
    # The driver calls rmvterm whenever it deletes a partition.
    os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
    port = int(simulator.ready["hosts"][0]["url"].rsplit(":", 1)[1])
    hook = directory / "session_config.py"
    hook.write_text(
        "def session_config(session):\n"
        f"    session.port = {port}\n"
        "    session.host = '127.0.0.1'\n"
        f"    session.dest = 'http://127.0.0.1:{port}'\n"
    )
    os.environ["PYPOWERVM_SESSION_CONFIG"] = str(hook)


def tearDownModule():
    # Listeners of the library outlive the consoles that they were made for.
    for listener in list(pvm_vterm._VNC_REMOTE_PORT_TO_LISTENER.values()):
        listener.stop()
    RUNNING["simulator"].stop()
    shutil.rmtree(RUNNING["directory"])


build_mapping = pvm_vios.VSCSIMapping.bld


def dial(console):
    try:
        return socket.create_connection((console.host, console.port), timeout=120)
    except ConnectionRefusedError:
        return None


def mapping_with_its_own_disk(adapter, host_uuid, client_lpar_uuid, stg_ref, **kwargs):
    """Builds a mapping with a copy of the disk's element.

    The driver gives one element of the boot disk to a thread for each VIOS, and an element has one parent: the mapping that is
    built later takes it from the one before, which is then made without a disk and never found again.
    """
    return build_mapping(adapter, host_uuid, client_lpar_uuid, copy.deepcopy(stg_ref), **kwargs)


class Virtapi(fake.FakeVirtAPI):
    @contextlib.contextmanager
    def wait_for_instance_event(self, instance, event_names, deadline=300, error_callback=None):
        yield


class DriverTest(test.TestCase):
    def setUp(self):
        super().setUp()
        self.addOnException(lambda _: show_simulators(self))
        self.context = nova_context.get_admin_context()
        self.useFixture(nova_fixtures.GlanceFixture(self))
        self.useFixture(nova_fixtures.NeutronFixture(self))
        patches = [
            mock.patch.object(pvm_vios.VSCSIMapping, "bld", mapping_with_its_own_disk),
            mock.patch("pypowervm.util.my_partition_id", return_value=1),
            mock.patch("nova.image.glance.API.download", side_effect=lambda *_args, **_kwargs: iter([IMAGE])),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.flags(mkisofs_cmd="genisoimage")

    def driver(self, disk_driver):
        self.flags(disk_driver=disk_driver, group="powervm")
        if disk_driver == "localdisk":
            self.flags(volume_group_name="datavg", group="powervm")
        driver = pvm_driver.PowerVMDriver(Virtapi())
        driver.init_host("power-a")
        # The library logs off when a session is collected, which may be after the simulator is gone.
        self.addCleanup(driver.adapter.session._logoff)
        return driver

    def instance(self, name, config_drive=True):
        flavor = objects.Flavor(
            id=1, flavorid="1", name="small", memory_mb=2048, vcpus=2, root_gb=10, ephemeral_gb=0, swap=0, rxtx_factor=1.0,
            extra_specs={"powervm:proc_units": "0.5"}, disabled=False, is_public=True, vcpu_weight=0,
        )
        # Every test has a database of its own, and would begin with the same name.
        self.flags(instance_name_template=f"{name}-%08x")
        instance = objects.Instance(
            context=self.context, user_id="user", project_id="project", display_name=name, hostname=name, host="power-a",
            flavor=flavor, memory_mb=2048, vcpus=2, root_gb=10, ephemeral_gb=0, image_ref=uuids.image,
            config_drive="True" if config_drive else "", system_metadata={}, metadata={}, node="power-a",
            key_data=None, user_data=None, vm_state="building", instance_type_id=1,
        )
        instance.create()
        # The driver reads these without a database in real life too.
        instance.info_cache = objects.InstanceInfoCache(context=self.context, instance_uuid=instance.uuid, network_info=model.NetworkInfo())
        return instance

    def image(self):
        return objects.ImageMeta.from_dict({
            "id": uuids.image, "name": "an image", "size": len(IMAGE), "checksum": hashlib.md5(IMAGE).hexdigest(),
            "container_format": "bare", "disk_format": "raw", "min_ram": 0, "min_disk": 0, "properties": {},
        })

    def vif(self, kind, mac, **details):
        subnet = model.Subnet(cidr="10.0.0.0/24", dns=[], gateway=model.IP(address="10.0.0.1", type="gateway"), ips=[model.FixedIP(address="10.0.0.5")], routes=[], version=4)
        network = model.Network(id=uuids.network, bridge="br-int", label="net", subnets=[subnet], mtu=1450)
        return model.VIF(id=getattr(uuids, "port" + mac[-1]), address=mac, network=network, type=kind, details=details,
                         vnic_type="normal", active=True, ovs_interfaceid=uuids.ovs, devname="tap" + mac[-1])

    def networks(self):
        return model.NetworkInfo([
            self.vif("pvm_sea", "fa:16:3e:00:00:01", vlan="100"),
            self.vif("ovs", "fa:16:3e:00:00:02"),
        ])

    def left_over(self, adapter):
        vioses = pvm_vios.VIOS.get(adapter, xag=[pvm_const.XAG.ALL])
        maps = [f"{vios.name}: {m.server_adapter.name} for partition {m.server_adapter.lpar_id}, {m.element.toxmlstring()}"
                for vios in vioses for m in list(vios.scsi_mappings) + list(vios.vfc_mappings)]
        media = [m.name for vios in vioses for group in pvm_stor.VG.get(adapter, parent=vios)
                 for repo in group.vmedia_repos for m in repo.optical_media]
        disks = [d.name for vios in vioses for group in pvm_stor.VG.get(adapter, parent=vios) for d in group.virtual_disks]
        tiers = pvm_stor.Tier.get(adapter)
        units = [lu.name for tier in tiers for lu in pvm_stor.LUEnt.get(adapter, parent=tier)
                 if lu.lu_type != pvm_stor.LUType.IMAGE]
        mgmt = pvm_lpar.LPAR.search(adapter, name="novalink", one_result=True)
        trunks = [cna.mac for cna in pvm_net.CNA.get(adapter, parent=mgmt)]
        lpars = [lpar.name for lpar in pvm_lpar.LPAR.get(adapter) if lpar.name not in ("novalink", "web1", "ibmi1")]
        return {"maps": maps, "media": media, "disks": disks, "units": units, "trunks": trunks, "lpars": lpars}

    def assert_clean(self, adapter):
        self.assertEqual({name: [] for name in ("maps", "media", "disks", "units", "trunks", "lpars")}, self.left_over(adapter))

    def test_a_life_on_the_shared_storage_pool(self):
        driver = self.driver("ssp")
        resources = driver.get_available_resource("power-a")
        self.assertEqual((40, 524288, 2000), (resources["vcpus"], resources["memory_mb"], resources["local_gb"]))
        tree = provider_tree.ProviderTree()
        tree.new_root("power-a", uuids.node)
        driver.update_provider_tree(tree, "power-a")
        self.assertEqual({"VCPU", "MEMORY_MB", "DISK_GB"}, set(tree.data("power-a").inventory))

        instance = self.instance("one")
        network = self.networks()
        with mock.patch.object(instance, "save"):
            driver.spawn(self.context, instance, self.image(), [], "secret", {}, network_info=network)
        self.assertEqual(power_state.RUNNING, driver.get_info(instance).state)
        self.assertIn(instance.name, driver.list_instances())
        lpar = pvm_lpar.LPAR.get(driver.adapter, uuid=vm.get_pvm_uuid(instance))
        self.assertEqual((2048, 2), (lpar.mem_config.desired, lpar.proc_config.shared_proc_cfg.desired_virtual))
        # One for each interface and one for the management switch.
        self.assertEqual(3, len(pvm_net.CNA.get(driver.adapter, parent=lpar)))
        kept = self.left_over(driver.adapter)
        self.assertEqual(1, len(kept["media"]))
        self.assertEqual(3, len(kept["maps"]), "the boot disk on two VIOSes, the config drive on one")

        self.wait_for_rmc(driver.adapter, lpar)
        self.attach_and_detach_a_volume(driver, instance, lpar)
        self.attach_and_detach_an_interface(driver, instance, lpar)
        driver.reboot(self.context, instance, network, "SOFT")
        self.assertEqual(power_state.RUNNING, driver.get_info(instance).state)
        driver.reboot(self.context, instance, network, "HARD")
        driver.power_off(instance)
        self.assertEqual(power_state.SHUTDOWN, driver.get_info(instance).state)
        driver.power_on(self.context, instance, network)
        self.assertEqual(power_state.RUNNING, driver.get_info(instance).state)

        driver.destroy(self.context, instance, network, {}, destroy_disks=True)
        self.assertRaises(exception.InstanceNotFound, driver.get_info, instance)
        self.assert_clean(driver.adapter)
        # What is gone can be destroyed again.
        driver.destroy(self.context, instance, network, {}, destroy_disks=True)

    def wait_for_rmc(self, adapter, lpar):
        wait_for("RMC", lambda: pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid).rmc_state, lambda state: state == "active")

    def connection(self, driver, instance):
        connector = driver.get_volume_connector(instance)
        self.assertEqual(4, len(connector["wwpns"]))
        return {
            "driver_volume_type": "fibre_channel", "serial": uuids.volume,
            "data": {"target_lun": 1, "volume_id": uuids.volume, "target_wwn": TARGETS,
                     "initiator_target_map": {wwpn: TARGETS for wwpn in connector["wwpns"]}},
        }

    def attach_and_detach_a_volume(self, driver, instance, lpar):
        connection = self.connection(driver, instance)
        with mock.patch("nova.objects.BlockDeviceMapping.get_by_volume_id"):
            driver.attach_volume(self.context, connection, instance, "/dev/sdb")
            self.assertIn("target_UDID", connection["data"])
            driver.detach_volume(self.context, connection, instance, "/dev/sdb")
        self.assertEqual(3, len(self.left_over(driver.adapter)["maps"]))

    def attach_and_detach_an_interface(self, driver, instance, lpar):
        vif = self.vif("pvm_sea", "fa:16:3e:00:00:03", vlan="101")
        driver.attach_interface(self.context, instance, self.image(), vif)
        self.assertEqual(4, len(pvm_net.CNA.get(driver.adapter, parent=lpar)))
        driver.detach_interface(self.context, instance, vif)
        self.assertEqual(3, len(pvm_net.CNA.get(driver.adapter, parent=lpar)))

    def test_a_life_on_a_local_disk(self):
        driver = self.driver("localdisk")
        instance = self.instance("two", config_drive=False)
        network = model.NetworkInfo([self.vif("pvm_sea", "fa:16:3e:00:00:04", vlan="100")])
        driver.spawn(self.context, instance, self.image(), [], "secret", {}, network_info=network)
        self.assertEqual(power_state.RUNNING, driver.get_info(instance).state)
        self.assertEqual(1, len(self.left_over(driver.adapter)["disks"]))
        driver.destroy(self.context, instance, network, {}, destroy_disks=True)
        self.assert_clean(driver.adapter)

    def test_landfall_removes_what_this_driver_has_made(self):
        host = RUNNING["simulator"].ready["hosts"][0]
        core = Core(host["url"], RUNNING["simulator"].user, RUNNING["simulator"].password)
        for disk_driver in ("ssp", "localdisk"):
            driver = self.driver(disk_driver)
            instance = self.instance(f"old-{disk_driver}")
            network = model.NetworkInfo([self.vif("pvm_sea", "fa:16:3e:00:00:05", vlan="100")])
            with mock.patch.object(instance, "save"):
                driver.spawn(self.context, instance, self.image(), [], "secret", {}, network_info=network)
            made = self.left_over(driver.adapter)
            self.assertEqual((1, 1), (len(made["media"]), len(made["disks"] + made["units"])))
            core.do("destroy", partition=vm.get_pvm_uuid(instance))
            self.assert_clean(driver.adapter)
            # The image went with the last disk that was made from it, and that of somebody else stays.
            tiers = pvm_stor.Tier.get(driver.adapter)
            self.assertEqual(["fcos"], [lu.name for tier in tiers for lu in pvm_stor.LUEnt.get(driver.adapter, parent=tier)])
        core.stop()

    def test_a_console(self):
        driver = self.driver("ssp")
        instance = self.instance("three", config_drive=False)
        network = model.NetworkInfo()
        driver.spawn(self.context, instance, self.image(), [], "secret", {}, network_info=network)
        console = driver.get_vnc_console(self.context, instance)
        self.assertEqual(vm.get_pvm_uuid(instance), console.internal_access_path)
        # The library's listener is a thread, which may not listen yet.
        with wait_for("the listener", lambda: dial(console), lambda client: client is not None) as client:
            client.sendall(f"CONNECT {console.internal_access_path} HTTP/1.1\r\n\r\n".encode())
            answer = client.makefile("rb")
            self.assertIn(b"200", answer.readline())
            self.assertEqual(b"\r\n", answer.readline())
            self.assertEqual(b"RFB 003.008\n", answer.readline())
        # With its console still open.
        driver.destroy(self.context, instance, network, {}, destroy_disks=True)
        self.assert_clean(driver.adapter)
