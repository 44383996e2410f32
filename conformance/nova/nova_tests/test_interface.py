"""Whether the driver has the methods that this Nova calls, as it calls them."""

import inspect

from nova import test
from nova.virt import driver

from landfall_powervm.driver import LandfallPowerVMDriver


class InterfaceTest(test.NoDBTestCase):
    def test_every_method_takes_what_nova_passes(self):
        checked = 0
        for name, base in inspect.getmembers(driver.ComputeDriver, inspect.isfunction):
            own = getattr(LandfallPowerVMDriver, name)
            if own is base or name == "__init__":
                continue
            checked += 1
            wanted, offered = inspect.signature(base).parameters, inspect.signature(own).parameters
            positions = [key for key in wanted if key in offered]
            # By position and by name alike. What an older Nova does not pass has a default.
            if name != "resume_state_on_host_boot":
                self.assertEqual(list(wanted), list(offered)[: len(wanted)], name)
            self.assertEqual(positions, [key for key in wanted], name)
            for key in list(offered)[len(wanted):]:
                self.assertIsNot(inspect.Parameter.empty, offered[key].default, f"{name}({key})")
            for key, parameter in wanted.items():
                if parameter.default is not inspect.Parameter.empty:
                    self.assertEqual(parameter.default, offered[key].default, f"{name}({key})")
        self.assertGreater(checked, 20)

    def test_every_method_that_instances_need_is_there(self):
        needed = {
            "init_host", "get_info", "list_instances", "list_instance_uuids", "get_available_nodes", "get_available_resource",
            "update_provider_tree", "spawn", "destroy", "cleanup", "power_on", "power_off", "reboot", "get_volume_connector",
            "attach_volume", "detach_volume", "attach_interface", "detach_interface", "get_vnc_console", "get_host_ip_addr",
            "snapshot", "migrate_disk_and_power_off", "finish_migration", "confirm_migration", "finish_revert_migration",
            "check_instance_shared_storage_local", "check_instance_shared_storage_remote", "check_can_live_migrate_destination",
            "check_can_live_migrate_source", "pre_live_migration", "live_migration", "live_migration_abort",
            "rollback_live_migration_at_destination", "post_live_migration_at_destination",
        }
        missing = [name for name in needed if getattr(LandfallPowerVMDriver, name) is getattr(driver.ComputeDriver, name)]
        self.assertEqual([], missing)

    def test_no_capability_is_unknown(self):
        self.assertEqual(set(driver.ComputeDriver.capabilities), set(LandfallPowerVMDriver.capabilities))
