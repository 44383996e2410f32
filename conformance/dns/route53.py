"""Route 53 through boto3, for tests that are not written in Python.

    route53.py ENDPOINT create-zone NAME   makes a zone and prints its id
    route53.py ENDPOINT list ID            prints all record sets but SOA and NS, one record per line
    route53.py ENDPOINT upsert ID NAME TYPE TTL VALUE
"""

import sys

import boto3


def main(endpoint, verb, *arguments):
    route53 = boto3.client(
        "route53", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )
    if verb == "create-zone":
        (name,) = arguments
        count = len(route53.list_hosted_zones()["HostedZones"])
        zone = route53.create_hosted_zone(Name=name, CallerReference=f"{name}-{count}")
        print(zone["HostedZone"]["Id"].rsplit("/", 1)[-1])
    elif verb == "list":
        (zone,) = arguments
        for page in route53.get_paginator("list_resource_record_sets").paginate(HostedZoneId=zone):
            for record_set in page["ResourceRecordSets"]:
                if record_set["Type"] not in ("SOA", "NS"):
                    for record in record_set["ResourceRecords"]:
                        print(record_set["Name"], record_set["TTL"], record_set["Type"], record["Value"])
    elif verb == "upsert":
        zone, name, kind, ttl, value = arguments
        record_set = {"Name": name, "Type": kind, "TTL": int(ttl), "ResourceRecords": [{"Value": value}]}
        changes = [{"Action": "UPSERT", "ResourceRecordSet": record_set}]
        route53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": changes})
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
