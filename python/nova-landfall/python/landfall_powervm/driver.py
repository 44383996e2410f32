"""The compute driver. Its methods say what Nova wants in the words of the Rust half; what they need for that is in the modules beside."""

import contextlib
import ipaddress
import json
import os

import os_resource_classes as orc
from nova import conf
from nova import context as nova_context
from nova import exception
from nova.compute import task_states
from nova.virt import configdrive
from nova.virt import driver
from nova.virt import hardware
from oslo_concurrency import lockutils
from oslo_log import log as logging
from oslo_utils import excutils
from oslo_utils import importutils

from landfall_powervm import _core
from landfall_powervm import drive
from landfall_powervm import errors
from landfall_powervm import events
from landfall_powervm import fibre
from landfall_powervm import flavor
from landfall_powervm import host as server
from landfall_powervm import images
from landfall_powervm import interrupted
from landfall_powervm import migration as moves
from landfall_powervm import native
from landfall_powervm import networks
from landfall_powervm import options
from landfall_powervm import volumes

CONF = conf.CONF
LOG = logging.getLogger(__name__)

# The identity of a node, which Nova has since release 27.
local_node = importutils.try_import("nova.virt.node")

options.register(CONF)


class LandfallPowerVMDriver(driver.ComputeDriver):
    """Instances are partitions of one server, reached through its NovaLink."""

    capabilities = {
        **driver.ComputeDriver.capabilities,
        "supports_attach_interface": True,
        "supports_image_type_raw": True,
    }

    def __init__(self, virtapi):
        super().__init__(virtapi)
        # Nova may split into processes after this, and threads do not survive that: all else begins in init_host.
        self._calls = None
        self._node = None
        self._system = None
        self._key = None
        self._node_uuid = None
        self._place = None
        self._files = None
        self._watch = None

    # The server

    def init_host(self, host):
        """Connects to the server, undoes what an earlier process was in the middle of, and listens to what happens from then on."""
        self._stop_watching()
        self._node = host
        self._files = os.path.join(CONF.powervm.image_directory, host)
        try:
            images.sweep(self._files)
        except OSError as error:
            raise exception.InvalidConfiguration(f"[powervm] image_directory cannot be used: {error}") from error
        self._node_uuid = local_node.get_local_node_uuid() if local_node else None
        try:
            self._calls = native.Calls(_core.Connection(json.dumps(_settings(host))))
        except ValueError as error:
            raise exception.InvalidConfiguration(f"[powervm] cannot be used: {error}") from error
        with errors.translated(_startup_failure):
            system = self._calls("connect", patience_seconds=CONF.powervm.connect_timeout)
            LOG.info("Connected to %(name)s (%(machine)s) with VIOSes %(vioses)s", {**system, "vioses": ", ".join(system["vioses"])})
            self._system = system["name"]
            self._key = system["key"]
            if self._npiv and not fibre.fabrics(CONF.powervm):
                raise exception.InvalidConfiguration("[powervm] fc_attach_strategy is npiv, which needs fabric_port_wwpns")
            self._place = self._disk_place()
            self._recover()
        if CONF.workarounds.handle_virt_lifecycle_events:
            self._watch = self._calls.watch("watch-power", self._emit, settle_seconds=CONF.powervm.power_event_delay)

    def _recover(self):
        for undone in self._calls("recover"):
            if undone["error"] is not None:
                LOG.error("What was begun with instance %(uuid)s cannot be undone: %(error)s", undone)
            elif undone["target"] is not None:
                interrupted.finish(nova_context.get_admin_context(), undone["uuid"], self._node, self.virtapi.reportclient)
                self._calls("departed", uuid=undone["uuid"])
            else:
                LOG.info("What was begun with instance %s is undone", undone["uuid"])

    def _emit(self, news):
        """Nova's own power_on and power_off are among what it is told. It knows which, by the task that the instance has."""
        happened = events.lifecycle(news)
        if happened is not None:
            self.emit_event(happened)

    def _stop_watching(self):
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    def cleanup_host(self, host):
        self._stop_watching()
        if self._calls is not None:
            with contextlib.suppress(errors.CallFailed):
                self._calls("close")

    def _disk_place(self):
        if CONF.powervm.disk_driver.lower() == "ssp":
            if self._calls("resources", volume_group=None)["pool"] is None:
                raise exception.InvalidConfiguration("[powervm] disk_driver is ssp, but the server has no shared storage pool")
            return {"kind": "pool", "pool": CONF.powervm.pool_name, "tier": CONF.powervm.tier_name}
        group = CONF.powervm.volume_group_name
        if not group:
            raise exception.InvalidConfiguration("[powervm] disk_driver is localdisk, which needs volume_group_name")
        return {"kind": "volume-group", "vios": self._calls("find-volume-group", name=group), "group": group}

    @property
    def _on_pool(self):
        return self._place["kind"] == "pool"

    def _resources(self):
        return self._calls("resources", volume_group=None if self._on_pool else self._place["group"])

    def get_available_nodes(self, refresh=False):
        return [self._node]

    def get_nodenames_by_uuid(self, refresh=False):
        return {self._node_uuid: self._node}

    def get_available_resource(self, nodename):
        with errors.translated(_unavailable):
            self._stop_expecting()
            stats = moves.statistics(self._system, self._key, CONF.powervm, CONF.my_ip)
            available = server.available(self._resources(), self._node, stats)
        return {**available, "uuid": self._node_uuid} if self._node_uuid else available

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        with errors.translated(_unavailable):
            resources = self._resources()
        ratios = self._get_allocation_ratios(provider_tree.data(nodename).inventory)
        reserved = {
            orc.VCPU: CONF.reserved_host_cpus,
            orc.MEMORY_MB: CONF.reserved_host_memory_mb,
            orc.DISK_GB: self._get_reserved_host_disk_gb_from_config(),
        }
        inventory = server.inventory(resources, ratios, reserved)
        if self._on_pool and CONF.powervm.share_pool_inventory and orc.DISK_GB in inventory:
            server.share_pool(provider_tree, nodename, resources["pool"], inventory.pop(orc.DISK_GB))
        provider_tree.update_inventory(nodename, inventory)
        provider_tree.add_traits(nodename, *server.traits(resources))

    def get_host_ip_addr(self):
        return CONF.my_ip

    def get_num_instances(self):
        return len(self.list_instances())

    def list_instances(self):
        with errors.translated(_unavailable):
            return [partition["name"] for partition in self._calls("list")]

    def list_instance_uuids(self):
        with errors.translated(_unavailable):
            return [partition["uuid"] for partition in self._calls("list")]

    def get_info(self, instance, use_cache=True):
        with errors.translated(_unavailable):
            partition = self._calls("partition", uuid=instance.uuid)
        if partition is None:
            raise exception.InstanceNotFound(instance_id=instance.uuid)
        return hardware.InstanceInfo(state=server.nova_power_state(partition["state"]))

    # From the making of an instance to its end

    def spawn(self, context, instance, image_meta, injected_files, admin_password, allocations, network_info=None,
              block_device_info=None, power_on=True, accel_info=None):
        with errors.build():
            machine = self._machine(context, instance, image_meta, network_info, block_device_info)
            self._add_drive(instance, machine, network_info, injected_files, admin_password)
            with self._boot_disk(context, instance, image_meta, block_device_info, machine) as make:
                make(lambda: self._make("spawn", instance, machine, network_info, power_on))

    def _machine(self, context, instance, image_meta, network_info, block_device_info):
        """What the Rust half is told about an instance, without disks from images and without a config drive."""
        management = self._calls("management-nic", uuid=instance.uuid)
        return {
            "uuid": instance.uuid,
            "name": instance.name[:31],
            "shape": self._shape(instance.flavor),
            "system": "ibm-i" if image_meta.properties.get("os_distro") == "ibmi" else "aix-linux",
            "disks": images.blank_disks(block_device_info, self._place),
            "nics": networks.nics(network_info, management),
            "volumes": [] if self._npiv else [volumes.volume(connection) for connection in volumes.connections(block_device_info)],
            "fibre_ports": self._fibre_ports(instance) if self._npiv else [],
            "config_drive": None,
            "power_on": False,
        }

    def _add_drive(self, instance, machine, network_info, injected_files=None, admin_password=None):
        if configdrive.required_by(instance):
            shown = networks.for_drive(network_info, _management(machine))
            machine["config_drive"] = drive.image(instance, injected_files, admin_password, shown, self._files)

    def _shape(self, wanted):
        find_pool = lambda name: self._calls("processor-pool", name=name)  # noqa: E731
        return flavor.shape(wanted, CONF.powervm.proc_units_factor, find_pool)

    @contextlib.contextmanager
    def _boot_disk(self, context, instance, image_meta, block_device_info, machine):
        """Adds the disk that the instance boots from, unless that is a volume. Yields what carries out the making: a pool may have
        the image already, so that it is fetched only if it turns out that it is needed."""
        if volumes.boots_from_volume(block_device_info):
            yield lambda work: work()
            return
        images.check(image_meta)
        name = images.name(image_meta)

        def with_file(path):
            disk = images.boot_disk(instance.flavor.root_gb, self._place, {"name": name, "file": path})
            machine["disks"] = [disk] + [disk for disk in machine["disks"] if disk["name"] != images.BOOT]

        def make(work):
            if self._on_pool and self._calls("has-image", name=name):
                with_file("")
                try:
                    return work()
                except errors.CallFailed:
                    if self._calls("has-image", name=name):
                        raise
                    LOG.info("The pool has lost image %s meanwhile", name, instance=instance)
            with images.file(context, image_meta.id, self._files) as path:
                with_file(path)
                return work()

        yield make

    def _make(self, call, instance, machine, network_info, power_on):
        """Makes a partition, waits until Neutron has its ports, and switches it on."""
        try:
            with self._plugged(instance, network_info):
                self._calls(call, instance, machine=machine, complete=False)
        except errors.CallFailed:
            # It is undone.
            raise
        except BaseException:
            with excutils.save_and_reraise_exception():
                self._calls("destroy", instance, uuid=instance.uuid, with_disks=call == "spawn")
        self._calls(call, instance, machine={**machine, "power_on": power_on}, complete=True)

    @contextlib.contextmanager
    def _plugged(self, instance, network_info):
        events = networks.plug_events(network_info) if CONF.vif_plugging_timeout else []
        with networks.awaited(self.virtapi, instance, events):
            yield

    def destroy(self, context, instance, network_info, block_device_info=None, destroy_disks=True, destroy_secrets=True):
        if instance.task_state == task_states.RESIZE_REVERTING and moves.stays(moves.current(context, instance)):
            # Nova removes the new one and brings back the old one; here they are the same partition.
            self.power_off(instance)
            self._detach_all(instance, block_device_info)
            return
        with errors.termination():
            try:
                self._calls("destroy", instance, uuid=instance.uuid, with_disks=destroy_disks)
            except errors.CallFailed as failure:
                if not (destroy_disks and self._on_pool and moves.is_torn(context, instance)):
                    raise
                # Its disks cannot go while another host shows them to what it has of the instance. That host finds it among those that
                # Nova has deleted, as it does periodically, and removes it with them.
                LOG.warning("Its disks are left to the host that it did not move from: %s", failure, instance=instance)
                self._calls("destroy", instance, uuid=instance.uuid, with_disks=False)

    def cleanup(self, context, instance, network_info, block_device_info=None, destroy_disks=True, migrate_data=None,
                destroy_vifs=True, destroy_secrets=True):
        if migrate_data is not None:
            # It has moved, and nothing of it is here.
            return
        self.destroy(context, instance, network_info, block_device_info, destroy_disks, destroy_secrets)

    # Power

    def power_on(self, context, instance, network_info, block_device_info=None, accel_info=None, share_info=None):
        with errors.power_on():
            self._calls("power", instance, uuid=instance.uuid, wish="on")

    def power_off(self, instance, timeout=0, retry_interval=0):
        with errors.power_off(), _nothing_there("switched off", instance):
            self._calls("power", instance, uuid=instance.uuid, wish="shut-down" if timeout else "off")

    def reboot(self, context, instance, network_info, reboot_type, block_device_info=None, bad_volumes_callback=None,
               accel_info=None, share_info=None):
        with errors.reboot():
            self._calls("power", instance, uuid=instance.uuid, wish="reset" if reboot_type == "HARD" else "reboot")

    def resume_state_on_host_boot(self, context, instance, network_info, share_info=None, block_device_info=None):
        # Until 2024.2 there were no shares, and the volumes were third. Neither matters: a partition keeps what it has.
        self.power_on(context, instance, network_info)

    # Volumes

    @property
    def _npiv(self):
        return CONF.powervm.fc_attach_strategy.lower() == "npiv"

    def _fibre_ports(self, instance):
        """The virtual ports of an instance, chosen when they are first asked for. Those of an instance that has come from another host
        are chosen again, and keep their names."""
        known = fibre.noted(instance)
        own = self._calls("vioses")
        if known and all(port["vios"] in own for port in known):
            return known
        fabrics = fibre.fabrics(CONF.powervm)
        chosen = self._calls("assign-fibre-ports", instance, fabrics=fabrics, wanted=CONF.powervm.ports_per_fabric)
        ports = fibre.moved(known, chosen) if known else chosen
        fibre.note(instance, ports)
        return ports

    def _fibre_names(self, instance):
        """The names by which an instance is known to the storage server on this host."""
        known = fibre.noted(instance)
        if known and instance.task_state == task_states.MIGRATING and instance.host != self._node:
            return fibre.next_names(known)
        return fibre.names(self._fibre_ports(instance))

    def get_volume_connector(self, instance):
        with errors.translated(_unavailable):
            if self._npiv:
                return volumes.connector(self._fibre_names(instance), f"{self._node}_{instance.name}")
            return volumes.connector(self._calls("ports"), self._node)

    def attach_volume(self, context, connection_info, instance, mountpoint, disk_bus=None, device_type=None, encryption=None):
        volume = volumes.volume(connection_info)
        if self._npiv:
            # Its ports were there when it was made, and the storage server shows it the volume.
            return
        with errors.volume_attach(volume["id"]):
            connection_info["data"][volumes.DEVICE] = self._calls("attach-volume", instance, uuid=instance.uuid, volume=volume)

    def detach_volume(self, context, connection_info, instance, mountpoint, encryption=None):
        volume = volumes.volume(connection_info)
        if self._npiv:
            return
        with errors.volume_detach(volume["id"]), _nothing_there("detached from", instance):
            self._calls("detach-volume", instance, uuid=instance.uuid, volume=volume)

    # Network adapters

    def attach_interface(self, context, instance, image_meta, vif):
        failed = lambda reason: exception.InterfaceAttachFailed(instance_uuid=instance.uuid)  # noqa: E731
        with errors.translated(failed, log="attaching an interface"):
            self._calls("attach-nic", instance, uuid=instance.uuid, nic=networks.nic(vif))

    def detach_interface(self, context, instance, vif):
        failed = lambda reason: exception.InterfaceDetachFailed(instance_uuid=instance.uuid)  # noqa: E731
        with errors.translated(failed, log="detaching an interface"):
            self._calls("detach-nic", instance, uuid=instance.uuid, mac=vif["address"])

    # Copies

    def snapshot(self, context, instance, image_id, update_task_state):
        if not self._on_pool:
            raise exception.NotSupportedWithOption(operation="snapshot", option="[powervm] disk_driver = localdisk")
        update_task_state(task_state=task_states.IMAGE_PENDING_UPLOAD)
        with images.room(self._files, "snapshot") as path:
            with errors.translated(lambda reason: exception.InternalError(err=reason)):
                self._calls("snapshot", instance, uuid=instance.uuid, devices=images.devices(), file=path)
            update_task_state(task_state=task_states.IMAGE_UPLOADING, expected_state=task_states.IMAGE_PENDING_UPLOAD)
            images.upload(context, instance, image_id, path)

    # Other shapes, other hosts

    def migrate_disk_and_power_off(self, context, instance, dest, flavor, network_info, block_device_info=None, timeout=0,
                                   retry_interval=0):
        moves.check(instance, flavor, block_device_info, self._on_pool, moves.current(context, instance))
        self.power_off(instance, timeout, retry_interval)
        # Cinder ends these connections now, and makes others.
        self._detach_all(instance, block_device_info)
        return json.dumps({"root_gb": instance.flavor.root_gb})

    def finish_migration(self, context, migration, instance, disk_info, network_info, image_meta, resize_instance, allocations,
                         block_device_info=None, power_on=True, share_info=None):
        with errors.translated(_resize_failure):
            if moves.stays(migration):
                self._reshape(instance, None if volumes.boots_from_volume(block_device_info) else disk_info)
                self._attach_all(instance, block_device_info)
                if power_on:
                    self._calls("power", instance, uuid=instance.uuid, wish="on")
                return
            machine = self._machine(context, instance, image_meta, network_info, block_device_info)
            if not volumes.boots_from_volume(block_device_info):
                machine["disks"].insert(0, images.boot_disk(instance.flavor.root_gb, self._place, None))
            self._add_drive(instance, machine, network_info)
            self._make("adopt", instance, machine, network_info, power_on)

    def confirm_migration(self, context, migration, instance, network_info):
        if not moves.stays(migration):
            with errors.termination():
                self._calls("destroy", instance, uuid=instance.uuid, with_disks=False)

    def finish_revert_migration(self, context, instance, network_info, migration, block_device_info=None, power_on=True,
                                share_info=None):
        with errors.translated(_resize_failure):
            if moves.stays(migration):
                self._reshape(instance)
            self._attach_all(instance, block_device_info)
            if power_on:
                self._calls("power", instance, uuid=instance.uuid, wish="on")

    def check_can_live_migrate_destination(self, context, instance, src_compute_info, dst_compute_info, block_migration=False,
                                           disk_over_commit=False):
        if self._npiv != bool(fibre.noted(instance)):
            raise exception.MigrationPreCheckError(
                reason=f"it {'has no' if self._npiv else 'has'} virtual Fibre Channel ports; fc_attach_strategy must be the same on both hosts",
            )
        if self._npiv and self._coming_ports(instance) is None:
            raise exception.MigrationPreCheckError(
                reason="its virtual Fibre Channel ports are not on the fabrics of fabric_port_wwpns; name the same fabrics on both hosts",
            )
        if block_migration or not self._on_pool and not moves.only_volumes(context, instance):
            raise exception.MigrationPreCheckError(reason="only instances in a shared storage pool and on volumes can move while they run")
        return moves.data()

    def check_can_live_migrate_source(self, context, instance, dest_check_data, block_device_info=None):
        with errors.translated(_precheck_failure):
            self._calls("check-departure", instance, uuid=instance.uuid)
        return dest_check_data

    def cleanup_live_migration_destination_check(self, context, dest_check_data):
        pass

    def _coming_ports(self, instance):
        return fibre.coming(fibre.noted(instance), fibre.fabrics(CONF.powervm))

    def pre_live_migration(self, context, instance, block_device_info, network_info, disk_info, migrate_data):
        found = [volumes.volume(connection) for connection in volumes.connections(block_device_info)]
        needs = {
            # With ports of its own an instance sees volumes itself.
            "volumes": [] if self._npiv else found,
            "nics": networks.nics(network_info, None),
            "fibre": self._coming_ports(instance) if self._npiv else [],
            "key": moves.source_key(context, instance),
        }
        with errors.translated(_precheck_failure):
            prepared = self._calls("expect", instance, uuid=instance.uuid, needs=needs)
        moves.note(context, instance, prepared)
        return migrate_data

    def live_migration(self, context, instance, dest, post_method, recover_method, block_migration=False, migrate_data=None):
        try:
            self._calls("depart", instance, uuid=instance.uuid, destination=moves.destination(context, dest, instance))
        except Exception:
            # It runs on where it is. Nova takes an exception for a sign that it does not.
            LOG.exception("The live migration failed", instance=instance)
            recover_method(context, instance, dest, migrate_data)
            return
        post_method(context, instance, dest, block_migration, migrate_data)
        self._calls("departed", instance, uuid=instance.uuid)

    def live_migration_abort(self, instance):
        with errors.migration():
            self._calls("abort-migration", instance, uuid=instance.uuid)

    def rollback_live_migration_at_destination(self, context, instance, network_info, block_device_info, destroy_disks=True,
                                               migrate_data=None):
        with errors.migration():
            self._give_up(instance.uuid)
        moves.forget(context, instance)

    def _give_up(self, uuid):
        with lockutils.lock(f"landfall-arrival-{uuid}"):
            self._calls("give-up", uuid=uuid)

    def _stop_expecting(self):
        """Removes what was prepared for instances that will not come, because the compute that they were to come from has died. Nobody
        else tells, so this is looked for periodically."""
        for uuid in self._calls("expected"):
            if interrupted.is_expected(nova_context.get_admin_context(), uuid):
                continue
            LOG.warning("Instance %s is not on its way any more; what was prepared for it goes, unless it has come", uuid)
            try:
                self._give_up(uuid)
            except errors.CallFailed as failure:
                LOG.warning("It is tried again later: %s", failure)

    def rollback_live_migration_at_source(self, context, instance, migrate_data):
        """It runs on, with all that it had."""

    def post_live_migration(self, context, instance, block_device_info, migrate_data=None):
        """The partition took with it all that it had here."""

    def post_live_migration_at_source(self, context, instance, network_info):
        """The other ends of its adapters are gone as well."""

    def post_live_migration_at_destination(self, context, instance, network_info, block_migration=False, block_device_info=None):
        self._calls("arrived", instance, uuid=instance.uuid)
        moves.arrive(context, instance)

    def _reshape(self, instance, disk_info=None):
        growths = []
        if disk_info and instance.flavor.root_gb > json.loads(disk_info)["root_gb"]:
            growths = [images.growth(instance, self._place)]
        self._calls("resize", instance, uuid=instance.uuid, shape=self._shape(instance.flavor), growths=growths)

    def _detach_all(self, instance, block_device_info):
        for connection in volumes.connections(block_device_info):
            self.detach_volume(None, connection, instance, None)

    def _attach_all(self, instance, block_device_info):
        for connection in volumes.connections(block_device_info):
            self.attach_volume(None, connection, instance, None)

    def check_instance_shared_storage_local(self, context, instance):
        """What another host is asked: whether it sees the same pool."""
        return {"pool": self._pool()} if self._on_pool else None

    def check_instance_shared_storage_remote(self, context, data):
        return self._on_pool and data["pool"] == self._pool()

    def _pool(self):
        with errors.translated(_unavailable):
            return self._calls("resources", volume_group=None)["pool"]

    def check_instance_shared_storage_cleanup(self, context, data):
        pass

    def instance_on_disk(self, instance):
        return False

    # Consoles

    def get_vnc_console(self, context, instance):
        with errors.translated(lambda reason: exception.ConsoleTypeUnavailable(console_type="vnc"), log="opening a console"):
            console = self._calls(
                "open-console", instance, uuid=instance.uuid, commands=CONF.powervm.vterm_directory,
                listen=networks.socket_address(CONF.vnc.server_listen, CONF.powervm.vnc_port), alone=CONF.powervm.vnc_port_per_instance,
            )
        from nova.console import type as ctype

        return ctype.ConsoleVNC(
            host=CONF.vnc.server_proxyclient_address, port=console["port"], internal_access_path=console["path"],
        )


