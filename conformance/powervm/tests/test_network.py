"""Virtual Ethernet: adapters, switches, trunks, bridges, virtual NICs."""

import pytest
from pypowervm import exceptions as exc
from pypowervm.tasks import cna as tsk_cna, network_bridger, power, sriov
from pypowervm.tasks import partition as tsk_par
from pypowervm.wrappers import iocard as pvm_card
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import network as pvm_net


def test_an_adapter(adapter, system, make_lpar):
    lpar = make_lpar()
    cna = tsk_cna.crt_cna(adapter, system.uuid, lpar.uuid, 100, mac_addr="AABBCCDDEE01")
    assert (cna.pvid, cna.mac, cna.vswitch_id) == (100, "AABBCCDDEE01", 0)
    assert cna.slot > 1 and cna.loc_code.endswith(f"-V{lpar.id}-C{cna.slot}")
    other = tsk_cna.crt_cna(adapter, system.uuid, lpar.uuid, 101)
    assert len(other.mac) == 12 and other.slot != cna.slot
    networks = [net.vlan for net in pvm_net.VNet.get(adapter, parent=system)]
    assert {100, 101} <= set(networks)
    cna.pvid = 102
    cna = cna.update()
    assert cna.pvid == 102
    cna.delete()
    assert [c.mac for c in pvm_net.CNA.get(adapter, parent=lpar)] == [other.mac]


def test_a_running_partition_without_rmc_cannot_be_changed(adapter, hosts, system, make_lpar):
    lpar = make_lpar()
    power.PowerOp.start(lpar)
    hosts.admin("POST", f"/powervm/hosts/0/partitions/{lpar.name}", {"ResourceMonitoringControlState": "inactive"})
    with pytest.raises(exc.HttpError) as caught:
        tsk_cna.crt_cna(adapter, system.uuid, lpar.uuid, 100)
    assert "HSCL2957" in str(caught.value)


def test_a_trunk_for_open_vswitch(adapter, system, make_lpar):
    lpar = make_lpar()
    mgmt = tsk_par.get_mgmt_partition(adapter)
    client, trunks = tsk_cna.crt_p2p_cna(
        adapter, system.uuid, lpar.uuid, [mgmt.uuid], "NovaLinkVEABridge", crt_vswitch=True,
        mac_addr="AABBCCDDEE02", ovs_bridge="br-int", ovs_ext_ids="iface-id=1,iface-status=active",
        dev_name="tap-1", configured_mtu=1450,
    )
    trunk = trunks[0]
    assert trunk.is_trunk and trunk.pvid == client.pvid and trunk.vswitch_id == client.vswitch_id
    assert (trunk.ovs_bridge, trunk.configured_mtu, trunk.dev_name) == ("br-int", 1450, "tap-1")
    assert [t.uuid for t in tsk_cna.find_trunks(adapter, client)] == [trunk.uuid]
    second, _ = tsk_cna.crt_p2p_cna(adapter, system.uuid, lpar.uuid, [mgmt.uuid], "NovaLinkVEABridge", crt_vswitch=True,
                                    mac_addr="AABBCCDDEE03")
    assert second.pvid != client.pvid
    for cna in (client, second):
        for trunk in tsk_cna.find_trunks(adapter, cna):
            trunk.delete()
        cna.delete()
    assert tsk_cna.find_orphaned_trunks(adapter, "NovaLinkVEABridge") == []


def test_vlans_come_to_a_bridge_and_go(adapter, system):
    bridge = pvm_net.NetBridge.get(adapter, parent=system)[0]
    assert len(bridge.seas) == 2
    assert bridge.supports_vlan(100) and not bridge.supports_vlan(300)
    network_bridger.ensure_vlans_on_nb(adapter, system.uuid, bridge.uuid, [300, 301])
    bridge = bridge.refresh()
    assert bridge.supports_vlan(300) and bridge.supports_vlan(301)
    for sea in bridge.seas:
        assert any(300 in trunk.tagged_vlans for trunk in sea.addl_adpts)
    # More than a trunk carries: another pair of trunks.
    network_bridger.ensure_vlans_on_nb(adapter, system.uuid, bridge.uuid, list(range(310, 335)))
    bridge = bridge.refresh()
    assert all(bridge.supports_vlan(vlan) for vlan in range(310, 335))
    assert len(bridge.seas[0].addl_adpts) == 2
    for vlan in (300, 301, *range(310, 335)):
        network_bridger.remove_vlan_from_nb(adapter, system.uuid, bridge.uuid, vlan)
    bridge = bridge.refresh()
    assert not bridge.supports_vlan(300) and bridge.supports_vlan(100)


def test_switches(adapter, system):
    switch = pvm_net.VSwitch.bld(adapter, "SWITCH9").create(parent=system)
    assert switch.name == "SWITCH9" and switch.switch_id > 1
    with pytest.raises(exc.HttpError):
        pvm_net.VSwitch.bld(adapter, "SWITCH9").create(parent=system)
    switch.delete()
    assert "SWITCH9" not in [s.name for s in pvm_net.VSwitch.get(adapter, parent=system)]


def test_a_virtual_nic(adapter, system, make_lpar, vioses):
    lpar = make_lpar()
    ports = sriov.find_pports_for_portlabel("physnet1", adapter)
    assert len(ports) == 4
    vnic = pvm_card.VNIC.bld(adapter, pvid=77, mac_addr="AABBCCDDEE04")
    sriov.set_vnic_back_devs(vnic, [port.loc_code for port in ports], sys_w=pvm_ms.System.get(adapter)[0], redundancy=2, capacity=0.04)
    vnic = vnic.create(parent=lpar)
    assert vnic.mac == "AABBCCDDEE04" and vnic.pvid == 77 and len(vnic.back_devs) == 2
    assert {dev.vios_href.rsplit('/', 1)[1] for dev in vnic.back_devs} == {vios.uuid for vios in vioses}
    used = [port for port in sriov.find_pports_for_portlabel("physnet1", adapter) if port.allocated_capacity > 0]
    assert len(used) == 2
    assert [v.mac for v in pvm_card.VNIC.get(adapter, parent=lpar)] == ["AABBCCDDEE04"]
    vnic.delete()
    assert all(port.allocated_capacity == 0 for port in sriov.find_pports_for_portlabel("physnet1", adapter))


def test_labels_of_ports_can_be_changed(adapter):
    def relabel(label):
        def change(system):
            changed = False
            for card in system.asio_config.sriov_adapters:
                for port in card.phys_ports:
                    if port.loc_code.endswith("C4-T1") and port.label != label:
                        port.label = label
                        changed = True
            return changed
        return change

    for label in ("blue", "physnet1"):
        sriov.safe_update_pports(pvm_ms.System.get(adapter)[0], relabel(label), force=True)
        cards = pvm_ms.System.get(adapter)[0].asio_config.sriov_adapters
        assert label in [port.label for card in cards for port in card.phys_ports]
