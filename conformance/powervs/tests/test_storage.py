"""ibm-cos-sdk: buckets and objects, with tokens and with signatures, and URLs that are signed in advance."""

import time

import ibm_boto3
import pytest
import requests
from ibm_botocore.client import Config
from ibm_botocore.exceptions import ClientError
from power import TIMEOUT
from simulator import wait_for

PLAN = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87"


@pytest.fixture(scope="module")
def instance(clients):
    return clients.controller.create_resource_instance(
        name="objects", target="Global", resource_group=clients.group, resource_plan_id=PLAN
    ).get_result()


def signing(clients, instance, **changes):
    key = clients.controller.create_resource_key(
        name="signer", source=instance["guid"], parameters={"HMAC": True}, role="Writer"
    ).get_result()["credentials"]["cos_hmac_keys"]
    arguments = {
        "aws_access_key_id": key["access_key_id"],
        "aws_secret_access_key": key["secret_access_key"],
        "endpoint_url": clients.services["COS"],
        "region_name": "us-south",
        "config": Config(signature_version="s3v4", s3={"addressing_style": "path"}),
        "verify": clients.simulator.ca_file,
    }
    return ibm_boto3.client("s3", **{**arguments, **changes})


@pytest.fixture(scope="module")
def by_signature(clients, instance):
    return signing(clients, instance)


@pytest.fixture(scope="module")
def by_token(clients, instance):
    return ibm_boto3.client(
        "s3",
        ibm_api_key_id=clients.ready["api_key"],
        ibm_service_instance_id=instance["crn"],
        ibm_auth_endpoint=clients.services["IAM"] + "/identity/token",
        endpoint_url=clients.services["COS"],
        config=Config(signature_version="oauth", s3={"addressing_style": "path"}),
        verify=clients.simulator.ca_file,
    )


@pytest.fixture(params=["by_signature", "by_token"])
def store(request):
    return request.getfixturevalue(request.param)


def code(error):
    return error.value.response["Error"]["Code"]


def test_buckets_and_objects(store, clients):
    bucket = f"bucket-{time.monotonic_ns()}"
    store.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-south-smart"})
    with pytest.raises(ClientError) as twice:
        store.create_bucket(Bucket=bucket)
    assert code(twice) == "BucketAlreadyOwnedByYou"
    assert bucket in [own["Name"] for own in store.list_buckets()["Buckets"]]
    assert store.get_bucket_location(Bucket=bucket)["LocationConstraint"] == "us-south-smart"
    store.head_bucket(Bucket=bucket)
    for key in ("control-plane/a b+c", "control-plane/ü", "other"):
        store.put_object(Bucket=bucket, Key=key, Body=key.encode(), Metadata={"mark": "1"})
        got = store.get_object(Bucket=bucket, Key=key)
        assert (got["Body"].read(), got["Metadata"]) == (key.encode(), {"mark": "1"})
    assert store.head_object(Bucket=bucket, Key="other")["ContentLength"] == 5
    assert store.get_object(Bucket=bucket, Key="other", Range="bytes=1-2")["Body"].read() == b"th"
    listed = store.list_objects_v2(Bucket=bucket, Prefix="control-plane/")
    assert [own["Key"] for own in listed["Contents"]] == ["control-plane/a b+c", "control-plane/ü"]
    assert [own["Key"] for own in store.list_objects(Bucket=bucket)["Contents"]][-1] == "other"
    with pytest.raises(ClientError) as full:
        store.delete_bucket(Bucket=bucket)
    assert code(full) == "BucketNotEmpty"
    with pytest.raises(ClientError) as missing:
        store.get_object(Bucket=bucket, Key="none")
    assert code(missing) == "NoSuchKey"
    store.delete_object(Bucket=bucket, Key="other")
    keys = [{"Key": own["Key"]} for own in listed["Contents"]]
    assert len(store.delete_objects(Bucket=bucket, Delete={"Objects": keys})["Deleted"]) == 2
    store.delete_bucket(Bucket=bucket)
    with pytest.raises(ClientError) as gone:
        store.get_object(Bucket=bucket, Key="none")
    assert code(gone) == "NoSuchBucket"


def test_pages_of_objects(by_signature):
    by_signature.create_bucket(Bucket="paged")
    for number in range(5):
        by_signature.put_object(Bucket="paged", Key=f"key-{number}", Body=b"x")
    pages = by_signature.get_paginator("list_objects_v2").paginate(Bucket="paged", PaginationConfig={"PageSize": 2})
    assert [len(page["Contents"]) for page in pages] == [2, 2, 1]


def test_signed_in_advance(by_signature, clients):
    ca_file = clients.simulator.ca_file
    by_signature.create_bucket(Bucket="signed")
    where = {"Bucket": "signed", "Key": "bootstrap.ign"}
    put = by_signature.generate_presigned_url("put_object", Params=where, ExpiresIn=3600)
    assert requests.put(put, data=b"{}", verify=ca_file, timeout=TIMEOUT).status_code == 200
    get = by_signature.generate_presigned_url("get_object", Params=where, ExpiresIn=3600)
    assert requests.get(get, verify=ca_file, timeout=TIMEOUT).content == b"{}"
    for wrong in (get.replace("bootstrap.ign", "other.ign"), get[:-1] + ("0" if get[-1] != "0" else "1")):
        answer = requests.get(wrong, verify=ca_file, timeout=TIMEOUT)
        assert (answer.status_code, "SignatureDoesNotMatch" in answer.text) == (403, True)
    # What is good for reading is not good for writing.
    assert requests.put(get, data=b"", verify=ca_file, timeout=TIMEOUT).status_code == 403
    bare = requests.get(get.split("?")[0], verify=ca_file, timeout=TIMEOUT)
    assert (bare.status_code, "AccessDenied" in bare.text) == (403, True)


def test_signatures_in_urls_expire(by_signature, clients):
    """In simulated time: two hundred seconds pass in one."""
    by_signature.create_bucket(Bucket="expiring")
    by_signature.put_object(Bucket="expiring", Key="a", Body=b"a")
    url = by_signature.generate_presigned_url("get_object", Params={"Bucket": "expiring", "Key": "a"}, ExpiresIn=1200)
    assert requests.get(url, verify=clients.simulator.ca_file, timeout=TIMEOUT).status_code == 200
    ask = lambda: requests.get(url, verify=clients.simulator.ca_file, timeout=TIMEOUT)
    answer = wait_for("the end of the signature", ask, lambda answer: answer.status_code != 200, every=0.1)
    assert (answer.status_code, "Request has expired" in answer.text) == (403, True)


def test_a_wrong_secret(clients, instance):
    wrong = signing(clients, instance, aws_secret_access_key="wrong")
    with pytest.raises(ClientError) as refused:
        wrong.list_buckets()
    assert code(refused) == "SignatureDoesNotMatch"
    unknown = signing(clients, instance, aws_access_key_id="nobody")
    with pytest.raises(ClientError) as refused:
        unknown.list_buckets()
    assert code(refused) == "InvalidAccessKeyId"