@contextlib.contextmanager
def _nothing_there(done, instance):
    """While something is done that is as good as done if there is no partition: that of an instance that is rebuilt once more may not be."""
    try:
        yield
    except errors.CallFailed as failure:
        if failure.kind != "not-found":
            raise
        LOG.info("There is no partition that could be %s", done, instance=instance)


def _management(machine):
    """The adapter that connects the operating system to the management partition, if there is one: it has no port of Neutron's."""
    return next((nic for nic in machine["nics"] if nic["network"].get("switch") == networks.MANAGEMENT_SWITCH), None)


def _settings(host):
    """How the Rust half reaches the server."""
    section = CONF.powervm
    bundle = None
    if section.novalink_ca_file:
        with open(section.novalink_ca_file, encoding="ascii") as file:
            bundle = file.read()
    return {
        "url": section.novalink_url,
        "user": section.novalink_user,
        "password": section.novalink_password,
        "ca_bundle": bundle,
        "insecure": section.novalink_insecure,
        "system": section.managed_system,
        "journals": os.path.join(section.journal_directory, host),
        "job_timeout_seconds": section.job_timeout,
        "job_interval_seconds": section.job_poll_interval,
        "console_encryption": _console_encryption(section),
        "console_proxies": _console_proxies(section),
    }


def _console_encryption(section):
    """What viewers of consoles are shown, and who signs what they have to show."""
    if not section.vnc_use_x509_auth:
        return None
    files = {name: getattr(section, f"vnc_{name}") for name in ("ca_certs", "server_cert", "server_key")}
    missing = [f"vnc_{name}" for name, path in files.items() if not path]
    if missing:
        raise exception.InvalidConfiguration(f"[powervm] vnc_use_x509_auth needs {' and '.join(missing)}")
    return files


def _console_proxies(section):
    """Addresses of the proxies that reach consoles."""
    try:
        return [str(ipaddress.ip_address(proxy)) for proxy in section.vnc_proxies]
    except ValueError as error:
        raise exception.InvalidConfiguration(f"[powervm] vnc_proxies: {error}") from error


def _precheck_failure(reason):
    return exception.MigrationPreCheckError(reason=reason)


def _resize_failure(reason):
    return exception.ResizeError(reason=reason)


def _startup_failure(reason):
    return exception.HypervisorUnavailable(f"The PowerVM server cannot be used; see [powervm] in nova.conf: {reason}")


def _unavailable(reason):
    return exception.HypervisorUnavailable(f"The PowerVM server does not answer: {reason}")
