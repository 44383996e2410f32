"""Disks of a VIOS: virtual disks, media, mappings, discovery, NPIV."""

import hashlib
import io
import os

import pytest
from pypowervm import const
from pypowervm import exceptions as exc
from pypowervm.tasks import hdisk, power, scsi_mapper, storage as tsk_stor, vfc_mapper, vopt
from pypowervm.tasks import partition as tsk_par
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios

MAPS = [const.XAG.VIO_SMAP]
TARGETS = ["500507680B11AAAA", "500507680B22AAAA"]


@pytest.fixture
def vios(adapter):
    return pvm_vios.VIOS.search(adapter, name="vios1", one_result=True, xag=MAPS)


@pytest.fixture
def datavg(adapter, vios):
    return pvm_stor.VG.search(adapter, name="datavg", parent=vios, one_result=True)


def reread(vios, *groups):
    return pvm_vios.VIOS.get(vios.adapter, uuid=vios.uuid, xag=list(groups or MAPS))


def test_a_virtual_disk_is_made_and_removed(adapter, vios, datavg):
    disk = tsk_stor.crt_vdisk(adapter, vios.uuid, datavg.uuid, "disk1", 10)
    assert disk.udid.startswith("03") and disk.capacity == 10
    after = pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios)
    assert datavg.available_size - after.available_size == pytest.approx(10)
    tsk_stor.rm_vg_storage(after, vdisks=[disk])
    assert pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios).virtual_disks == []


def test_a_disk_image_is_uploaded(adapter, vios, datavg):
    image = os.urandom(3 << 20)
    digest = hashlib.sha256(image).hexdigest()
    disk, left = tsk_stor.upload_new_vdisk(
        adapter, vios.uuid, datavg.uuid, io.BytesIO(image), "image1", len(image), d_size=2 << 30, sha_chksum=digest
    )
    assert left is None and disk.capacity == 2
    with pytest.raises(exc.HttpError) as caught:
        tsk_stor.upload_new_vdisk(
            adapter, vios.uuid, datavg.uuid, io.BytesIO(image), "image2", len(image), sha_chksum="0" * 64
        )
    assert "checksum" in str(caught.value)
    # The library cleans up after a failure.
    names = [disk.name for disk in pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios).virtual_disks]
    assert names == ["image1"]
    tsk_stor.rm_vg_storage(pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios), vdisks=[disk])


def test_media(adapter, vios, make_lpar, system):
    vio_uuid, vg_uuid = vopt.validate_vopt_repo_exists(adapter)
    image = b"not much of an image" * 100
    media, left = tsk_stor.upload_vopt(adapter, vio_uuid, io.BytesIO(image), "cfg_test.iso", len(image))
    assert left is None
    lpar = make_lpar()
    scsi_mapper.add_vscsi_mapping(system.uuid, vio_uuid, lpar.uuid, media)
    vwrap = pvm_vios.VIOS.get(adapter, uuid=vio_uuid, xag=MAPS)
    maps = scsi_mapper.find_maps(vwrap.scsi_mappings, client_lpar_id=lpar.id)
    assert [m.backing_storage.media_name for m in maps] == ["cfg_test.iso"]
    assert maps[0].target_dev.name.startswith("vtopt")
    group = pvm_stor.VG.get(adapter, uuid=vg_uuid, parent_type=pvm_vios.VIOS, parent_uuid=vio_uuid)
    stored = [m for m in group.vmedia_repos[0].optical_media if m.name == "cfg_test.iso"]
    with pytest.raises(exc.HttpError):
        tsk_stor.rm_vg_storage(group, vopts=stored)
    scsi_mapper.remove_vopt_mapping(adapter, vio_uuid, lpar.id, media_name="cfg_test.iso")
    group = pvm_stor.VG.get(adapter, uuid=vg_uuid, parent_type=pvm_vios.VIOS, parent_uuid=vio_uuid)
    tsk_stor.rm_vg_storage(group, vopts=[m for m in group.vmedia_repos[0].optical_media if m.name == "cfg_test.iso"])
    group = pvm_stor.VG.get(adapter, uuid=vg_uuid, parent_type=pvm_vios.VIOS, parent_uuid=vio_uuid)
    assert group.vmedia_repos[0].optical_media == []


def test_mappings_share_an_adapter_until_it_is_full(adapter, vios, datavg, make_lpar, system):
    lpar = make_lpar()
    disks = [tsk_stor.crt_vdisk(adapter, vios.uuid, datavg.uuid, f"share{n}", 1) for n in range(3)]
    for disk in disks:
        scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, disk, fuse_limit=2)
    maps = scsi_mapper.find_maps(reread(vios).scsi_mappings, client_lpar_id=lpar.id)
    assert len(maps) == 3
    assert len({m.server_adapter.lpar_slot_num for m in maps}) == 2
    assert len({m.target_dev.lua for m in maps if m.server_adapter.lpar_slot_num == maps[0].server_adapter.lpar_slot_num}) == 2
    for m in maps:
        assert m.client_adapter.lpar_id == lpar.id
        assert (m.server_adapter.lpar_id, m.server_adapter.vios_id) == (lpar.id, vios.id)
        assert m.client_adapter.loc_code.endswith(f"-V{lpar.id}-C{m.client_adapter.lpar_slot_num}")
    removed = scsi_mapper.remove_vdisk_mapping(adapter, vios.uuid, lpar.id)
    assert len(removed[1]) == 3
    group = pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios)
    tsk_stor.rm_vg_storage(group, vdisks=group.virtual_disks)


