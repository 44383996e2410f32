"""Concurrent changes, events, jobs, migration and faults."""

import threading

import pytest
from pypowervm import adapter as adp
from pypowervm import const
from pypowervm import exceptions as exc
from pypowervm.helpers import vios_busy
from pypowervm.tasks import cna as tsk_cna, management_console, memory, migration, power, scsi_mapper, storage as tsk_stor
from pypowervm.utils import transaction as tx
from pypowervm.wrappers import event as pvm_evt
from pypowervm.wrappers import job as pvm_job
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios

from conftest import connect
from simulator import wait_for


def test_a_stale_change_is_refused(adapter, hosts, make_lpar):
    lpar = make_lpar()
    hosts.admin("POST", f"/powervm/hosts/0/touch/{lpar.name}")
    lpar.name = lpar.name + "x"
    with pytest.raises(exc.HttpError) as caught:
        lpar.update()
    assert caught.value.response.status == const.HTTPStatus.ETAG_MISMATCH
    with pytest.raises(exc.HttpError) as caught:
        lpar.delete()
    assert caught.value.response.status == const.HTTPStatus.ETAG_MISMATCH


def test_a_transaction_survives_a_storm_of_changes(adapter, hosts, make_lpar):
    lpar = make_lpar()
    name, seen = lpar.name, []

    @tx.entry_transaction
    def rename(wrapper):
        seen.append(wrapper.etag)
        if len(seen) <= 5:
            # Somebody else is faster.
            hosts.admin("POST", f"/powervm/hosts/0/touch/{name}")
        wrapper.name = name + "-ok"
        return wrapper.update()

    assert rename(lpar).name.endswith("-ok")
    assert len(seen) == 6


def test_parallel_writers_lose_nothing(adapter, hosts, make_lpar, system):
    """Several sessions map disks on one VIOS at the same time; every mapping must be there at the end."""
    vios = pvm_vios.VIOS.search(adapter, name="vios1", one_result=True)
    group = pvm_stor.VG.search(adapter, name="datavg", parent=vios, one_result=True)
    lpars = [make_lpar() for _ in range(4)]
    disks = [tsk_stor.crt_vdisk(adapter, vios.uuid, group.uuid, f"par{n}", 1) for n in range(4)]
    errors = []

    def work(n):
        try:
            own = connect(hosts)
            scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpars[n].uuid, pvm_stor.VDisk.bld_ref(own, disks[n].name))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    maps = pvm_vios.VIOS.get(adapter, uuid=vios.uuid, xag=[const.XAG.VIO_SMAP]).scsi_mappings
    assert {m.backing_storage.name for m in maps if m.backing_storage} >= {f"par{n}" for n in range(4)}
    for lpar in lpars:
        scsi_mapper.remove_vdisk_mapping(adapter, vios.uuid, lpar.id)
    group = pvm_stor.VG.get(adapter, uuid=group.uuid, parent=vios)
    tsk_stor.rm_vg_storage(group, vdisks=group.virtual_disks)


def test_a_feed_task_over_all_vioses(adapter, make_lpar, system):
    lpar = make_lpar()
    tier = tsk_stor.default_tier_for_ssp(pvm_stor.SSP.get(adapter)[0])
    _, lu = tsk_stor.crt_lu(tier, "feedtask", 1)
    task = tx.FeedTask("map", pvm_vios.VIOS.getter(adapter, xag=[const.XAG.VIO_SMAP]))

    def add(vios):
        return scsi_mapper.add_map(vios, scsi_mapper.build_vscsi_mapping(system.uuid, vios, lpar.uuid, lu))

    task.add_functor_subtask(add)
    task.execute()
    vioses = pvm_vios.VIOS.get(adapter, xag=[const.XAG.VIO_SMAP])
    assert all(scsi_mapper.find_maps(vios.scsi_mappings, client_lpar_id=lpar.id) for vios in vioses)
    for vios in vioses:
        scsi_mapper.remove_lu_mapping(adapter, vios.uuid, lpar.id)
    tsk_stor.rm_tier_storage([lu], tier=tier)


class Recorder(adp.WrapperEventHandler):
    def __init__(self):
        self.events = []

    def process(self, events):
        self.events += [(event.etype, event.data, event.detail) for event in events]


def test_events(hosts, make_lpar, adapter, system):
    own = connect(hosts)
    listener = own.session.get_event_listener()
    recorder = Recorder()
    listener.subscribe(recorder)
    try:
        lpar = make_lpar()
        power.PowerOp.start(lpar)
        pvm_evt.Event.bld(adapter, "anything", '{"a": 1}').create()

        def has(kind, detail=None):
            return any(e[0] == kind and (detail is None or detail in (e[2] or "")) and (kind == "CUSTOM_CLIENT_EVENT" or lpar.uuid in e[1])
                       for e in recorder.events)

        wait_for("the events", lambda: list(recorder.events), lambda _: has("ADD_URI") and has("MODIFY_URI", "PartitionState")
                 and has("CUSTOM_CLIENT_EVENT"))
        added = next(e for e in recorder.events if e[0] == "ADD_URI" and lpar.uuid in e[1])
        assert f"/ManagedSystem/{system.uuid}/LogicalPartition/{lpar.uuid}" in added[1]
    finally:
        listener.unsubscribe(recorder)


