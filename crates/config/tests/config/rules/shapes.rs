//! Types, unknown fields, choices and lifetimes.

use super::{refused, welcome};

#[test]
fn platforms() {
    refused(&[
        ("platform={}", "platform", "must name one of: ovirt"),
        (
            "platform={ovrit: {}}",
            "platform.ovrit",
            "is not known; there is: ovirt, packet, powervm, powervs\n    did you mean 'ovirt'?",
        ),
        ("platform={aws: {region: x}}", "platform.aws", "is not known; there is: ovirt, packet, powervm, powervs"),
        ("platform.none={}", "platform", "('ovirt, none') must name exactly one of: ovirt"),
        ("platform=ovirt", "platform", "must be a mapping, not text"),
        ("platform=", "platform", "is missing"),
        ("compute[0].platform={aws: {}}", "compute[0].platform.aws", "is not a known field"),
    ]);
}

#[test]
fn lifetimes() {
    refused(&[
        (
            "pki.certificateValidityDays=4000",
            "pki.certificateValidityDays",
            "must not be more than pki.caValidityDays, which is 3650",
        ),
        ("pki.caValidityDays=99999", "pki.caValidityDays", "from 1 to 36500"),
        ("pki.certificateValidityDays=0", "pki.certificateValidityDays", "from 1 to 36500"),
        ("pki.keyAlgorithm=rsa", "pki.keyAlgorithm", "must be 'ecdsa-p256', 'rsa-2048', 'rsa-3072' or 'rsa-4096'"),
        ("timeouts.image=0s", "timeouts.image", "must be longer than nothing"),
        ("timeouts.image=169h", "timeouts.image", "must be at most 168h"),
        ("timeouts.image=20", "timeouts.image", "must be a length of time"),
        ("timeouts.boot=20m", "timeouts.boot", "is not a known field\n    did you mean 'bootstrap'?"),
    ]);
    welcome(&["pki={caValidityDays: 365, keyAlgorithm: rsa-4096}", "timeouts={image: 1s, api: 168h}"]);
}

#[test]
fn wrong_types_everywhere() {
    refused(&[
        ("metadata=demo", "metadata", "('demo') must be a mapping, not text"),
        ("metadata=[]", "metadata", "must be a mapping, not a list"),
        ("compute={name: a}", "compute", "must be a list, not a mapping"),
        ("labels=[a]", "labels", "must be a mapping, not a list"),
        ("labels={a: 1}", "labels.a", "('1') must be text, not a number\n    write it in quotes"),
        ("distribution=[kubernetes]", "distribution", "must be 'kubernetes', 'openshift' or 'okd'"),
        ("loadBalancer=haproxy", "loadBalancer", "must be 'managed' or 'userManaged'"),
        ("loadBalancer=user-managed", "loadBalancer", "did you mean 'userManaged'?"),
        ("apiVersion=v2", "apiVersion", "('v2') must be 'v1'"),
        ("controlPlane=[]", "controlPlane", "must be a mapping, not a list"),
    ]);
}

#[test]
fn unknown_fields_are_errors_with_a_guess() {
    refused(&[
        ("baseDomian=x", "baseDomian", "is not a known field"),
        ("Metadata.name=x", "Metadata", "is not a known field"),
        // Two platforms have it, so nobody can guess.
        ("api_vips=[192.0.2.5]", "api_vips", "is not a known field"),
        ("machineNetwork=[]", "machineNetwork", "did you mean 'networking.machineNetwork'?"),
        ("platform.ovirt.storageDomain=x", "platform.ovirt.storageDomain", "is not a known field"),
        ("controlPlane.replica=3", "controlPlane.replica", "is not a known field"),
        ("compute[0].platform.ovirt.osdisk={}", "compute[0].platform.ovirt.osdisk", "did you mean 'osDisk'?"),
        (
            "networking.machineNetwork[0].hostPrefix=24",
            "networking.machineNetwork[0].hostPrefix",
            "is not a known field",
        ),
    ]);
}
