"""A template from an image: packed, uploaded, and begun again after an upload that broke off."""

import gzip
import subprocess

import pytest

pytestmark = pytest.mark.story


@pytest.fixture(scope="module")
def upload(labs, tmp_path_factory):
    image = tmp_path_factory.mktemp("image") / "os.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", image, "64M"], check=True)
    subprocess.run(["qemu-io", "-c", "write -P 7 0 8M", image], check=True, capture_output=True)
    packed = image.with_suffix(".qcow2.gz")
    packed.write_bytes(gzip.compress(image.read_bytes()))
    lab, engine = labs("image", masters=1, workers=0, image=f"disk: {packed}")
    lab.landfall("upi", "create")
    return lab, engine


def test_template_is_made_of_an_image(upload):
    lab, engine = upload
    dry = lab.play(engine, "image.yml", check=True)
    assert dry.writes() == [] and "Say what would be uploaded" in dry.changed()

    # The upload breaks off; the next run begins again.
    engine.add_fault("PUT /images/* status=500")
    lab.play(engine, "image.yml", fails=True)
    engine.clear_faults()
    assert "Upload the image" in lab.play(engine, "image.yml").changed()

    again = lab.play(engine, "image.yml")
    assert again.changed() == [] and again.writes() == []
    lab.play(engine, "vms.yml")
    findings = lab.check("ovirt")
    assert [f["verdict"] for f in findings] == ["ok"], findings


def test_nothing_of_it_is_left(upload):
    lab, engine = upload
    assert "Remove the template" in lab.play(engine, "retire-all.yml").changed()
    again = lab.play(engine, "retire-all.yml")
    assert again.changed() == [] and again.writes() == []
    assert "nothing carries the cluster's mark" in lab.landfall("destroy", "cluster", "--dry-run").stdout


def test_missing_template_is_told(labs):
    lab, engine = labs("missing", masters=1, workers=0, image="template: nothing")
    lab.landfall("upi", "create")
    told = lab.play(engine, "image.yml", fails=True)
    assert "The engine has no template nothing" in told["Make sure that a template of your own is there"]["msg"]
