"""Tags, users, roles and permissions."""

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types

ROOT_TAG = "00000000-0000-0000-0000-000000000000"


def test_tags_mark_vms_and_find_them_again(system, world):
    tags = system.tags_service()
    tag = tags.add(types.Tag(name=world.name("infra"), description="a cluster's mark"))
    assert tag.parent.id == ROOT_TAG
    vm = world.add_vm()
    assigned = world.vm_service(vm).tags_service()
    assigned.add(types.Tag(name=tag.name))
    assert [t.name for t in assigned.list()] == [tag.name]
    assert [v.id for v in system.vms_service().list(search=f"tag={tag.name}")] == [vm.id]
    assert system.vms_service().list(search="tag=no-such-tag") == []
    assigned.tag_service(tag.id).remove()
    assert assigned.list() == []
    assert system.vms_service().list(search=f"tag={tag.name}") == []
    world.remove_vm(vm)
    tags.tag_service(tag.id).remove()
    with pytest.raises(sdk.NotFoundError):
        tags.tag_service(tag.id).get()


def test_tags_form_a_tree(system, world):
    tags = system.tags_service()
    parent = tags.add(types.Tag(name=world.name("parent")))
    child = tags.add(types.Tag(name=world.name("child"), parent=types.Tag(id=parent.id)))
    assert child.parent.id == parent.id
    vm = world.add_vm()
    world.vm_service(vm).tags_service().add(types.Tag(id=child.id))
    # Who looks for a tag finds what its children mark.
    assert [v.id for v in system.vms_service().list(search=f"tag={parent.name}")] == [vm.id]
    world.remove_vm(vm)
    tags.tag_service(parent.id).remove()
    assert child.id not in [t.id for t in tags.list()]


def test_the_root_tag_is_listed(system):
    assert ROOT_TAG in [tag.id for tag in system.tags_service().list()]


def test_a_tag_name_is_used_once(system, world):
    name = world.name("tag")
    tag = system.tags_service().add(types.Tag(name=name))
    with pytest.raises(sdk.Error) as refused:
        system.tags_service().add(types.Tag(name=name))
    assert refused.value.code == 409
    system.tags_service().tag_service(tag.id).remove()


def test_permissions_are_given_and_taken(system, world):
    roles = {role.name: role for role in system.roles_service().list()}
    assert roles["SuperUser"].administrative is True
    assert roles["UserRole"].administrative is False
    user = system.users_service().list(search="usrname=admin*")[0]
    vm = world.add_vm()
    permissions = world.vm_service(vm).permissions_service()
    before = {p.id for p in permissions.list()}
    given = permissions.add(
        types.Permission(user=types.User(id=user.id), role=types.Role(id=roles["UserRole"].id))
    )
    now = {p.id: p for p in permissions.list()}
    assert set(now) - before == {given.id}
    assert now[given.id].role.id == roles["UserRole"].id
    assert now[given.id].user.id == user.id
    permissions.permission_service(given.id).remove()
    assert {p.id for p in permissions.list()} == before
    world.remove_vm(vm)


def test_a_role_lists_its_permits(system):
    role = next(r for r in system.roles_service().list() if r.name == "UserVmManager")
    permits = system.roles_service().role_service(role.id).permits_service().list()
    assert "run_vm" in {permit.name for permit in permits}


def test_users_can_be_added_and_found(system, world):
    users = system.users_service()
    name = world.name("user")
    user = users.add(types.User(user_name=f"{name}@internal", domain=types.Domain(name="internal-authz")))
    assert [u.id for u in users.list(search=f"usrname={name}*")] == [user.id]
    users.user_service(user.id).remove()
    assert users.list(search=f"usrname={name}*") == []
