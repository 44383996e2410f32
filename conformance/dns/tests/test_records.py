"""Zones and records, as the documentation of the API describes them."""

import cloudflare
import pytest


def make(account, **fields):
    client, zone = account
    return client.dns.records.create(zone_id=zone, **{"type": "A", "ttl": 300, "proxied": False, **fields})


def codes(caught):
    return [error["code"] for error in caught.value.body["errors"]]


def test_a_zone_is_found_by_its_name(account):
    client, zone = account
    found = client.zones.get(zone_id=zone)
    assert (found.name, found.status) == ("example.com", "active")
    assert len(found.name_servers) == 2
    assert list(client.zones.list(name="example.net")) == []


def test_a_record_is_made_read_changed_and_removed(account):
    client, zone = account
    record = make(account, name="api.demo.example.com", content="192.0.2.5")
    assert (record.name, record.content, record.ttl, record.proxied) == ("api.demo.example.com", "192.0.2.5", 300, False)
    assert client.dns.records.get(record.id, zone_id=zone).content == "192.0.2.5"
    fields = {"type": "A", "name": "api.demo.example.com", "content": "192.0.2.6"}
    assert client.dns.records.edit(record.id, zone_id=zone, ttl=60, **fields).ttl == 60
    assert client.dns.records.update(record.id, zone_id=zone, ttl=1, **fields).content == "192.0.2.6"
    assert client.dns.records.delete(record.id, zone_id=zone).id == record.id
    with pytest.raises(cloudflare.NotFoundError) as caught:
        client.dns.records.get(record.id, zone_id=zone)
    assert codes(caught) == [81044]


def test_services_have_parts(account):
    client, zone = account
    parts = {"priority": 0, "weight": 10, "port": 2380, "target": "etcd-0.demo.example.com"}
    name = "_etcd-server-ssl._tcp.demo.example.com"
    fields = {"type": "SRV", "name": name, "ttl": 300, "zone_id": zone}
    record = client.dns.records.create(data=parts, **fields)
    assert (record.name, record.content, record.data.to_dict()) == (name, "0 10 2380 etcd-0.demo.example.com", parts)
    changed = client.dns.records.update(record.id, data={**parts, "port": 2379}, **fields)
    assert changed.data.port == client.dns.records.get(record.id, zone_id=zone).data.port == 2379
    for wrong, code in [({"content": "0 10 2380 etcd-0.demo.example.com"}, 9101), ({"data": {**parts, "port": 70000}}, 1004)]:
        with pytest.raises(cloudflare.BadRequestError) as caught:
            client.dns.records.create(**fields, **wrong)
        assert codes(caught) == [code]
    with pytest.raises(cloudflare.BadRequestError) as caught:
        client.dns.records.create(data={**parts, "port": 2379}, **fields)
    assert codes(caught) == [81058]


def test_names_without_their_zone_get_it(account):
    assert make(account, name="www", content="192.0.2.7").name == "www.example.com"
    assert make(account, name="@", content="192.0.2.7").name == "example.com"
    assert make(account, name="notexample.com", content="192.0.2.7").name == "notexample.com.example.com"


def test_lists_are_filtered_and_paged(account):
    client, zone = account
    for number in range(7):
        make(account, name="api.demo.example.com", content=f"192.0.2.{number + 1}")
    make(account, type="TXT", name="_landfall.api.demo.example.com", content='"heritage=landfall"')
    make(account, name="*.apps.demo.example.com", content="192.0.2.9")

    def names(**query):
        return [record.name for record in client.dns.records.list(zone_id=zone, **query)]

    assert names(name={"exact": "api.demo.example.com"}) == ["api.demo.example.com"] * 7
    assert names(name={"exact": "*.apps.demo.example.com"}) == ["*.apps.demo.example.com"]
    assert names(name={"endswith": "demo.example.com"}, type="TXT") == ["_landfall.api.demo.example.com"]
    assert len(names(per_page=5)) == 9
    page = client.dns.records.list(zone_id=zone, per_page=5, page=2)
    assert (page.result_info.page, page.result_info.per_page, len(page.result)) == (2, 5, 4)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": "not an address"}, 9005),
        ({"type": "AAAA", "content": "192.0.2.1"}, 9006),
        ({"content": "192.0.2.1", "ttl": 30}, 9021),
        ({"type": "TXT", "content": '"text"', "proxied": True}, 9004),
    ],
)
def test_what_is_not_valid_is_refused(account, fields, code):
    with pytest.raises(cloudflare.BadRequestError) as caught:
        make(account, name="x.example.com", **fields)
    assert codes(caught) == [code]


def test_what_cannot_stand_beside_each_other_does_not(account):
    make(account, name="a.example.com", content="192.0.2.1")
    make(account, name="a.example.com", content="192.0.2.2")
    with pytest.raises(cloudflare.BadRequestError) as caught:
        make(account, name="a.example.com", content="192.0.2.1")
    assert codes(caught) == [81058]
    with pytest.raises(cloudflare.BadRequestError) as caught:
        make(account, type="CNAME", name="a.example.com", content="b.example.com")
    assert codes(caught) == [81053]


def test_tokens_are_looked_at(simulator):
    ready = simulator("--token", "edit-me", "--read-token", "read-me")

    def client(token):
        return cloudflare.Cloudflare(api_token=token, base_url=ready["url"], max_retries=0)

    zone = next(iter(client("read-me").zones.list())).id
    with pytest.raises(cloudflare.PermissionDeniedError) as caught:
        client("read-me").dns.records.create(zone_id=zone, type="A", name="a", content="192.0.2.1", ttl=60)
    assert codes(caught) == [10000]
    with pytest.raises(cloudflare.PermissionDeniedError) as caught:
        list(client("guessed").zones.list())
    assert codes(caught) == [9109]
    assert client("edit-me").user.tokens.verify().status == "active"


def test_faults_speak_the_dialect(simulator):
    ready = simulator("--fault", "GET /client/v4/zones* nth=1 status=429 body=platform")
    client = cloudflare.Cloudflare(api_token=ready["token"], base_url=ready["url"], max_retries=0)
    with pytest.raises(cloudflare.RateLimitError) as caught:
        client.zones.list()
    assert codes(caught) == [971]
    assert len(list(client.zones.list())) == 1
