"""Whether what the page installs is what is installed here."""

import sys
from importlib.metadata import version

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet


def packages(wanted):
    for text in wanted:
        requirement = Requirement(text)
        assert requirement.specifier.contains(version(requirement.name)), f"{text}: {version(requirement.name)} is installed"


def collections(path):
    import json
    from pathlib import Path

    import ansible_collections.ovirt.ovirt as ovirt

    with open(path) as file:
        (wanted,) = yaml.safe_load(file)["collections"]
    manifest = json.loads((Path(list(ovirt.__path__)[0]) / "MANIFEST.json").read_text())["collection_info"]
    assert wanted["name"] == f"{manifest['namespace']}.{manifest['name']}", wanted
    assert SpecifierSet(wanted["version"]).contains(manifest["version"]), f"{wanted}: {manifest['version']} is installed"


if sys.argv[1] == "packages":
    packages(sys.argv[2:])
else:
    collections(sys.argv[2])
