"""Records that Landfall makes itself, because the user asked for it: in a BIND that takes updates."""

import base64
import re
import subprocess

ZONE = "$TTL 60\n@ IN SOA ns hostmaster 1 3600 600 604800 60\n@ IN NS ns\nns IN A 127.0.0.1\n"


def dig(lab, name, kind):
    address, port = lab.resolver.split(":")
    command = ["dig", f"@{address}", "-p", port, "+short", name, kind]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def test_records_are_made_in_a_zone_of_the_users(labs):
    lab, _ = labs("apply", masters=1, workers=1)
    home = lab.directory / "named"
    home.mkdir()
    secret = base64.b64encode(b"not a secret, but as long as one").decode()
    address, port = lab.resolver.split(":")
    reverse = f"{lab.second}.127.in-addr.arpa"
    for zone in ["example.com", reverse]:
        text = ZONE if zone == "example.com" else ZONE.replace("ns IN A 127.0.0.1\n", "").replace("NS ns", "NS ns.example.com.")
        (home / f"db.{zone}").write_text(text)
    zones = "".join(
        f'zone "{zone}" {{ type primary; file "{home}/db.{zone}"; allow-update {{ key landfall; }}; allow-transfer {{ any; }}; }};\n'
        for zone in ["example.com", reverse]
    )
    (home / "named.conf").write_text(
        f'key "landfall" {{ algorithm hmac-sha256; secret "{secret}"; }};\n'
        f'options {{ directory "{home}"; listen-on port {port} {{ {address}; }}; listen-on-v6 {{ none; }}; pid-file none; '
        f'session-keyfile none; recursion no; dnssec-validation no; empty-zones-enable no; notify no; }};\ncontrols {{ }};\n{zones}'
    )
    lab._start("named", ["named", "-g", "-4", "-c", str(home / "named.conf")], (address, int(port)))
    key = lab.install / "tsig.key"
    key.write_text(secret)
    key.chmod(0o600)
    config = lab.install / "install-config.yaml"
    config.write_text(
        config.read_text()
        + f"dns:\n  rfc2136: {{server: '{lab.resolver}', zone: example.com, keyName: landfall, keyFile: tsig.key, reverseZones: [{reverse}]}}\n"
    )

    lab.landfall("upi", "create", "--apply-dns")
    inventory = (lab.kit / "inventory.yml").read_text()
    machines = re.findall(r"name: (\S+), role: .*addresses: \[([^\]]*)\]", inventory)
    assert len(machines) == 3
    for name, machine in machines:
        assert dig(lab, f"{name}.demo.example.com", "A") == machine
        back = ".".join(reversed(machine.split("."))) + ".in-addr.arpa"
        assert dig(lab, back, "PTR") == f"{name}.demo.example.com."
    assert dig(lab, "api-int.demo.example.com", "A") == f"{lab.prefix}.5"
    assert [f["verdict"] for f in lab.check("dns")] == ["ok"]

    # Again, it changes nothing; and all of it goes.
    lab.landfall("upi", "create", "--apply-dns")
    lab.landfall("dns", "remove")
    for name in ["api", "api-int", machines[0][0]]:
        assert dig(lab, f"{name}.demo.example.com", "A") == ""
