"""Everything that can be read: each wrapper of the library reads each of its properties."""

import inspect

import pytest
from pypowervm import adapter as adp
from pypowervm import const
from pypowervm import exceptions as exc
from pypowervm.wrappers import base_partition as bp
from pypowervm.wrappers import cluster as pvm_clust
from pypowervm.wrappers import entry_wrapper as ewrap
from pypowervm.wrappers import iocard as pvm_card
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import management_console as pvm_mc
from pypowervm.wrappers import network as pvm_net
from pypowervm.wrappers import shared_proc_pool as pvm_spp
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios

ROOTS = [pvm_ms.System, pvm_mc.ManagementConsole, pvm_lpar.LPAR, pvm_vios.VIOS, pvm_clust.Cluster, pvm_stor.SSP, pvm_stor.Tier]
OF_THE_SYSTEM = [pvm_lpar.LPAR, pvm_vios.VIOS, pvm_net.VSwitch, pvm_net.VNet, pvm_net.NetBridge, pvm_spp.SharedProcPool]


def read_everything(wrapper, depth=0):
    """Reads every property of a wrapper, and of the wrappers in it. Returns how many there were."""
    count = 0
    if wrapper.element is None:
        # A wrapper around something that is not there, such as the tagged adapters of what is not IBM i.
        return count
    for name, prop in inspect.getmembers(type(wrapper), lambda member: isinstance(member, property)):
        if name in ("entry", "element", "adapter"):
            continue
        try:
            value = getattr(wrapper, name)
        except (exc.UnableToDerivePhysicalPortForNPIV, NotImplementedError):
            continue
        count += 1
        inner = value if isinstance(value, (list, tuple)) or type(value).__name__ == "WrapperElemList" else [value]
        for item in inner if depth < 6 else []:
            if isinstance(item, (ewrap.Wrapper,)):
                count += read_everything(item, depth=depth + 1)
    return count


@pytest.mark.parametrize("cls", ROOTS, ids=lambda cls: cls.schema_type)
def test_objects_at_the_top(adapter, cls):
    feed = cls.get(adapter)
    assert feed
    for wrapper in feed:
        assert read_everything(wrapper) > 3
        same = cls.get(adapter, uuid=wrapper.uuid)
        assert same.uuid == wrapper.uuid
        assert same.etag == wrapper.etag


@pytest.mark.parametrize("cls", OF_THE_SYSTEM, ids=lambda cls: cls.schema_type)
def test_objects_of_the_system(adapter, system, cls):
    feed = cls.get(adapter, parent=system)
    assert feed
    for wrapper in feed:
        assert read_everything(wrapper) > 3
        same = cls.get(adapter, uuid=wrapper.uuid, parent_type=pvm_ms.System, parent_uuid=system.uuid)
        assert same.uuid == wrapper.uuid


def test_a_vios_with_every_group(adapter):
    for vios in pvm_vios.VIOS.get(adapter, xag=[const.XAG.ALL]):
        assert read_everything(vios) > 100
        assert vios.phys_vols and vios.seas and vios.trunk_adapters and vios.pfc_ports
        groups = pvm_stor.VG.get(adapter, parent=vios)
        assert any(group.name == "rootvg" for group in groups)
        for group in groups:
            assert read_everything(group) > 5


def test_groups_hide_what_was_not_asked_for(adapter, vioses):
    bare = pvm_vios.VIOS.get(adapter, uuid=vioses[0].uuid)
    assert not bare.phys_vols and not bare.seas
    storage = pvm_vios.VIOS.get(adapter, uuid=vioses[0].uuid, xag=[const.XAG.VIO_STOR])
    assert storage.phys_vols and not storage.seas
    assert storage.etag != bare.etag


def test_two_addresses_are_one_object(adapter, system):
    lpar = pvm_lpar.LPAR.search(adapter, name="web1")[0]
    child = pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid, parent_type=pvm_ms.System, parent_uuid=system.uuid)
    assert child.uuid == lpar.uuid and child.etag == lpar.etag
    assert child.href != lpar.href


def test_searches(adapter):
    assert pvm_lpar.LPAR.search(adapter, name="web1", one_result=True).name == "web1"
    assert pvm_lpar.LPAR.search(adapter, name="nobody") == []
    assert pvm_vios.VIOS.search(adapter, name="vios1", one_result=True).name == "vios1"
    assert pvm_lpar.LPAR.search(adapter, id=1, one_result=True).is_mgmt_partition
    assert pvm_clust.Cluster.search(adapter, name="cluster1", one_result=True).name == "cluster1"
    assert pvm_stor.SSP.search(adapter, name="pool1", one_result=True).name == "pool1"
    # By what the server cannot search for: the library looks through the feed.
    assert pvm_lpar.LPAR.search(adapter, is_mgmt_partition=True, one_result=True).name == "novalink"


def test_quick_properties(adapter):
    lpar = pvm_lpar.LPAR.search(adapter, name="web1", one_result=True)

    def quick(name):
        return adapter.read("LogicalPartition", lpar.uuid, suffix_type="quick", suffix_parm=name).body

    assert quick("PartitionState") == '"running"'
    assert quick("PartitionID") == str(lpar.id)
    assert quick("PartitionName") == '"web1"'
    assert quick("PartitionType") == '"AIX/Linux"'
    with pytest.raises(exc.HttpNotFound):
        adapter.read("LogicalPartition", "00000000-0000-4000-8000-000000000000", suffix_type="quick", suffix_parm="PartitionState")


def test_an_object_that_has_not_changed_is_not_sent_again(adapter):
    lpar = pvm_lpar.LPAR.search(adapter, name="web1", one_result=True)
    answer = adapter.read_by_path(f"/rest/api/uom/LogicalPartition/{lpar.uuid}?group=None", etag=lpar.etag)
    assert answer.status == 304


def test_an_empty_feed_is_no_content(adapter):
    lpar = pvm_lpar.LPAR.search(adapter, name="ibmi1", one_result=True)
    answer = adapter.read("LogicalPartition", lpar.uuid, "ClientNetworkAdapter")
    assert answer.status == 204
    assert pvm_net.CNA.get(adapter, parent=lpar) == []


def test_what_does_not_exist_is_not_found(adapter):
    with pytest.raises(exc.HttpNotFound) as caught:
        pvm_lpar.LPAR.get(adapter, uuid="00000000-0000-4000-8000-000000000000")
    assert "could not be found" in str(caught.value)
    with pytest.raises(exc.HttpNotFound):
        adapter.read("Zeppelin")
