"""ibm-platform-services: groups, instances of services, their keys, what is left of them, tags, search, catalogue."""

import pytest
from ibm_cloud_sdk_core import ApiException
from ibm_platform_services.global_search_v2 import ScanResult
from ibm_platform_services.global_tagging_v1 import Resource, TagResults
from ibm_platform_services.resource_controller_v2 import ResourceInstancesPager
from simulator import wait_for

COS_PLAN = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87"
POWER_PLAN = "f165dd34-3a40-423b-9d95-e90a23f724dd"


def test_groups(clients):
    groups = clients.manager.list_resource_groups(account_id=clients.ready["account"]).get_result()["resources"]
    assert [group["name"] for group in groups if group["default"]] == ["Default"]
    named = clients.manager.list_resource_groups(name="landfall").get_result()["resources"]
    assert [group["name"] for group in named] == ["landfall"]
    assert clients.manager.get_resource_group(named[0]["id"]).get_result()["id"] == named[0]["id"]


def test_a_workspace(clients):
    controller = clients.controller
    made = controller.create_resource_instance(
        name="short-lived", target="dal12", resource_group=clients.group, resource_plan_id=POWER_PLAN, tags=["mine"]
    )
    assert made.get_status_code() in (201, 202)
    guid = made.get_result()["guid"]
    assert made.get_result()["state"] in ("provisioning", "active")
    look = lambda: controller.get_resource_instance(guid).get_result()
    seen = wait_for("the workspace", look, lambda own: own["state"] == "active")
    assert (seen["type"], seen["region_id"], seen["id"]) == ("composite_instance", "dal12", seen["crn"])
    listed = controller.list_resource_instances(name="short-lived").get_result()
    assert (listed["rows_count"], listed["next_url"]) == (1, None)
    assert controller.get_resource_instance(seen["crn"]).get_result()["guid"] == guid
    assert controller.update_resource_instance(guid, name="renamed").get_result()["name"] == "renamed"
    assert controller.delete_resource_instance(guid, recursive=True).get_status_code() in (202, 204)
    wait_for("its removal", look, lambda own: own["state"] == "removed")
    assert not controller.list_resource_instances(guid=guid).get_result()["resources"]


def test_mistakes(clients):
    for fields in (
        {"target": "nowhere", "resource_plan_id": POWER_PLAN},
        {"target": "dal10", "resource_plan_id": "none"},
    ):
        with pytest.raises(ApiException) as refused:
            clients.controller.create_resource_instance(name="x", resource_group=clients.group, **fields)
        assert refused.value.status_code == 400
    with pytest.raises(ApiException) as refused:
        clients.controller.get_resource_instance("12345678-1234-1234-1234-123456789012")
    assert refused.value.status_code == 404


def test_pages(clients):
    made = [
        clients.controller.create_resource_instance(
            name=f"page-{number}", target="Global", resource_group=clients.group, resource_plan_id=COS_PLAN
        ).get_result()["guid"]
        for number in range(7)
    ]
    pager = ResourceInstancesPager(client=clients.controller, resource_plan_id=COS_PLAN, limit=3)
    pages = []
    while pager.has_next():
        pages.append([own["guid"] for own in pager.get_next()])
    assert all(len(page) <= 3 for page in pages) and len(pages) >= 3
    assert set(made) <= {guid for page in pages for guid in page}
    for guid in made:
        clients.controller.delete_resource_instance(guid)


def test_object_storage_leaves_something_to_reclaim(clients):
    controller = clients.controller
    guid = controller.create_resource_instance(
        name="left-over", target="Global", resource_group=clients.group, resource_plan_id=COS_PLAN
    ).get_result()["guid"]
    key = controller.create_resource_key(name="signing", source=guid, parameters={"HMAC": True}, role="Writer").get_result()
    assert set(key["credentials"]["cos_hmac_keys"]) == {"access_key_id", "secret_access_key"}
    with pytest.raises(ApiException):
        controller.delete_resource_instance(guid)
    controller.delete_resource_instance(guid, recursive=True)
    assert controller.get_resource_instance(guid).get_result()["state"] == "pending_reclamation"
    (left,) = controller.list_reclamations(resource_instance_id=guid).get_result()["resources"]
    controller.run_reclamation_action(left["id"], "reclaim")
    assert controller.get_resource_instance(guid).get_result()["state"] == "removed"
    assert not controller.list_reclamations(resource_instance_id=guid).get_result()["resources"]


def test_tags_and_search(clients):
    own = clients.controller.create_resource_instance(
        name="tagged-storage", target="Global", resource_group=clients.group, resource_plan_id=COS_PLAN
    ).get_result()
    attached = clients.tagging.attach_tag(resources=[{"resource_id": own["crn"]}], tag_names=["cluster:demo"]).get_result()
    assert not attached["results"][0]["is_error"]
    tags = clients.tagging.list_tags(attached_to=own["crn"]).get_result()["items"]
    assert [tag["name"] for tag in tags] == ["cluster:demo"]
    wait_for_tag(clients, "cluster:demo", 1)
    found = clients.search.search(query='tags:"cluster:demo" AND name:tagged*').get_result()["items"]
    assert [item["crn"] for item in found] == [own["crn"]]
    clients.tagging.detach_tag(resources=[{"resource_id": own["crn"]}], tag_names=["cluster:demo"])
    assert not clients.search.search(query='tags:"cluster:demo"').get_result()["items"]


