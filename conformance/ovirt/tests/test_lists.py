"""Lists: search, follow, paging, and the errors that belong to them."""

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types

NAMES = ["list-alpha", "list-beta", "list-beta_2", "list-gamma.1", "List-Delta"]


@pytest.fixture(scope="module", autouse=True)
def vms(world):
    made = [world.add_vm(name, description=f"the {i}th") for i, name in enumerate(NAMES)]
    yield made
    for vm in made:
        world.remove_vm(vm)


def names(system, search, **query):
    return sorted(vm.name for vm in system.vms_service().list(search=search, **query))


def test_every_collection_a_client_walks_answers(system, connection):
    """The roots of the API: each is a list of its own type, and its first entry can be fetched again by its href."""
    collections = {
        "affinity_labels": types.AffinityLabel,
        "clusters": types.Cluster,
        "data_centers": types.DataCenter,
        "disk_profiles": types.DiskProfile,
        "disks": types.Disk,
        "events": types.Event,
        "groups": types.Group,
        "hosts": types.Host,
        "image_transfers": types.ImageTransfer,
        "instance_types": types.InstanceType,
        "jobs": types.Job,
        "mac_pools": types.MacPool,
        "networks": types.Network,
        "roles": types.Role,
        "storage_domains": types.StorageDomain,
        "tags": types.Tag,
        "templates": types.Template,
        "users": types.User,
        "vms": types.Vm,
        "vnic_profiles": types.VnicProfile,
    }
    for name, kind in collections.items():
        found = getattr(system, f"{name}_service")().list()
        assert all(isinstance(entry, kind) for entry in found), name
        for entry in found[:1]:
            assert entry.href.startswith("/ovirt-engine/api/"), name
            assert connection.follow_link(entry).id == entry.id, name


def test_hrefs_lead_back_to_the_same_entity(system, connection, world):
    for entity in [world.cluster, world.data_center, world.vnic_profile, *world.hosts]:
        again = connection.follow_link(entity)
        assert (again.id, again.name) == (entity.id, entity.name)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("name=list-alpha", ["list-alpha"]),
        ('name="list-gamma.1"', ["list-gamma.1"]),
        ("name=list-beta", ["list-beta"]),
        ("name=list-b*", ["list-beta", "list-beta_2"]),
        ("name=list-beta_2", ["list-beta_2"]),
        # The underscore is no wildcard.
        ("name=list_alpha", []),
        # Case does not matter unless a caller says so.
        ("name=LIST-ALPHA", ["list-alpha"]),
        ("name=list-delta", ["List-Delta"]),
        ("name=list-alpha or name=list-beta", ["list-alpha", "list-beta"]),
        ("name=list-b* and name=*_2", ["list-beta_2"]),
        ("name=list-* and status=down", sorted(NAMES)),
        ("name=list-* and status=up", []),
        ("name=list-b* and name!=list-beta", ["list-beta_2"]),
        ("name=list-* and cluster=Default", sorted(NAMES)),
        ("name=list-* and cluster=Elsewhere", []),
        ("name=nothing-like-it", []),
    ],
)
def test_vm_search(system, search, expected):
    assert names(system, search) == expected


def test_search_can_respect_case(system):
    assert names(system, "name=LIST-ALPHA", case_sensitive=True) == []
    assert names(system, "name=list-alpha", case_sensitive=True) == ["list-alpha"]


def test_search_sorts(system):
    up = [vm.name for vm in system.vms_service().list(search="name=list-* sortby name asc")]
    down = [vm.name for vm in system.vms_service().list(search="name=list-* sortby name desc")]
    assert len(up) == len(NAMES)
    assert up == down[::-1]
    assert [n.lower() for n in up] == sorted(n.lower() for n in NAMES)


