"""Each mistake that `landfall upi check` promises to find is made here, and found; with the right line to put it right."""

import itertools
import re
import subprocess

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types
from servers import stranger
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
    cache = f"127.0.0.1:{lab.port(1)}"
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
        # That there is no such name is remembered as well.
        name = "etcd-7.demo.example.com"
        assert dig(cache, name, "A") == ""
        inventory = lab.kit / "inventory.yml"
        before = inventory.read_text()
        worker = machine(lab, "worker")
        try:
            inventory.write_text(before.replace(worker, "etcd-7"))
            write(f"{known}etcd-7 IN A {lab.prefix}.18\n")
            found = [f for f in problems(lab.check("dns", "--resolver", cache, expect=4)) if name in f["message"] and " PTR " not in f["message"]]
            assert [f["message"].split(": ")[-1] for f in found] == ["a stale answer, since the zone's own servers are right"], found
            assert f"knows no A record of {name}" in found[0]["message"]
        finally:
            inventory.write_text(before)
    finally:
        process = lab.processes.pop()
        process.terminate()
        process.wait(120)


def test_wildcard_of_the_other_family(ready, zone):
    lab, _ = ready
    original, write = zone
    write(original + "* IN AAAA 2001:db8::99\n")
    problem = the_only(lab.check("dns", expect=4))
    assert "answers for names that do not exist" in problem["message"] and "'*.demo.example.com. AAAA" in problem["hint"]


def test_services_where_the_release_wants_them(ready, zone):
    """OpenShift before 4.4 finds etcd by SRV records."""
    lab, _ = ready
    original, write = zone
    config = lab.install / "install-config.yaml"
    before = config.read_text()
    secret = """pullSecret: '{"auths": {"registry.example.com": {"auth": "dTpw"}}}'"""
    try:
        config.write_text(f"{before}distribution: openshift\nversion: 4.3.40\n{secret}\n")
        host, service = problems(lab.check("dns", expect=4))[::-1]
        assert "knows no SRV record of _etcd-server-ssl._tcp.demo.example.com" in service["message"], service
        assert service["hint"] == "_etcd-server-ssl._tcp.demo.example.com. 300 IN SRV 0 10 2380 etcd-0.demo.example.com."
        assert host["hint"] == f"etcd-0.demo.example.com. 300 IN A {lab.prefix}.17"
        write(f"{original}{host['hint']}\n{service['hint'].replace('2380', '2379')}\n")
        problem = the_only(lab.check("dns", expect=4))
        assert "SRV is 2379 etcd-0.demo.example.com instead of 2380 etcd-0.demo.example.com" in problem["message"]
        # How often one is asked is nobody's business.
        write(f"{original}{host['hint']}\n{service['hint'].replace('0 10', '5 7')}\n")
        assert problems(lab.check("dns")) == []
    finally:
        config.write_text(before)


def test_resolver_that_does_not_answer(ready):
    lab, _ = ready
    nobody = f"127.0.0.1:{lab.port(2)}"
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

    twice = check(original.replace(macs[2], macs[1]))
    assert any(f"reserves {macs[1]} twice, for {master} and {worker}" in p["message"] for p in twice)


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
        process.wait(120)
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

    # Nobody has told the load balancer that the machine is not the cluster's any more.
    restart(original)
    inventory = lab.kit / "inventory.yml"
    before = inventory.read_text()
    led = lambda: [f["message"] for f in lab.check("lb")]  # noqa: E731
    wait_for("HAProxy to find it again", led, lambda found: any(".5:6443 leads to 1 of 2 machines" in m for m in found), 60)
    try:
        inventory.write_text("".join(line for line in before.splitlines(keepends=True) if "role: bootstrap" not in line))
        found = problems(lab.check("lb", expect=4))
        assert [f"{lab.prefix}.5:{port} answers, though none of the cluster's machines does: it leads to somebody else's" for port in [6443, 22623]] == [
            f["message"] for f in found
        ]
        assert found[0]["hint"].startswith(f"backend api: server {machine(lab, 'master')} {lab.prefix}.17:6443 check")
    finally:
        inventory.write_text(before)


