"""Who looks after the machines: the user, unless the install-config says that the cluster does."""


def manifests(lab):
    return sorted(path.name for path in (lab.install / "manifests").iterdir())


def test_a_cluster_that_is_to_look_after_its_machines(labs):
    lab, _ = labs("managed", masters=1, workers=1)
    config = lab.install / "install-config.yaml"
    before = config.read_text()

    # Without a kit, the cluster looks after its machines; with one, whoever made them does. Nothing changes unasked.
    lab.landfall("create", "manifests")
    made = manifests(lab)
    assert "31-machineset-worker.yaml" in made and "40-machine-controller.yaml" in made
    asked = lab.landfall("upi", "create", expect=3)
    assert "31-machineset-worker.yaml is out of date and no longer needed" in asked.stderr and manifests(lab) == made
    done = lab.landfall("upi", "create", "--regenerate")
    assert "look after its machines" not in done.stderr
    assert not [name for name in manifests(lab) if "machine" in name]
    # All commands know from now on whose the machines are.
    lab.landfall("create", "manifests")
    assert not [name for name in manifests(lab) if "machine" in name]
    assert "the cluster does not manage its machines" in lab.landfall("machines", "list", expect=3).stderr

    # The user asks for it.
    config.write_text(before + "machines: managed\n")
    done = lab.landfall("upi", "create", "--regenerate")
    assert "the cluster will look after its machines by itself" in done.stderr
    assert manifests(lab) == made