def wait_for_tag(clients, tag, count):
    """The search learns of tags later than they are there."""
    look = lambda: clients.search.search(query=f'tags:"{tag}"', fields=["*"], limit=100).get_result()["items"]
    return wait_for(f"{count} things that are tagged {tag}", look, lambda items: len(items) == count)


def test_a_tag_is_on_what_every_service_made(clients):
    """What an installer tags, each way: with the request that makes it, and afterwards by its CRN."""
    tag = "landfall:a-bcdfg"
    power = clients.workspace("tagged-workspace")
    network = power.post(
        "./networks", {"type": "vlan", "cidr": "10.77.0.0/24", "name": "tagged", "userTags": [tag]}
    ).json()
    assert network["userTags"] == [tag]
    volume = power.post("./volumes", {"name": "tagged", "size": 1, "userTags": [tag]}).json()
    vpc = clients.vpc.create_vpc(name="tagged-vpc").get_result()
    gateway = clients.transit.create_transit_gateway(location="us-south", name="tagged-tg", global_=False).get_result()
    storage = clients.controller.create_resource_instance(
        name="tagged-at-once", target="Global", resource_group=clients.group, resource_plan_id=COS_PLAN, tags=[tag]
    ).get_result()
    resources = [Resource(resource_id=own["crn"]) for own in (vpc, gateway)]
    answer = clients.tagging.attach_tag(resources=resources, tag_names=[tag], tag_type="user").get_result()
    results = TagResults.from_dict(answer).results
    assert [(own.resource_id, own.is_error) for own in results] == [(vpc["crn"], False), (gateway["crn"], False)]
    found = wait_for_tag(clients, tag, 5)
    assert {item["crn"] for item in found} == {own["crn"] for own in (network, volume, vpc, gateway, storage)}
    assert all(item["tags"] == [tag] for item in found)
    # Another cluster's tag is another tag, also if it holds this one.
    clients.tagging.attach_tag(resources=[{"resource_id": vpc["crn"]}], tag_names=["landfall:ba-bcdfg"])
    wait_for_tag(clients, "landfall:ba-bcdfg", 1)
    assert len(clients.search.search(query='tags:"a-bcdfg"').get_result()["items"]) == 0
    # What is renamed keeps its tags; what is gone is not found.
    clients.vpc.update_vpc(vpc["id"], {"name": "renamed"})
    assert "renamed" in [item["name"] for item in wait_for_tag(clients, tag, 5)]
    clients.transit.delete_transit_gateway(gateway["id"])
    wait_for_tag(clients, tag, 4)


def test_a_search_has_pages_and_fields(clients):
    made = [
        clients.controller.create_resource_instance(
            name=f"searched-{number}", target="Global", resource_group=clients.group, resource_plan_id=COS_PLAN, tags=["paged"]
        ).get_result()["crn"]
        for number in range(5)
    ]
    wait_for_tag(clients, "paged", 5)
    found, cursor = [], None
    while True:
        named = {"search_cursor": cursor} if cursor else {"query": 'tags:"paged"', "fields": ["crn"]}
        page = ScanResult.from_dict(clients.search.search(limit=2, **named).get_result())
        assert page.limit == 2 and len(page.items) <= 2
        found += [item.crn for item in page.items]
        cursor = page.search_cursor
        if cursor is None:
            break
    assert sorted(found) == sorted(made)
    (one, *_) = clients.search.search(query='tags:"paged"').get_result()["items"]
    assert set(one) == {"account_id", "name", "type", "family", "crn"}


def test_tags_that_are_refused(clients):
    with pytest.raises(ApiException) as refused:
        clients.tagging.attach_tag(resources=[{"resource_id": "crn:v1:x"}], tag_names=["not/allowed"])
    assert refused.value.status_code == 400
    crn = "crn:v1:bluemix:public:is:us-south:a/0::vpc:r006-none"
    (result,) = clients.tagging.attach_tag(resources=[{"resource_id": crn}], tag_names=["fine"]).get_result()["results"]
    assert result["is_error"] and result["message"]


def test_the_catalogue(clients):
    entry = clients.catalog.get_catalog_entry("abd259f0-9990-11e8-acc8-b9f54a8f1661").get_result()
    assert (entry["name"], entry["kind"]) == ("power-iaas", "service")
    plans = clients.catalog.get_child_objects(entry["id"], "plan").get_result()["resources"]
    assert POWER_PLAN in [plan["id"] for plan in plans]
