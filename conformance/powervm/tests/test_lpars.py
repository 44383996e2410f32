"""Logical partitions: making, switching, changing, deleting."""

import pytest
from pypowervm import exceptions as exc
from pypowervm.tasks import power, power_opts
from pypowervm.utils import lpar_builder
from pypowervm.wrappers import base_partition as bp
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.utils import uuid as pvm_uuid
from simulator import wait_for


def test_a_shared_partition(adapter, make_lpar):
    lpar = make_lpar(memory=4096, max_mem=8192, vcpu=2, proc_units=0.5, uncapped_weight=64)
    assert lpar.state == bp.LPARState.NOT_ACTIVATED
    assert lpar.id > 1
    assert (lpar.mem_config.desired, lpar.mem_config.max) == (4096, 8192)
    shared = lpar.proc_config.shared_proc_cfg
    assert (shared.desired_units, shared.desired_virtual, shared.uncapped_weight) == (0.5, 2, 64)
    assert lpar.uuid == lpar.uuid.upper()
    assert pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid).name == lpar.name


def test_a_dedicated_partition(make_lpar):
    lpar = make_lpar(dedicated_proc=True, vcpu=2, sharing_mode="keep idle procs")
    assert lpar.proc_config.has_dedicated
    assert lpar.proc_config.dedicated_proc_cfg.desired == 2


def test_an_ibm_i_partition(make_lpar):
    lpar = make_lpar(env=bp.LPARType.OS400)
    assert lpar.env == "OS400"
    assert lpar.io_config.tagged_io.load_src == "0"


def test_the_client_chooses_the_id(make_lpar):
    chosen = pvm_uuid.convert_uuid_to_pvm("f1f2f3f4-0102-4304-8506-0708090a0b0c").upper()
    assert chosen[0] == "7"
    assert make_lpar(uuid=chosen).uuid == chosen


def test_numbers_are_used_again(make_lpar):
    first = make_lpar()
    number = first.id
    first.delete()
    assert make_lpar().id == number


def test_power(adapter, make_lpar, hard_off):
    lpar = make_lpar()
    power.PowerOp.start(lpar)
    lpar = lpar.refresh()
    assert lpar.state == bp.LPARState.RUNNING
    # On again: the library knows the server's word for "it is on already".
    power.PowerOp.start(lpar)
    wait_for("RMC", lambda: pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid), lambda lpar: lpar.rmc_state == "active")
    lpar = lpar.refresh()
    assert lpar.can_modify_io()[0]
    power.PowerOp.stop(lpar, opts=power_opts.PowerOffOpts().restart().vsp_hard())
    assert lpar.refresh().state == bp.LPARState.RUNNING
    power.PowerOp.stop(lpar, opts=hard_off)
    assert lpar.refresh().state == bp.LPARState.NOT_ACTIVATED
    power.PowerOp.stop(lpar, opts=hard_off)


def test_a_soft_shutdown_needs_rmc_and_falls_back(adapter, hosts, make_lpar):
    lpar = make_lpar()
    power.PowerOp.start(lpar)
    wait_for("RMC", lambda: pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid), lambda lpar: lpar.rmc_state == "active")
    hosts.admin("POST", f"/powervm/hosts/0/partitions/{lpar.name}", {"ResourceMonitoringControlState": "inactive"})
    with pytest.raises(exc.OSShutdownNoRMC):
        power.PowerOp.stop(lpar.refresh(), opts=power_opts.PowerOffOpts().os_immediate())
    power.power_off_progressive(lpar.refresh())
    assert lpar.refresh().state == bp.LPARState.NOT_ACTIVATED


def test_a_change(adapter, system, make_lpar):
    lpar = make_lpar(memory=2048, vcpu=1)
    name = lpar.name + "x"
    builder = lpar_builder.LPARBuilder(adapter, {"name": name, "memory": 4096, "vcpu": 2, "max_vcpu": 4}, lpar_builder.DefaultStandardize(system))
    changed = builder.rebuild(lpar).update()
    assert changed.name == name
    assert changed.mem_config.desired == 4096
    assert changed.proc_config.shared_proc_cfg.desired_virtual == 2
    assert changed.id == lpar.id
    assert changed.etag != lpar.etag


def test_resources_are_counted(adapter, make_lpar):
    before = pvm_ms.System.get(adapter)[0]
    make_lpar(memory=16384, vcpu=4, proc_units=2)
    after = pvm_ms.System.get(adapter)[0]
    assert before.memory_free - after.memory_free == 16384
    assert before.proc_units_avail - after.proc_units_avail == pytest.approx(2)


def test_what_cannot_be(adapter, system, make_lpar):
    lpar = make_lpar()
    for attributes, words in [
        ({"name": lpar.name}, "already in use"),
        ({"memory": 1 << 30, "max_mem": 1 << 30}, "are free"),
    ]:
        with pytest.raises(exc.HttpError) as caught:
            make_lpar(**attributes)
        assert words in str(caught.value)
    power.PowerOp.start(lpar)
    with pytest.raises(exc.HttpError) as caught:
        lpar.refresh().delete()
    assert "must be shut down" in str(caught.value)


def test_the_order_of_elements_is_law(adapter, system):
    lpar = lpar_builder.LPARBuilder(adapter, {"name": "order", "memory": 2048, "vcpu": 1}, lpar_builder.DefaultStandardize(system)).build()
    element = lpar.element.element
    name = next(child for child in element if child.tag.endswith("}PartitionName"))
    element.remove(name)
    element.append(name)
    with pytest.raises(exc.HttpError) as caught:
        lpar.create(parent=system)
    assert caught.value.response.status == 400
    assert "PartitionName" in str(caught.value)


def test_nvram_is_in_its_group(adapter):
    lpar = pvm_lpar.LPAR.search(adapter, name="web1", one_result=True)
    assert lpar.nvram is None
    assert pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid, xag=["NVRAM"]).nvram
