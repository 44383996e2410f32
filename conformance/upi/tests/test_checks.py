"""Each mistake that `landfall upi check` promises to find is made here, and found; with the right line to put it right."""

import itertools
import re
import subprocess

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types
from lab import free_port
from simulator import wait_for


# Of zones: each that BIND is to read is newer than the one before.
SERIALS = itertools.count(2)


@pytest.fixture(scope="module")
def ready(labs):
    """Machines are made and off, BIND and HAProxy run: nothing is wrong."""
    lab, engine = labs("checks", masters=1, workers=1)
    lab.landfall("upi", "create")
    lab.play(engine, "vms.yml")
    lab.landfall("upi", "create")
    lab.start_named()
    lab.start_haproxy()
    return lab, engine


def problems(findings):
    return [f for f in findings if f["verdict"] == "problem"]


def the_only(findings):
    (problem,) = problems(findings)
    return problem


def machine(lab, role):
    inventory = (lab.kit / "inventory.yml").read_text()
    return re.search(rf"name: (\S+), role: {role}", inventory).group(1)


def test_nothing_is_wrong_with_the_kit_as_it_is(ready):
    lab, _ = ready
    findings = lab.check()
    assert problems(findings) == [] and {f["check"] for f in findings} == {"dns", "dhcp", "load balancer", "ovirt"}
    text = lab.landfall("upi", "check").stdout
    assert "knows all" in text and "wrong" not in text


# DNS, with BIND serving what somebody wrote.


@pytest.fixture
def zone(ready):
    """Lets tests edit the zone of the cluster, and puts it back."""
    lab, _ = ready
    path = lab.directory / "named" / "db.demo.example.com"
    named = lab.processes[0]
    original = (lab.kit / "dns" / path.name).read_text()

    def write(text):
        serial = next(SERIALS)
        path.write_text(text.replace("( 1 ", f"( {serial} ", 1))
        named.send_signal(1)
        wait_for("BIND to read the zone", lambda: dig(lab.resolver, "demo.example.com", "SOA"), lambda soa: f" {serial} " in soa)

    yield original, write
    write(original)


def dig(server, name, kind):
    address, port = server.split(":")
    return subprocess.run(["dig", f"@{address}", "-p", port, "+short", name, kind], capture_output=True, text=True).stdout


def test_missing_record(ready, zone):
    lab, _ = ready
    original, write = zone
    write(re.sub(r"^api-int .*\n", "", original, flags=re.M))
    problem = the_only(lab.check("dns", expect=4))
    assert "knows no A record of api-int.demo.example.com" in problem["message"]
    assert problem["hint"] == f"api-int.demo.example.com. 300 IN A {lab.prefix}.5"


def test_wrong_address(ready, zone):
    lab, _ = ready
    original, write = zone
    write(original.replace(f"api IN A {lab.prefix}.5", f"api IN A {lab.prefix}.99"))
    problem = the_only(lab.check("dns", expect=4))
    assert f"api.demo.example.com A is {lab.prefix}.99 instead of {lab.prefix}.5" in problem["message"]


def test_wildcard_for_applications_is_missing(ready, zone):
    lab, _ = ready
    original, write = zone
    write(original.replace("*.apps IN A", "apps IN A"))
    problem = the_only(lab.check("dns", expect=4))
    assert problem["hint"] == f"*.apps.demo.example.com. 300 IN A {lab.prefix}.6"


def test_wildcard_for_everything(ready, zone):
    lab, _ = ready
    original, write = zone
    write(re.sub(r"^api-int .*\n", "", original, flags=re.M) + f"* IN A {lab.prefix}.6\n")
    first, second = problems(lab.check("dns", expect=4))
    assert "answers for names that do not exist" in first["message"] and "'*.demo.example.com. A" in first["hint"]
    assert "api-int.demo.example.com" in second["message"] and "a wildcard answers for it" in second["message"]


