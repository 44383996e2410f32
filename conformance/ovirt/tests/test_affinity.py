"""Affinity groups and labels, and the scheduler that obeys them."""

from pathlib import Path

import ovirtsdk4 as sdk
import pytest
from conftest import World
from ovirtsdk4 import types

from simulator import wait_for


def groups_service(world):
    return world.system.clusters_service().cluster_service(world.cluster.id).affinity_groups_service()


def add_group(world, positive, enforcing, vms=()):
    return groups_service(world).add(
        types.AffinityGroup(
            name=world.name("group"),
            description="made by a test",
            priority=5.0,
            vms_rule=types.AffinityRule(enabled=True, positive=positive, enforcing=enforcing),
            hosts_rule=types.AffinityRule(enabled=False, positive=True, enforcing=False),
            vms=[types.Vm(id=vm.id) for vm in vms] or None,
        )
    )


def add_vms(world, number):
    vms = []
    for _ in range(number):
        vm = world.add_vm()
        world.attach_disk(vm, world.add_disk())
        vms.append(vm)
    return vms


def start(world, vm):
    world.vm_service(vm).start()
    return world.wait_vm(vm, types.VmStatus.UP)


def stop_and_remove(world, vms):
    for vm in vms:
        service = world.vm_service(vm)
        if service.get().status != types.VmStatus.DOWN:
            service.stop()
    for vm in vms:
        world.remove_vm(vm)


@pytest.fixture(scope="module")
def vms(world):
    made = add_vms(world, 2)
    yield made
    stop_and_remove(world, made)


def test_a_group_reads_back_as_it_was_made(world, vms):
    made = add_group(world, positive=False, enforcing=True)
    service = groups_service(world).group_service(made.id)
    group = service.get()
    assert (group.description, group.priority) == ("made by a test", 5)
    assert (group.vms_rule.enabled, group.vms_rule.positive, group.vms_rule.enforcing) == (True, False, True)
    assert (group.hosts_rule.enabled, group.hosts_rule.positive, group.hosts_rule.enforcing) == (False, True, False)
    # The older fields mirror the rule for VMs.
    assert (group.positive, group.enforcing) == (False, True)
    assert group.cluster.id == world.cluster.id
    assert group.broken is False

    members = service.vms_service()
    members.add(types.Vm(id=vms[0].id))
    assert [vm.id for vm in members.list()] == [vms[0].id]
    assert [vm.id for vm in service.get().vms] == [vms[0].id]
    members.vm_service(vms[0].id).remove()
    assert members.list() == []

    service.update(types.AffinityGroup(description="changed", vms_rule=types.AffinityRule(enforcing=False)))
    changed = service.get()
    assert (changed.description, changed.vms_rule.enforcing, changed.vms_rule.positive) == ("changed", False, False)
    service.remove()
    with pytest.raises(sdk.NotFoundError):
        service.get()


def test_a_group_name_is_used_once(world):
    made = add_group(world, positive=True, enforcing=False)
    with pytest.raises(sdk.Error) as refused:
        groups_service(world).add(types.AffinityGroup(name=made.name, vms_rule=types.AffinityRule(enabled=False)))
    # Unlike most names in use, this one is a bad parameter to the engine (AFFINITY_GROUP_NAME_EXISTS).
    assert refused.value.code == 400
    assert "name" in refused.value.fault.detail.lower()
    groups_service(world).group_service(made.id).remove()


def test_soft_anti_affinity_spreads_and_hard_affinity_gathers(world):
    apart = add_vms(world, 2)
    group = add_group(world, positive=False, enforcing=False, vms=apart)
    assert len({start(world, vm).host.id for vm in apart}) == 2
    groups_service(world).group_service(group.id).remove()
    stop_and_remove(world, apart)

    together = add_vms(world, 2)
    group = add_group(world, positive=True, enforcing=True, vms=together)
    assert len({start(world, vm).host.id for vm in together}) == 1
    groups_service(world).group_service(group.id).remove()
    stop_and_remove(world, together)


def test_hard_anti_affinity_on_two_hosts_really_fails(simulators, connect):
    """Three masters that must be apart, on two hosts: the third cannot start, and the refusal names each host."""
    engine = simulators("two-hosts", "--inventory", Path(__file__).parent.parent / "two-hosts.yaml")
    world = World(connect(engine).system_service())
    assert len(world.hosts) == 2
    masters = add_vms(world, 3)
    add_group(world, positive=False, enforcing=True, vms=masters)
    first, second = (start(world, vm) for vm in masters[:2])
    assert first.host.id != second.host.id

    with pytest.raises(sdk.Error) as refused:
        world.vm_service(masters[2]).start()
    assert refused.value.code == 409
    detail = refused.value.fault.detail
    for host in world.hosts:
        assert host.name in detail
    assert "VmAffinityGroups" in detail
    assert world.vm_service(masters[2]).get().status == types.VmStatus.DOWN

    # A host becomes free, and the third VM may have it.
    world.vm_service(masters[0]).stop()
    world.wait_vm(masters[0], types.VmStatus.DOWN)
    third = start(world, masters[2])
    assert third.host.id == first.host.id
    engine.stop()


def test_a_broken_rule_is_repaired_by_migration(world):
    """Two VMs run on one host; a rule made later sends one of them away within some minutes of engine time."""
    vms = add_vms(world, 2)
    host = start(world, vms[0]).host
    world.vm_service(vms[1]).start()
    second = world.wait_vm(vms[1], types.VmStatus.UP)
    if second.host.id != host.id:
        world.vm_service(vms[1]).migrate(host=types.Host(id=host.id))
        wait_for(
            "both on one host",
            world.vm_service(vms[1]).get,
            lambda vm: vm.status == types.VmStatus.UP and vm.host.id == host.id,
        )
    group = add_group(world, positive=False, enforcing=True, vms=vms)

    def hosts():
        now = [world.vm_service(vm).get() for vm in vms]
        return {vm.host.id for vm in now if vm.status == types.VmStatus.UP and vm.host}

    wait_for("the VMs to be apart", hosts, lambda found: len(found) == 2)
    groups_service(world).group_service(group.id).remove()
    stop_and_remove(world, vms)


def test_affinity_labels_stand_for_vms_and_hosts_in_a_group(system, world):
    labels = system.affinity_labels_service()
    label = labels.add(types.AffinityLabel(name=world.name("label")))
    service = labels.label_service(label.id)
    (vm,) = add_vms(world, 1)
    chosen = world.hosts[-1]
    service.vms_service().add(types.Vm(id=vm.id))
    service.hosts_service().add(types.Host(id=chosen.id))
    assert [v.id for v in service.vms_service().list()] == [vm.id]
    assert [h.id for h in service.hosts_service().list()] == [chosen.id]
    assert [a.id for a in world.vm_service(vm).affinity_labels_service().list()] == [label.id]
    group = groups_service(world).add(
        types.AffinityGroup(
            name=world.name("labelled"),
            vms_rule=types.AffinityRule(enabled=False),
            hosts_rule=types.AffinityRule(enabled=True, positive=True, enforcing=True),
            vm_labels=[types.AffinityLabel(id=label.id)],
            host_labels=[types.AffinityLabel(id=label.id)],
        )
    )
    assert start(world, vm).host.id == chosen.id
    groups_service(world).group_service(group.id).remove()
    stop_and_remove(world, [vm])
    service.remove()
    assert label.id not in [a.id for a in labels.list()]