def test_load_balancer_of_another_cluster(ready, balancer):
    """It answers, and says that it is well: only its certificate is another's."""
    lab, _ = ready
    original, restart = balancer
    with stranger(lab.directory, f"{lab.prefix}.77", 6443, "api.demo.example.com"):
        restart(re.sub(r"( +server) (\S+) (\S+):6443 .*\n", rf"\1 \2 {lab.prefix}.77:6443\n", original))
        (problem,) = [f for f in problems(lab.check("lb", expect=4)) if "6443" in f["message"]]
        assert problem["message"].startswith(f"{lab.prefix}.5:6443 answers with a certificate of another cluster")
        assert problem["hint"].startswith("backend api: server ")


def test_address_that_another_cluster_has(ready):
    lab, _ = ready
    with stranger(lab.directory, f"{lab.prefix}.17", 6443, "api.demo.example.com"):
        (problem,) = [f for f in problems(lab.check("lb", expect=4)) if ".17:6443" in f["message"]]
        assert f"{lab.prefix}.17:6443, which is to be {machine(lab, 'master')}, answers with a certificate of another cluster" in problem["message"]


# The engine, changed by somebody else's client.


@pytest.fixture(scope="module")
def system(ready):
    _, engine = ready
    connection = sdk.Connection(url=engine.api_url, username=engine.user, password=engine.password, ca_file=engine.ca_file)
    yield connection.system_service()
    connection.close()


@pytest.fixture(scope="module")
def vms(system):
    return system.vms_service()


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


def test_wrong_hardware_address_and_no_interface(ready, vms):
    lab, _ = ready
    worker = machine(lab, "worker")
    nics = vm_service(vms, worker).nics_service()
    (nic,) = nics.list()
    inventory = lab.kit / "inventory.yml"
    before = inventory.read_text()
    try:
        inventory.write_text(re.sub(rf"(name: {worker},.*)}}", r'\1, mac: "56:6f:77:00:00:09"}', before))
        problem = the_only(lab.check("ovirt", expect=4))
        assert problem["message"] == f"machine {worker} has hardware address {nic.mac.address} instead of 56:6f:77:00:00:09"
    finally:
        inventory.write_text(before)
    nics.nic_service(nic.id).remove()
    try:
        assert the_only(lab.check("ovirt", expect=4))["message"] == f"machine {worker} has no network interface"
        assert "so nothing can be said about its reservation" in the_only(lab.check("dhcp", expect=4))["message"]
    finally:
        nics.add(types.Nic(name=nic.name, mac=nic.mac, vnic_profile=nic.vnic_profile, interface=nic.interface))
    assert problems(lab.check("ovirt")) == [] and problems(lab.check("dhcp")) == []


def test_disk_that_is_too_small_or_missing(ready, vms):
    lab, _ = ready
    worker = machine(lab, "worker")
    inventory = lab.kit / "inventory.yml"
    before = inventory.read_text()
    try:
        # Somebody changed their mind about the size, and did not play vms.yml again.
        at = before.index("      worker:\n")
        inventory.write_text(before[:at] + before[at:].replace("os_disk_gib: 120", "os_disk_gib: 500", 1))
        problem = the_only(lab.check("ovirt", expect=4))
        assert problem["message"] == f"machine {worker} has 120 GiB on the disk that it boots from instead of 500"
        assert problem["hint"] == "ansible-playbook -i inventory.yml vms.yml"
    finally:
        inventory.write_text(before)
    attachments = vm_service(vms, worker).disk_attachments_service()
    (disk,) = attachments.list()
    attachments.attachment_service(disk.id).update(types.DiskAttachment(bootable=False))
    try:
        assert the_only(lab.check("ovirt", expect=4))["message"] == f"machine {worker} has no disks to boot from instead of one"
    finally:
        attachments.attachment_service(disk.id).update(types.DiskAttachment(bootable=True))
    assert problems(lab.check("ovirt")) == []


def test_machine_that_runs_without_a_config(ready, vms):
    """Somebody pressed the button instead of playing workers.yml."""
    lab, _ = ready
    worker = machine(lab, "worker")
    service = vm_service(vms, worker)
    service.start()
    try:
        wait_for("the machine to run", lambda: service.get().status, lambda status: status != types.VmStatus.DOWN)
        problem = the_only(lab.check("ovirt", expect=4))
        assert problem["message"] == f"machine {worker} runs without an Ignition config"
        assert problem["hint"] == "switch it off, then ansible-playbook -i inventory.yml workers.yml"
    finally:
        switch_off(service)