def test_missing_pointer(ready):
    lab, _ = ready
    name = machine(lab, "master")
    (path,) = (lab.directory / "named").glob("db.*.in-addr.arpa")
    original = path.read_text()
    try:
        changed = re.sub(rf"^\S+ IN PTR {name}\..*\n", "", original, flags=re.M).replace("( 1 ", "( 2 ", 1)
        assert changed.count("PTR") == original.count("PTR") - 1
        path.write_text(changed)
        lab.processes[0].send_signal(1)
        reverse = f"17.0.{lab.second}.127.in-addr.arpa"
        wait_for("BIND to read the zone", lambda: dig(lab.resolver, reverse, "PTR"), lambda found: not found.strip())
        problem = the_only(lab.check("dns", expect=4))
        assert problem["hint"] == f"{reverse}. 300 IN PTR {name}.demo.example.com."
    finally:
        path.write_text(original.replace("( 1 ", "( 3 ", 1))
        lab.processes[0].send_signal(1)
        wait_for("BIND to read the zone", lambda: dig(lab.resolver, reverse, "PTR"), lambda found: name in found)


def test_stale_answer(ready, zone):
    """A resolver with a cache (dnsmasq, before BIND) goes on with what it has heard before."""
    lab, _ = ready
    original, write = zone
    address, port = lab.resolver.split(":")
    known = re.sub(r"^ns IN A .*$", "ns IN A 127.0.0.1", original, flags=re.M)
    write(known.replace(f"api IN A {lab.prefix}.5", f"api IN A {lab.prefix}.99"))
    cache = f"127.0.0.1:{free_port()}"
    command = [
        "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file", "--no-resolv", "--no-hosts", "--bind-interfaces",
        "--listen-address=127.0.0.1", f"--port={cache.split(':')[1]}", f"--server={address}#{port}", "--user=root",
    ]  # fmt: skip
    lab._start("dnsmasq", command, ("127.0.0.1", int(cache.split(":")[1])))
    try:
        assert f"{lab.prefix}.99" in dig(cache, "api.demo.example.com", "A")
        write(known)
        problem = the_only(lab.check("dns", "--resolver", cache, expect=4))
        assert "a stale answer" in problem["message"] and re.search(r"it remembers for \d+ s", problem["hint"])
    finally:
        process = lab.processes.pop()
        process.terminate()
        process.wait(30)


def test_resolver_that_does_not_answer(ready):
    lab, _ = ready
    nobody = f"127.0.0.1:{free_port()}"
    assert f"{nobody} does not answer" in the_only(lab.check("dns", "--resolver", nobody, expect=4))["message"]


# DHCP: files of all three servers, with what people get wrong in them.


@pytest.mark.parametrize("server", ["dnsmasq.conf", "kea-dhcp4.json", "dhcpd.conf"])
def test_reservations(ready, server):
    lab, _ = ready
    original = (lab.kit / "dhcp" / server).read_text()
    mine = lab.directory / f"mine-{server}"
    master, worker = machine(lab, "master"), machine(lab, "worker")
    macs = re.findall(r"56:6f:[0-9a-f:]+", original)

    def check(text, expect=4):
        assert text != original
        mine.write_text(text)
        return problems(lab.check("dhcp", "--reservations", mine, expect=expect))

    mine.write_text(original)
    assert problems(lab.check("dhcp", "--reservations", mine)) == []

    (wrong,) = check(original.replace(macs[1], "56:6f:ff:ff:ff:ff"))
    assert f"reserves for {master} with hardware address 56:6f:ff:ff:ff:ff, and the machine has {macs[1]}" in wrong["message"]
    assert wrong["hint"] == f"dhcp-host={macs[1]},{lab.prefix}.17,{master}"

    swapped = original.replace(macs[1], "x").replace(macs[2], macs[1]).replace("x", macs[2], 1)
    messages = " ".join(p["message"] for p in check(swapped))
    assert f"gives {master} ({macs[1]}) the name '{worker}'" in messages

    (wrong,) = check(original.replace(f"{lab.prefix}.17", f"{lab.prefix}.77"))
    assert f"gives {master} {lab.prefix}.77 instead of {lab.prefix}.17" in wrong["message"]

    twice = check(original.replace(f"{lab.prefix}.17", f"{lab.prefix}.18"))
    assert any(f"reserves {lab.prefix}.18 twice, for {master} and {worker}" in p["message"] for p in twice)


