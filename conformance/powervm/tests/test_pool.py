"""The shared storage pool: units, uploads, clones, mappings from several VIOSes."""

import io
import os

import pytest
from pypowervm import const
from pypowervm import exceptions as exc
from pypowervm.tasks import cluster_ssp, scsi_mapper, storage as tsk_stor
from pypowervm.wrappers import cluster as pvm_clust
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios


@pytest.fixture
def tier(adapter):
    ssp = pvm_stor.SSP.get(adapter)[0]
    return tsk_stor.default_tier_for_ssp(ssp)


def unit(adapter, tier, name):
    return [lu for lu in pvm_stor.LUEnt.get(adapter, parent=tier) if lu.name == name]


def test_the_cluster_and_its_nodes(adapter):
    cluster = pvm_clust.Cluster.get(adapter)[0]
    assert len(cluster.nodes) == 6
    assert cluster.repos_pv.name == "hdisk90"
    ssp = pvm_stor.SSP.get_by_href(adapter, cluster.ssp_uri)
    assert ssp.name == "pool1" and ssp.capacity == 2000


def test_tiers(adapter, tier):
    assert tier.is_default
    assert sorted(t.name for t in pvm_stor.Tier.get(adapter)) == ["SYSTEM", "fast"]


def test_a_unit(adapter, tier):
    _, lu = tsk_stor.crt_lu(tier, "unit1", 5, thin=True)
    assert lu.udid.startswith("27") and lu.capacity == 5 and not lu.in_use
    with pytest.raises((exc.HttpError, exc.DuplicateLUNameError)):
        tsk_stor.crt_lu(tier, "unit1", 5)
    tsk_stor.rm_tier_storage([lu], tier=tier)
    assert not unit(adapter, tier, "unit1")


def test_an_image_a_clone_and_its_mappings(adapter, other_adapter, tier, make_lpar, system):
    image = os.urandom(1 << 20)
    vioses = pvm_vios.VIOS.get(adapter, xag=[const.XAG.VIO_SMAP])
    lu = cluster_ssp.get_or_upload_image_lu(tier, "image_abc", vioses[0].uuid, lambda: io.BytesIO(image), len(image),
                                            upload_type=tsk_stor.UploadType.IO_STREAM_BUILDER)
    assert lu.lu_type == pvm_stor.LUType.IMAGE and lu.udid.startswith("29")
    # The second who wants it finds it, on another host too.
    again = cluster_ssp.get_or_upload_image_lu(tier, "image_abc", vioses[0].uuid, lambda: io.BytesIO(image), len(image),
                                               upload_type=tsk_stor.UploadType.IO_STREAM_BUILDER)
    assert again.udid == lu.udid
    ssp = pvm_stor.SSP.get(adapter)[0]
    _, clone = tsk_stor.crt_lu(tier, "boot_1", 10, clone=lu)
    assert clone.cloned_from_udid[2:] == lu.udid[2:]
    lpar = make_lpar()
    for vios in vioses:
        scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, clone)
    assert unit(adapter, tier, "boot_1")[0].in_use
    assert unit(other_adapter, tier, "boot_1")[0].in_use
    with pytest.raises(exc.HttpError) as caught:
        unit(adapter, tier, "boot_1")[0].delete()
    assert "is mapped" in str(caught.value)
    for vios in vioses:
        scsi_mapper.remove_lu_mapping(adapter, vios.uuid, lpar.id, disk_names=["boot_1"])
    clone = unit(adapter, tier, "boot_1")[0]
    # Removing the last clone removes the image as well.
    tsk_stor.rm_tier_storage([clone], tier=tier)
    assert not unit(adapter, tier, "boot_1")


def test_the_pool_lists_its_units_and_can_be_changed_as_a_whole(adapter):
    ssp = pvm_stor.SSP.get(adapter)[0]
    ssp, lu = tsk_stor.crt_lu(ssp, "whole", 3)
    assert "whole" in [unit.name for unit in ssp.logical_units]
    ssp = tsk_stor.rm_ssp_storage(ssp, [lu])
    assert "whole" not in [unit.name for unit in ssp.logical_units]