def switch_off(service):
    service.stop()
    wait_for("the machine to be off", lambda: service.get().status, lambda status: status == types.VmStatus.DOWN)


def test_machine_at_another_address(ready, vms):
    """Another DHCP server was faster."""
    lab, engine = ready
    worker = machine(lab, "worker")
    service = vm_service(vms, worker)
    reservations = lab.kit / "dhcp" / "dnsmasq.conf"
    before = reservations.read_text()
    try:
        reservations.write_text(before.replace(f"{lab.prefix}.18", f"{lab.prefix}.88"))
        lab.play(engine, "workers.yml")
        wait_for("the machine to report its address", lambda: addresses(service), lambda found: found == [f"{lab.prefix}.88"], 120)
        reservations.write_text(before)
        assert [f["message"] for f in problems(lab.check("dhcp", expect=4))] == [f"{worker} runs at {lab.prefix}.88 instead of {lab.prefix}.18"]
    finally:
        reservations.write_text(before)
        switch_off(service)
    # Off again, it has no address; what it was given is what it should have been given.
    assert problems(lab.check("dhcp")) == [] and problems(lab.check("ovirt")) == []


def addresses(service):
    return [ip.address for device in service.reported_devices_service().list() for ip in device.ips or []]


def test_kit_without_the_config_of_a_machine(ready):
    """It was given one, as the test before shows, and somebody removed the kit's."""
    lab, _ = ready
    worker = machine(lab, "worker")
    config = lab.kit / "ignition" / f"{worker}.ign"
    moved = config.rename(lab.directory / "moved.ign")
    try:
        problem = the_only(lab.check("ovirt", expect=4))
        assert problem["message"] == f"the kit has no Ignition config for {worker}" and problem["hint"] == "landfall upi create"
    finally:
        moved.rename(config)


def test_templates_that_do_not_serve(ready, vms, system):
    lab, engine = ready
    templates, disks = system.templates_service(), system.disks_service()
    inventory = lab.kit / "inventory.yml"
    before = inventory.read_text()

    def judge(template, expect=4):
        inventory.write_text(before.replace("template: fcos", f"template: {template}"))
        try:
            (found,) = [f for f in lab.check("ovirt", expect=expect) if "template" in f["message"]]
            return found
        finally:
            inventory.write_text(before)

    def template(name):
        made = templates.add(types.Template(name=name, vm=types.Vm(id=golden.id)))
        wait_for("the template", lambda: templates.template_service(made.id).get().status, lambda s: s == types.TemplateStatus.OK)

    golden = vms.add(
        types.Vm(
            name="golden", cluster=types.Cluster(name="Default"), template=types.Template(name="Blank"), os=types.OperatingSystem(type="rhel_9x64")
        )
    )
    attachments = vms.vm_service(golden.id).disk_attachments_service()
    for name in ["plain", "two-disks"]:
        disk = types.Disk(name=name, format=types.DiskFormat.COW, provisioned_size=1 << 30, storage_domains=[types.StorageDomain(name="data")])
        added = attachments.add(types.DiskAttachment(bootable=name == "plain", interface=types.DiskInterface.VIRTIO, disk=disk))
        wait_for("the disk", lambda: disks.disk_service(added.disk.id).get().status, lambda s: s == types.DiskStatus.OK)
        template(name)
    notice = judge("plain", expect=0)
    assert notice["verdict"] == "notice" and notice["message"] == "template plain has operating system type rhel_9x64"
    problem = judge("two-disks")
    assert problem["message"] == "template two-disks has 2 disks, and machines boot from one"

    # While its disks are copied a template is locked; this one for a long time.
    engine.add_fault("POST /ovirt-engine/api/templates slow-state=10000")
    templates.add(types.Template(name="slow", vm=types.Vm(id=golden.id)))
    engine.clear_faults()
    problem = judge("slow")
    assert problem["message"] == "template slow is locked" and "wait until it is ok" in problem["hint"]


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