def test_missing_reservation(ready):
    lab, _ = ready
    original = (lab.kit / "dhcp" / "dnsmasq.conf").read_text()
    mine = lab.directory / "mine"
    name = machine(lab, "worker")
    mine.write_text("".join(line for line in original.splitlines(keepends=True) if name not in line))
    problem = the_only(lab.check("dhcp", "--reservations", mine, expect=4))
    assert f"no reservation for {name}" in problem["message"] and problem["hint"] in original


# The load balancer: HAProxy with a configuration that somebody changed, and servers behind it.


@pytest.fixture
def balancer(ready):
    """Lets tests run HAProxy with another configuration, and goes back to the right one."""
    lab, _ = ready
    original = (lab.kit / "load-balancer" / "haproxy.cfg").read_text()

    def restart(text):
        process = lab.processes.pop()
        process.terminate()
        process.wait(30)
        path = lab.directory / "haproxy.cfg"
        path.write_text(text)
        where = re.search(r"bind (127\S+):(\d+)", text)
        lab._start("haproxy", ["haproxy", "-db", "-f", str(path)], (where.group(1), int(where.group(2))))

    yield original, restart
    restart(original)


def test_port_without_listener(ready, balancer):
    lab, _ = ready
    original, restart = balancer
    restart(original.replace(f"bind {lab.prefix}.5:22623", f"bind {lab.prefix}.5:22624"))
    problem = the_only(lab.check("lb", expect=4))
    assert f"{lab.prefix}.5:22623 (configs of machines that boot) does not take connections" in problem["message"]
    assert problem["hint"] == f"frontend config-server: bind {lab.prefix}.5:22623"


def test_backend_that_is_missing(ready, balancer):
    """A machine is well, and the load balancer does not know it."""
    lab, engine = ready
    original, restart = balancer
    bootstrap = machine(lab, "bootstrap")
    lab.play(engine, "bootstrap.yml")
    seen = lambda: [f["message"] for f in lab.check("lb")]  # noqa: E731
    wait_for("the bootstrap machine to be well", seen, lambda found: any(".5:6443 leads to 1 of 2 machines" in m for m in found), 120)
    wait_for("its config server to be well", seen, lambda found: any(".5:22623 leads to 1 of 2 machines" in m for m in found), 120)
    api = f"    server {bootstrap} {lab.prefix}.16:6443 check check-ssl verify none\n"
    assert api in original
    restart(original.replace(api, ""))
    problem = the_only(lab.check("lb", expect=4))
    assert f"{lab.prefix}.5:6443 does not lead to {bootstrap}, which is well at {lab.prefix}.16:6443" in problem["message"]
    assert problem["hint"] == "backend api: " + api.strip()

    # Ports mixed up: the API's leads to the config server.
    restart(original.replace(f"{lab.prefix}.16:6443 check check-ssl", f"{lab.prefix}.16:22623 check-ssl"))
    problem = the_only(lab.check("lb", expect=4))
    assert f"{lab.prefix}.5:6443 answers 404 where 200 is expected" in problem["message"]

    # It runs where it should, with the config that it was given.
    assert problems(lab.check("dhcp")) == [] and problems(lab.check("ovirt")) == []


# The engine, changed by somebody else's client.


@pytest.fixture(scope="module")
def vms(ready):
    _, engine = ready
    connection = sdk.Connection(url=engine.api_url, username=engine.user, password=engine.password, ca_file=engine.ca_file)
    yield connection.system_service().vms_service()
    connection.close()