def test_two_listeners_see_the_same(hosts, make_lpar):
    sessions = [connect(hosts) for _ in range(2)]
    listeners = [session.session.get_event_listener() for session in sessions]
    lpar = make_lpar()
    for listener in listeners:
        seen = {}
        wait_for("the event", lambda: seen.update(listener.getevents()) or dict(seen),
                 lambda events: any(lpar.uuid in uri for uri in events))


def test_a_failed_job_raises_with_the_servers_words(adapter, make_lpar):
    lpar = make_lpar()
    with pytest.raises(exc.JobRequestFailed) as caught:
        migration.migrate_lpar(lpar, "nowhere")
    assert "nowhere is not known" in str(caught.value)


def test_a_job_that_takes_too_long_is_cancelled(hosts, adapter, make_lpar):
    lpar = make_lpar()
    hosts.add_fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn slow-state=1000")
    try:
        job = pvm_job.Job.wrap(adapter.read("LogicalPartition", lpar.uuid, suffix_type="do", suffix_parm="PowerOn"))
        with pytest.raises(exc.JobRequestTimedOut):
            job.run_job(lpar.uuid, timeout=1)
    finally:
        hosts.clear_faults()
    wait_for("the state", lambda: pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid).state, lambda state: state == "not activated")


def test_memory_overhead(adapter, system):
    overhead, free = memory.calculate_memory_overhead_on_host(adapter, system.uuid, {"desired_mem": 4096, "max_mem": 8192}, lmb_size=256)
    assert overhead == 128 and free > 0


def test_a_busy_vios_is_tried_again(hosts, monkeypatch):
    naps = []
    monkeypatch.setattr(vios_busy, "SLEEP", naps.append)
    own = adp.Adapter(connect(hosts).session, helpers=[vios_busy.vios_busy_retry_helper])
    hosts.add_fault("GET /rest/api/uom/VirtualIOServer* nth=1 status=500 body=platform")
    try:
        assert pvm_vios.VIOS.get(own)
    finally:
        hosts.clear_faults()
    assert naps == [5]


def test_an_unavailable_service_raises(hosts):
    own = connect(hosts)
    hosts.add_fault("GET /rest/api/uom/VirtualIOServer* nth=1 status=503 body=platform")
    try:
        with pytest.raises(exc.HttpError) as caught:
            pvm_vios.VIOS.get(own)
        assert caught.value.response.status == 503
    finally:
        hosts.clear_faults()


def test_live_migration(adapter, other_adapter, make_lpar, system):
    tier = tsk_stor.default_tier_for_ssp(pvm_stor.SSP.get(adapter)[0])
    _, lu = tsk_stor.crt_lu(tier, "moving", 1)
    lpar = make_lpar(name="traveller")
    cna = tsk_cna.crt_cna(adapter, system.uuid, lpar.uuid, 100, mac_addr="AABBCCDDEE05")
    for vios in pvm_vios.VIOS.get(adapter):
        scsi_mapper.add_vscsi_mapping(system.uuid, vios.uuid, lpar.uuid, lu)
    power.PowerOp.start(lpar)
    wait_for("RMC", lambda: pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid), lambda lpar: lpar.rmc_state == "active")
    with pytest.raises(exc.JobRequestFailed, match="not authorized"):
        migration.migrate_lpar(lpar, "power-b", validate_only=True)
    management_console.add_authorized_key(other_adapter, management_console.get_public_key(adapter))
    migration.migrate_lpar(lpar, "power-b", validate_only=True)
    assert pvm_lpar.LPAR.search(other_adapter, name="traveller") == []
    migration.migrate_lpar(lpar, "power-b", vlan_mappings=["AABBCCDDEE05/101"])
    with pytest.raises(exc.HttpNotFound):
        pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid)
    there = pvm_lpar.LPAR.get(other_adapter, uuid=lpar.uuid)
    assert there.state == "running" and there.migration_state == "Not_Migrating"
    from pypowervm.wrappers import network as pvm_net
    assert [(c.mac, c.pvid) for c in pvm_net.CNA.get(other_adapter, parent=there)] == [("AABBCCDDEE05", 101)]
    vioses = pvm_vios.VIOS.get(other_adapter, xag=[const.XAG.VIO_SMAP])
    assert all(scsi_mapper.find_maps(vios.scsi_mappings, client_lpar_id=there.id) for vios in vioses)
    from pypowervm.tasks import power_opts
    power.PowerOp.stop(there, opts=power_opts.PowerOffOpts().vsp_hard())
    for vios in vioses:
        scsi_mapper.remove_lu_mapping(other_adapter, vios.uuid, there.id)
    pvm_lpar.LPAR.get(other_adapter, uuid=lpar.uuid).delete()
    tsk_stor.rm_tier_storage([lu], tier=tier)


def test_a_restart_of_the_simulator_loses_nothing(simulators, tmp_path):
    first = simulators("first", "--state", str(tmp_path / "state.json"), directory=tmp_path / "one")
    adapter = connect(first)
    system = pvm_ms.System.get(adapter)[0]
    from pypowervm.utils import lpar_builder
    lpar = lpar_builder.LPARBuilder(adapter, {"name": "kept", "memory": 2048, "vcpu": 1}, lpar_builder.DefaultStandardize(system)).build().create(parent=system)
    lpar = pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid)
    first.kill()
    second = simulators("second", "--state", str(tmp_path / "state.json"), directory=tmp_path / "two")
    again = pvm_lpar.LPAR.get(connect(second), uuid=lpar.uuid)
    assert again.name == "kept" and again.etag == lpar.etag