def test_pages_cover_the_list_without_overlap(system):
    seen = []
    for page in range(1, 10):
        found = system.vms_service().list(search=f"name=list-* sortby name asc page {page}", max=2)
        if not found:
            break
        assert len(found) <= 2
        seen += [vm.name for vm in found]
    assert sorted(seen) == sorted(NAMES)
    assert len(seen) == len(set(seen))


def test_max_limits(system):
    assert len(system.vms_service().list(search="name=list-*", max=3)) == 3
    assert len(system.vms_service().list(search="name=list-*", max=100)) == len(NAMES)


@pytest.mark.parametrize("search", ["name=", "=x", "name=a;drop", "nosuchfield=1", "name=a and", "sortby"])
def test_a_search_that_makes_no_sense_is_a_bad_request(system, search):
    with pytest.raises(sdk.Error) as refused:
        system.vms_service().list(search=search)
    assert refused.value.code == 400
    assert refused.value.fault.reason
    assert refused.value.fault.detail


def test_cross_references(system, world):
    clusters = system.clusters_service().list(search=f"datacenter={world.data_center.name}")
    assert world.cluster.id in [c.id for c in clusters]
    centers = system.data_centers_service().list(search=f"Clusters.name={world.cluster.name}")
    assert [dc.id for dc in centers] == [world.data_center.id]
    centers = system.data_centers_service().list(search=f'storage="{world.storage_domain.name}"')
    assert [dc.id for dc in centers] == [world.data_center.id]
    hosts = system.hosts_service().list(search=f"cluster={world.cluster.name} and status=up")
    assert len(hosts) == len(world.hosts)
    domains = system.storage_domains_service().list(search=f"datacenter={world.data_center.name}")
    assert world.storage_domain.id in [d.id for d in domains]


def test_disk_search_by_storage_and_vm(system, world, vms):
    disk = world.add_disk("list disk")
    world.attach_disk(vms[0], disk)
    disks = system.disks_service()
    found = disks.list(search=f'name="list disk" and Storage.name={world.storage_domain.name}')
    assert [d.id for d in found] == [disk.id]
    assert [d.id for d in disks.list(search=f"vm_names={vms[0].name}")] == [disk.id]
    assert [d.id for d in disks.list(search=f"id={disk.id}")] == [disk.id]
    assert disks.list(search='name="list disk" and Storage.name=elsewhere') == []


def test_follow_inlines_what_is_linked(system, world, vms):
    vm = vms[1]
    disk = world.add_disk()
    world.attach_disk(vm, disk)
    nic = world.add_nic(vm)
    plain = world.vm_service(vm).get()
    assert (list(plain.nics), list(plain.disk_attachments)) == ([], [])
    followed = world.vm_service(vm).get(follow="nics,disk_attachments.disk,cluster")
    assert [n.mac.address for n in followed.nics] == [nic.mac.address]
    assert followed.disk_attachments[0].disk.provisioned_size == disk.provisioned_size
    assert followed.cluster.name == world.cluster.name


def test_follow_works_on_lists(system, vms):
    found = system.vms_service().list(search="name=list-*", follow="cluster,template")
    assert {vm.cluster.name for vm in found} == {"Default"}
    assert {vm.template.name for vm in found} == {"Blank"}


def test_links_can_be_followed_by_the_client(connection, world, vms):
    vm = world.vm_service(vms[1]).get()
    nics = connection.follow_link(vm.nics)
    assert [n.name for n in nics] == ["nic1"]
    assert connection.follow_link(vm.cluster).name == "Default"


def test_a_missing_entity_is_not_found(system):
    with pytest.raises(sdk.NotFoundError) as refused:
        system.vms_service().vm_service("12345678-1234-1234-1234-123456789abc").get()
    assert refused.value.code == 404


def test_an_id_that_is_none_is_a_bad_request(system):
    with pytest.raises(sdk.Error) as refused:
        system.vms_service().vm_service("not-a-uuid").get()
    assert refused.value.code == 400
    assert refused.value.fault.reason == "Operation failed"