def vm_service(vms, name):
    return vms.vm_service(vms.list(search=f"name={name}")[0].id)


CHANGES = {
    "has operating system type rhel_9x64": (
        types.Vm(os=types.OperatingSystem(type="rhel_9x64")),
        types.Vm(os=types.OperatingSystem(type="rhcos_x64")),
    ),
    "has 8192 MiB of memory instead of 16384": (
        types.Vm(memory=8 << 30, memory_policy=types.MemoryPolicy(guaranteed=8 << 30)),
        types.Vm(memory=16 << 30, memory_policy=types.MemoryPolicy(guaranteed=16 << 30)),
    ),
    "has 1 × 2 × 1 processors instead of 1 × 4 × 1": (
        types.Vm(cpu=types.Cpu(topology=types.CpuTopology(sockets=1, cores=2, threads=1))),
        types.Vm(cpu=types.Cpu(topology=types.CpuTopology(sockets=1, cores=4, threads=1))),
    ),
    "does not carry the mark": (types.Vm(description="mine"), None),
    "was given another Ignition config": (
        types.Vm(initialization=types.Initialization(custom_script='{"ignition": {"version": "3.3.0"}}')),
        types.Vm(initialization=types.Initialization(custom_script="")),
    ),
}


@pytest.mark.parametrize("message", CHANGES)
def test_machine_that_somebody_changed(ready, vms, message):
    lab, _ = ready
    change, undo = CHANGES[message]
    service = vm_service(vms, machine(lab, "worker"))
    before = service.get()
    try:
        service.update(change)
        problem = the_only(lab.check("ovirt", expect=4))
        assert message in problem["message"] and problem["hint"]
    finally:
        service.update(undo or types.Vm(description=before.description))
    assert problems(lab.check("ovirt")) == []


def test_second_network_interface(ready, vms):
    lab, _ = ready
    nics = vm_service(vms, machine(lab, "worker")).nics_service()
    added = nics.add(types.Nic(name="nic9"))
    try:
        assert "has 2 network interfaces" in the_only(lab.check("ovirt", expect=4))["message"]
    finally:
        nics.nic_service(added.id).remove()


def test_missing_tag_and_machine_and_template(ready, vms):
    lab, engine = ready
    service = vm_service(vms, machine(lab, "worker"))
    tags = service.tags_service()
    (tag,) = tags.list()
    tags.tag_service(tag.id).remove()
    assert "does not carry the tag" in the_only(lab.check("ovirt", expect=4))["message"]
    inventory = lab.kit / "inventory.yml"
    original = inventory.read_text()
    try:
        inventory.write_text(original.replace("template: fcos", "template: other"))
        found = problems(lab.check("ovirt", expect=4))
        assert ["there is no template other"] == [f["message"] for f in found if "template" in f["message"]]
    finally:
        inventory.write_text(original)
    lab.play(engine, "vms.yml")
    assert problems(lab.check("ovirt")) == []
    lab.play(engine, "retire-workers.yml")
    problem = the_only(lab.check("ovirt", expect=4))
    assert problem["message"] == f"there is no machine {machine(lab, 'worker')}"
    assert problem["hint"] == "ansible-playbook -i inventory.yml vms.yml"
    assert "so nothing can be said about its reservation" in the_only(lab.check("dhcp", expect=4))["message"]


def test_engine_that_cannot_be_asked(ready):
    lab, _ = ready
    original = lab.credentials.read_text()
    try:
        lab.credentials.write_text(original.replace("ovirt_password: ", "ovirt_password: wrong"))
        assert "the engine cannot be asked" in the_only(lab.check("ovirt", expect=4))["message"]
    finally:
        lab.credentials.write_text(original)


def test_without_a_kit(labs):
    lab, _ = labs("nothing")
    assert "has no kit yet" in lab.landfall("upi", "check", expect=3).stderr
