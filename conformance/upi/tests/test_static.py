"""A cluster without any DHCP: addresses and all else are in the machines' own configs. Before it, a real nginx."""


def test_machines_with_static_addresses(labs):
    lab, engine = labs("static", masters=1, workers=1, dhcp=False)
    lab.landfall("upi", "create")
    inventory = lab.kit / "inventory.yml"
    text = inventory.read_text()
    inventory.write_text(text.replace("static: false", "static: true"))
    refused = lab.landfall("upi", "create", expect=3)
    assert "ignition: full" in refused.stderr
    inventory.write_text(text.replace("static: false", "static: true").replace("ignition: pointer", "ignition: full"))
    lab.landfall("upi", "create")
    lab.play(engine, "vms.yml")
    lab.landfall("upi", "create")
    lab.start_named()
    lab.start_nginx()
    assert [f["verdict"] for f in lab.check("lb")] == ["ok"] * 4
    # In any order: none needs a config server.
    for playbook in ["bootstrap.yml", "masters.yml", "workers.yml"]:
        lab.play(engine, playbook)
    lab.landfall("wait-for", "install-complete")
    assert [f["verdict"] for f in lab.check("dhcp")] == ["ok"]
    for number, role in [(17, "master"), (18, "worker")]:
        (name,) = [m["name"] for m in engine.admin("GET", "/guests")["guests"] if f"-{role}-" in m["name"]]
        assert f"{name} is up at {lab.prefix}.{number}" in lab.console(engine, name)
    # Everything went through nginx: it leads to whoever is up.
    assert [f["verdict"] for f in lab.check("lb")] == ["ok"] * 4
    assert "leads to 1 of" in " ".join(f["message"] for f in lab.check("lb"))