def test_a_partition_that_is_gone_leaves_orphans_which_are_scrubbed(adapter, vios, datavg, make_lpar, system):
    lpar = make_lpar()
    disk = tsk_stor.crt_vdisk(adapter, vios.uuid, datavg.uuid, "orphan", 1)
    scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, disk)
    lpar.delete()
    orphans = [m for m in reread(vios).scsi_mappings if m.client_adapter is None]
    assert orphans
    tsk_stor.ComprehensiveScrub(adapter).execute()
    assert not [m for m in reread(vios).scsi_mappings if m.client_adapter is None]
    # The scrubber removes the disk too, since nothing maps it any more.
    assert pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios).virtual_disks == []


def test_a_volume_is_discovered_mapped_and_let_go(adapter, vios, make_lpar, system):
    wwpns = [port.wwpn for port in reread(vios, const.XAG.VIO_STOR).pfc_ports]
    itls = hdisk.build_itls(wwpns, TARGETS, 1)
    status, name, udid = hdisk.discover_hdisk(adapter, vios.uuid, itls)
    assert status == hdisk.LUAStatus.DEVICE_AVAILABLE and name.startswith("hdisk")
    assert hdisk.get_pg83_via_job(adapter, vios.uuid, udid)
    stored = reread(vios, const.XAG.VIO_STOR)
    assert stored.hdisk_from_uuid(udid) == name
    lpar = make_lpar()
    scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, pvm_stor.PV.bld(adapter, name, udid=udid))
    assert hdisk.discover_hdisk(adapter, vios.uuid, itls)[0] == hdisk.LUAStatus.DEVICE_IN_USE
    found = scsi_mapper.find_maps(reread(vios).scsi_mappings, client_lpar_id=lpar.id)
    assert found[0].backing_storage.name == name
    scsi_mapper.remove_pv_mapping(adapter, vios.uuid, lpar.id, name)
    hdisk.remove_hdisk(adapter, "power-a", name, vios.uuid)
    assert reread(vios, const.XAG.VIO_STOR).hdisk_from_uuid(udid) is None


def test_a_volume_that_is_not_there_is_not_found(adapter, vios):
    wwpns = [port.wwpn for port in reread(vios, const.XAG.VIO_STOR).pfc_ports]
    status, name, _ = hdisk.discover_hdisk(adapter, vios.uuid, hdisk.build_itls(wwpns, TARGETS, 99))
    assert not hdisk.good_discovery(status, name)


def test_npiv(adapter, make_lpar, system):
    lpar = make_lpar()
    vioses = pvm_vios.VIOS.get(adapter, xag=[const.XAG.VIO_FMAP, const.XAG.VIO_STOR])
    ports = [port.wwpn for vios in vioses for port in vios.pfc_ports]
    pairs = vfc_mapper.build_wwpn_pair(adapter, system.uuid, pair_count=2)
    assert len(pairs) == 4 and len(set(pairs)) == 4
    maps = vfc_mapper.derive_npiv_map(vioses, ports, pairs)
    assert len(maps) == 2
    for port_map in maps:
        owner = vfc_mapper.find_vios_for_port_map(vioses, port_map)
        owner = pvm_vios.VIOS.get(adapter, uuid=owner.uuid, xag=[const.XAG.VIO_FMAP])
        assert vfc_mapper.add_map(owner, system.uuid, lpar.uuid, port_map)
        owner.update()
    seen = 0
    for vios in pvm_vios.VIOS.get(adapter, xag=[const.XAG.VIO_FMAP]):
        for mapping in vfc_mapper.find_maps(vios.vfc_mappings, lpar.id):
            assert mapping.backing_port.name.startswith("fcs")
            assert mapping.server_adapter.name.startswith("vfchost")
            assert len(mapping.client_adapter.wwpns) == 2
            seen += 1
        vfc_mapper.remove_maps(vios, lpar.id)
        vios.update()
    assert seen == 2
    client = pvm_stor.VFCClientAdapter.get(adapter, parent=lpar)
    assert client == []


def test_names_of_ports_are_limited(adapter, system):
    with pytest.raises(exc.JobRequestFailed) as caught:
        vfc_mapper.build_wwpn_pair(adapter, system.uuid, pair_count=9)
    assert "No more than 8" in str(caught.value)


def test_the_physical_ports_of_all_vioses(adapter):
    assert len(tsk_par.get_physical_wwpns(adapter)) == 4


def test_buses_show_what_is_mapped(adapter, vios, datavg, make_lpar, system):
    lpar = make_lpar()
    disk = tsk_stor.crt_vdisk(adapter, vios.uuid, datavg.uuid, "bus", 1)
    scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, disk)
    buses = pvm_stor.VSCSIBus.get(adapter, parent=vios) if hasattr(pvm_stor, "VSCSIBus") else pvm_vios.VSCSIBus.get(adapter, parent=vios)
    mine = [bus for bus in buses if bus.client_adapter and bus.client_adapter.lpar_id == lpar.id]
    assert [m.backing_storage.name for m in mine[0].mappings] == ["bus"]
    scsi_mapper.remove_vdisk_mapping(adapter, vios.uuid, lpar.id)
    group = pvm_stor.VG.get(adapter, uuid=datavg.uuid, parent=vios)
    tsk_stor.rm_vg_storage(group, vdisks=group.virtual_disks)
