"""What Nova is told when something fails: always by one of its own exceptions, which alone can cross from one service to the next."""

from nova import exception
from nova import objects
from nova import test

from landfall_powervm import errors
from nova_tests.base import PowerVMTest


class TranslationTest(test.NoDBTestCase):
    def raised(self, context, kind="invalid"):
        failure = {"class": kind, "trace": "none", "message": "no room at the inn"}
        try:
            with context:
                raise errors.CallFailed("spawn", **failure)
        except exception.NovaException as raised:
            return raised

    def test_each_kind_of_operation_has_its_own(self):
        for context, wanted in (
            (errors.build(), exception.InstanceDeployFailure),
            (errors.power_on(), exception.InstancePowerOnFailure),
            (errors.power_off(), exception.InstancePowerOffFailure),
            (errors.reboot(), exception.InstanceRebootFailure),
            (errors.termination(), exception.InstanceTerminationFailure),
            (errors.volume_attach("vol"), exception.VolumeAttachFailed),
            (errors.volume_detach("vol"), exception.VolumeDetachFailed),
            (errors.migration(), exception.MigrationError),
        ):
            raised = self.raised(context)
            self.assertIs(wanted, type(raised))
            self.assertIn("no room at the inn", str(raised))

    def test_nova_tries_another_host_if_there_is_no_room(self):
        self.assertIs(exception.ComputeResourcesUnavailable, type(self.raised(errors.build(), "capacity")))
        for kind in ("transient", "throttled", "locked", "auth", "not-found", "timeout", "bug"):
            self.assertIs(exception.InstanceDeployFailure, type(self.raised(errors.build(), kind)), kind)

    def test_others_are_left_as_they_are(self):
        with self.assertRaisesRegex(ValueError, "something else"), errors.power_on():
            raise ValueError("something else")


class DriverErrorTest(PowerVMTest):
    def test_a_server_that_refuses_everything(self):
        made, context = self.create(name="refused"), self.nova_context()
        driver, instance = self.compute.driver, self.instance(made, context)
        connection = {**self.connection(1), "serial": "a-volume"}
        network = instance.get_network_info()
        image = objects.ImageMeta.from_dict(self.glance.show(None, self.image_id))
        calls = [
            (exception.HypervisorUnavailable, driver.get_available_resource, "power-a"),
            (exception.HypervisorUnavailable, driver.list_instances),
            (exception.HypervisorUnavailable, driver.list_instance_uuids),
            (exception.HypervisorUnavailable, driver.get_info, instance),
            (exception.HypervisorUnavailable, driver.check_instance_shared_storage_local, context, instance),
            (exception.InstanceDeployFailure, driver.spawn, context, instance, image, [], None, {}, network),
            (exception.InstanceTerminationFailure, driver.destroy, context, instance, network),
            (exception.InstancePowerOnFailure, driver.power_on, context, instance, network),
            (exception.InstancePowerOffFailure, driver.power_off, instance),
            (exception.InstanceRebootFailure, driver.reboot, context, instance, network, "HARD"),
            (exception.VolumeAttachFailed, driver.attach_volume, context, connection, instance, "/dev/sdb"),
            (exception.VolumeDetachFailed, driver.detach_volume, context, connection, instance, "/dev/sdb"),
            (exception.InterfaceAttachFailed, driver.attach_interface, context, instance, image, network[0]),
            (exception.InterfaceDetachFailed, driver.detach_interface, context, instance, network[0]),
            (exception.InternalError, driver.snapshot, context, instance, self.image_id, lambda **_: None),
            (exception.MigrationPreCheckError, driver.check_can_live_migrate_source, context, instance, None),
            (exception.MigrationPreCheckError, driver.pre_live_migration, context, instance, None, network, None, None),
            (exception.MigrationError, driver.rollback_live_migration_at_destination, context, instance, network, None),
            (exception.MigrationError, driver.live_migration_abort, instance),
            (exception.ConsoleTypeUnavailable, driver.get_vnc_console, context, instance),
        ]
        self.stub_out("landfall_powervm.images.SCANS", str(self.directory / "no-bus-*"))
        with self.fault("* /rest/api/uom/* status=400 body=platform"):
            for wanted, call, *arguments in calls:
                raised = self.assertRaises(exception.NovaException, call, *arguments)
                self.assertIs(wanted, type(raised), f"{call.__name__}: {raised}")
        # As Nova does after a migration that could not be prepared; that has not succeeded so far.
        driver.rollback_live_migration_at_destination(context, instance, network, None)
        self.delete(made)
        self.assertRaises(exception.InstanceNotFound, driver.get_info, instance)
        self.assert_nothing_left()

    def test_a_server_that_has_no_room(self):
        with self.fault("PUT /rest/api/uom/ManagedSystem/*/LogicalPartition* no-capacity"):
            made = self.create(name="large", expected_state="ERROR")
        # It has looked for another one.
        self.assertIn("Exhausted all hosts", made["fault"]["message"])
        self.assert_nothing_left()
        self.delete(made)
