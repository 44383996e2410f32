"""The operations of Landfall's compute core, done by pypowervm's own tasks in the way of the drivers that were built on it.

They take what the core takes (a blueprint as JSON), so that the same thing is asked of both.
"""

import io
import pathlib
import random
import threading

from oslo_concurrency import lockutils
from pypowervm import const, util
from pypowervm.tasks import cluster_ssp, cna, hdisk, power, power_opts, scsi_mapper, sriov, storage, vfc_mapper, vopt
from pypowervm.tasks import partition as tsk_par
from pypowervm.utils import lpar_builder, transaction
from pypowervm.wrappers import cluster as pvm_clust
from pypowervm.wrappers import iocard as pvm_card
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import network as pvm_net
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios
from taskflow import task

XAG = const.XAG
SWITCH = "NovaLinkVEABridge"
# How much of a partition's start passes before its config drive is taken out, in minutes.
OPTICAL_MINUTES = 60


class Peer:
    """pypowervm, connected to a server. What a driver reads once when it starts is read here."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.system = pvm_ms.System.get(adapter)[0]
        self.cluster = pvm_clust.Cluster.get(adapter)[0]
        self.tier = storage.default_tier_for_ssp(pvm_stor.SSP.get_by_href(adapter, self.cluster.ssp_uri))

    # Partitions.

    def spawn(self, blueprint, iso=None):
        """Makes a partition with all that it has. `iso` is what is on its config drive: making that is not the library's business."""
        feed = tsk_par.build_active_vio_feed_task(self.adapter, xag={XAG.VIO_SMAP, XAG.VIO_FMAP})
        lpar = self._create(blueprint["partition"])
        storage.add_lpar_storage_scrub_tasks([lpar.id], feed, lpars_exist=True)
        for nic in blueprint.get("nics", []):
            self._plug(lpar, nic)
        for number, disk in enumerate(blueprint.get("disks", [])):
            self._add_disk(lpar, number, disk, blueprint["partition"]["name"], feed)
        for volume in blueprint.get("volumes", []):
            self._discover(lpar, volume, feed)
        for port in blueprint.get("fibre_ports", []):
            self._add_fibre_port(lpar, port, feed)
        medium = self._add_config_drive(lpar, iso, feed) if iso else None
        feed.execute()
        if blueprint["power_on"]:
            options = power_opts.PowerOnOpts()
            if medium:
                options = options.remove_optical(medium.name, OPTICAL_MINUTES)
            power.PowerOp.start(pvm_lpar.LPAR.get(self.adapter, uuid=lpar.uuid), opts=options)
        return lpar.uuid

    def _create(self, spec):
        shape, processors = spec["shape"], spec["shape"]["processors"]
        memory = shape["memory"]
        attributes = {
            "name": spec["name"], "uuid": spec["id"],
            "env": "OS400" if spec["system"] == "ibm-i" else "AIX/Linux",
            "memory": memory["desired_mib"], "min_mem": memory["minimum_mib"], "max_mem": memory["maximum_mib"],
        }
        if shape.get("compatibility_mode"):
            attributes["processor_compatibility"] = shape["compatibility_mode"]
        if shape.get("availability_priority") is not None:
            attributes["avail_priority"] = shape["availability_priority"]
        if shape.get("remote_restart") is not None:
            attributes["srr_capability"] = shape["remote_restart"]
        if processors["kind"] == "dedicated":
            count = processors["processors"]
            attributes.update(dedicated_proc="true", sharing_mode="keep idle procs")
        else:
            count, units = processors["virtual_processors"], processors["units"]
            attributes.update(
                dedicated_proc="false", proc_units=units["desired"], min_proc_units=units["minimum"],
                max_proc_units=units["maximum"], proc_pool=processors["pool"],
            )
            if processors["uncapped_weight"] is None:
                attributes["sharing_mode"] = "capped"
            else:
                attributes.update(sharing_mode="uncapped", uncapped_weight=processors["uncapped_weight"])
        attributes.update(vcpu=count["desired"], min_vcpu=count["minimum"], max_vcpu=count["maximum"])
        builder = lpar_builder.LPARBuilder(self.adapter, attributes, lpar_builder.DefaultStandardize(self.system))
        return builder.build().create(parent=self.system)

    def destroy(self, uuid):
        """Removes a partition as Nova's driver did, and NPIV ports and virtual NICs as its out-of-tree half did."""
        self.power_off(uuid)
        feed = tsk_par.build_active_vio_feed_task(self.adapter, xag={XAG.VIO_SMAP, XAG.VIO_FMAP})
        lpar = pvm_lpar.LPAR.get(self.adapter, uuid=uuid)
        for adapter in pvm_net.CNA.get(self.adapter, parent=lpar):
            for trunk in cna.find_trunks(self.adapter, adapter):
                trunk.delete()
            adapter.delete()
        for vnic in pvm_card.VNIC.get(self.adapter, parent=lpar):
            vnic.delete()
        found = [
            (vios, mapping.backing_storage)
            for vios in feed.feed
            for mapping in scsi_mapper.find_maps(vios.scsi_mappings, client_lpar_id=uuid)
            if mapping.backing_storage is not None
        ]
        feed.add_functor_subtask(lambda vios: scsi_mapper.remove_maps(vios, uuid))
        feed.add_functor_subtask(lambda vios: vfc_mapper.remove_maps(vios, lpar.id))
        feed.execute()
        self._delete_storage(found)
        self.adapter.delete(pvm_lpar.LPAR.schema_type, root_id=uuid)

    def _delete_storage(self, found):
        units = {element.udid: element for _, element in found if isinstance(element, pvm_stor.LU)}
        if units:
            storage.rm_tier_storage(list(units.values()), tier=self.tier)
        for vios, element in found:
            if isinstance(element, (pvm_stor.VDisk, pvm_stor.VOptMedia)):
                for group in pvm_stor.VG.get(self.adapter, parent=vios):
                    if isinstance(element, pvm_stor.VDisk) and any(d.udid == element.udid for d in group.virtual_disks):
                        storage.rm_vg_storage(group, vdisks=[element])
                    if isinstance(element, pvm_stor.VOptMedia) and group.vmedia_repos:
                        storage.rm_vg_storage(group, vopts=[element])
            elif isinstance(element, pvm_stor.PV):
                hdisk.remove_hdisk(self.adapter, self.system.system_name, element.name, vios.uuid)

    # Power.

    def power_on(self, uuid):
        power.PowerOp.start(pvm_lpar.LPAR.get(self.adapter, uuid=uuid))

    def power_off(self, uuid):
        lpar = pvm_lpar.LPAR.get(self.adapter, uuid=uuid)
        if lpar.state != "not activated":
            power.PowerOp.stop(lpar, opts=power_opts.PowerOffOpts().vsp_hard())

    # Networks.

    def _plug(self, lpar, nic):
        network, mac = nic["network"], nic["mac"]
        if network["kind"] == "bridged":
            cna.crt_cna(self.adapter, None, lpar.uuid, network["vlan"], vswitch=network["switch"], mac_addr=mac)
        elif network["kind"] == "open-v-switch":
            management = tsk_par.get_this_partition(self.adapter).uuid
            pairs = ":".join(mac.lower()[at:at + 2] for at in range(0, 12, 2))
            ids = f"iface-id={network['port']},iface-status=active,attached-mac={pairs},vm-uuid={lpar.uuid.lower()}"
            cna.crt_p2p_cna(
                self.adapter, None, lpar.uuid, [management], SWITCH, crt_vswitch=True, mac_addr=mac,
                dev_name=f"nic{network['port']}"[:14], ovs_bridge=network["bridge"], ovs_ext_ids=ids,
                configured_mtu=network["mtu"],
            )
        else:
            # The operating system gets no other VLANs and addresses than these, as drivers have it.
            vnic = pvm_card.VNIC.bld(
                self.adapter, pvid=network["vlan"], mac_addr=mac, allowed_vlans=util.VLANList.NONE, allowed_macs=util.MACList.NONE
            )
            ports = sriov.find_pports_for_portlabel(network["physical_network"], self.adapter)
            # The share of a port, which the library wants as a fraction.
            sriov.set_vnic_back_devs(
                vnic, [port.loc_code for port in ports], sys_w=pvm_ms.System.get(self.adapter)[0],
                redundancy=network["redundancy"], capacity=network["capacity_percent"] / 100,
            )
            vnic.create(parent=lpar)

    # Disks.

    def _vioses(self):
        """Those of the pool's cluster that are on this server."""
        own = [node for node in self.cluster.nodes if node.vios_uuid and node.vios_uri]
        mine = [n for n in own if util.get_req_path_uuid(n.vios_uri, preserve_case=True, root=True) == self.system.uuid]
        return [node.vios_uuid for node in mine]

    def _add_disk(self, lpar, number, disk, name, feed):
        file = pathlib.Path(disk["image"]["file"])
        size, sent = file.stat().st_size, lambda: io.BytesIO(file.read_bytes())
        if disk["place"]["kind"] == "pool":
            vioses = self._vioses()
            # One upload of an image at a time: the library's own race between hosts makes losers wait for half a minute.
            with lockutils.lock(f"image {disk['image']['name']}"):
                image = cluster_ssp.get_or_upload_image_lu(
                    self.tier, disk["image"]["name"], random.choice(vioses), sent, size,
                    upload_type=storage.UploadType.IO_STREAM_BUILDER,
                )
            unit = storage.crt_lu(self.tier, f"{disk['name']}_{name}", disk["gib"], typ=pvm_stor.LUType.DISK, clone=image)[1]
            backing, on = (lambda: pvm_stor.LU.bld_ref(self.adapter, unit.name, unit.udid)), vioses
        else:
            vios, group = storage.find_vg(self.adapter, disk["place"]["group"], vios_name=disk["place"]["vios"])
            made = storage.upload_new_vdisk(
                self.adapter, vios.uuid, group.uuid, sent(), f"d{number}_{name}"[:15], size,
                d_size=int(disk["gib"] * (1 << 30)), upload_type=storage.UploadType.IO_STREAM,
            )[0]
            backing, on = (lambda: made), [vios.uuid]
        for uuid in on:
            # An element for each: one that is in two mappings is lost in the first.
            feed.wrapper_tasks[uuid].add_functor_subtask(self._mapper(lpar.uuid, backing()))

    def _mapper(self, lpar_uuid, element):
        def add(vios):
            return scsi_mapper.add_map(vios, scsi_mapper.build_vscsi_mapping(None, vios, lpar_uuid, element))

        return add

    def _add_config_drive(self, lpar, iso, feed):
        vios_uuid, _ = vopt.validate_vopt_repo_exists(self.adapter)
        name = f"cfg_{lpar.uuid.replace('-', '').lower()}"
        medium, _ = storage.upload_vopt(self.adapter, vios_uuid, io.BytesIO(iso), name, len(iso))
        feed.wrapper_tasks[vios_uuid].add_functor_subtask(self._mapper(lpar.uuid, medium))
        return medium

    # Volumes.

    def attach_volume(self, uuid, volume):
        """Attaches a volume; its device id."""
        lpar = pvm_lpar.LPAR.get(self.adapter, uuid=uuid)
        assert lpar.can_modify_io()[0]
        feed = transaction.FeedTask("maps", pvm_vios.VIOS.getter(self.adapter, xag=[XAG.VIO_SMAP]))
        device = self._discover(lpar, volume, feed)
        feed.execute()
        return device

    def _discover(self, lpar, volume, feed):
        devices, turn = [], threading.Lock()

        def discover(vios):
            itls = hdisk.build_itls(vios.get_active_pfc_wwpns(), volume["targets"], volume["lun"])
            status, name, udid = hdisk.discover_hdisk(self.adapter, vios.uuid, itls)
            if hdisk.good_discovery(status, name):
                element = pvm_stor.PV.bld(self.adapter, name, tag=volume["id"])
                with turn:
                    devices.append(udid)
                    feed.wrapper_tasks[vios.uuid].add_functor_subtask(self._mapper(lpar.uuid, element))

        # The ports of a VIOS come with its storage, which is read apart so that the mappings can be read again cheaply.
        look = transaction.FeedTask("look", pvm_vios.VIOS.getter(self.adapter, xag=[XAG.VIO_STOR, XAG.VIO_SMAP]))
        look.add_functor_subtask(discover, flag_update=False)
        look.execute()
        assert devices, "no VIOS has found the volume"
        return devices[0]

    def detach_volume(self, uuid, volume):
        lpar = pvm_lpar.LPAR.get(self.adapter, uuid=uuid)
        assert lpar.can_modify_io()[0]
        feed = transaction.FeedTask("maps", pvm_vios.VIOS.getter(self.adapter, xag=[XAG.VIO_SMAP]))
        turn = threading.Lock()

        def find(vios):
            name = vios.hdisk_from_uuid(volume["device"])
            if name:
                match = scsi_mapper.gen_match_func(pvm_stor.PV, names=[name])
                with turn:
                    feed.wrapper_tasks[vios.uuid].add_functor_subtask(lambda own: scsi_mapper.remove_maps(own, lpar.id, match))
                    forget = lambda: hdisk.remove_hdisk(self.adapter, self.system.system_name, name, vios.uuid)
                    feed.add_post_execute(task.FunctorTask(forget, name=f"forget_{vios.name}_{name}"))

        look = transaction.FeedTask("look", pvm_vios.VIOS.getter(self.adapter, xag=[XAG.VIO_STOR, XAG.VIO_SMAP]))
        look.add_functor_subtask(find, flag_update=False)
        look.execute()
        feed.execute()

    # Fibre Channel ports.

    def assign_fibre_ports(self, ports, count):
        """Virtual ports on some of these physical ones, in the core's words."""
        pairs = vfc_mapper.build_wwpn_pair(self.adapter, self.system.uuid, pair_count=count)
        vioses = pvm_vios.VIOS.get(self.adapter, xag=[XAG.VIO_FMAP, XAG.VIO_STOR])
        found = []
        for physical, virtual in vfc_mapper.derive_npiv_map(vioses, ports, pairs):
            vios, port = vfc_mapper.find_vios_for_wwpn(vioses, physical)
            found.append({"vios": vios.uuid, "port": port.name, "wwpns": virtual.split()})
        return found

    def _add_fibre_port(self, lpar, port, feed):
        def add(vios):
            physical = next(own.wwpn for own in vios.pfc_ports if own.name == port["port"])
            return vfc_mapper.add_map(vios, None, lpar.uuid, (physical, " ".join(port["wwpns"])))

        feed.wrapper_tasks[port["vios"]].add_functor_subtask(add)
