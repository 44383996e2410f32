"""An install directory with a kit, and what a user has around it: a name server and a load balancer."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from playbooks import Run
from simulator import wait_for

LANDFALL = os.environ["LANDFALL_BIN"]
TIMEOUT = 600
DUAL = """networking:
  machineNetwork: [{cidr: 192.168.10.0/24}, {cidr: '2001:db8::/64'}]
  serviceNetwork: [172.30.0.0/16, 'fd02::/112']
  clusterNetwork: [{cidr: 10.128.0.0/14}, {cidr: 'fd01::/48'}]
"""


def claim():
    """Claims a loopback network that is free: the process that listens on this port of its first address has it."""
    for second in range(100, 255):
        holder = socket.socket()
        try:
            holder.bind((f"127.{second}.0.1", 22622))
            holder.listen()
            return second, holder
        except OSError:
            holder.close()
    raise RuntimeError("no loopback network is free")


class Lab:
    """An install directory on a network of its own."""

    def __init__(self, directory, masters=3, workers=2, image="template: fcos", dhcp=True, six=None):
        self.directory = directory
        self.second, self._claim = claim()
        self.prefix = f"127.{self.second}.0"
        # The beginning of IPv6 addresses, where this network namespace has some.
        self.six = six
        self.install = directory / "demo"
        self.kit = self.install / "upi"
        self.credentials = directory / "ovirt-config.yaml"
        # BIND listens on addresses that an interface has, and of the loopback network that is one.
        self.resolver = f"127.0.0.1:{self.port(0)}"
        self.processes = []
        self.python, self.server = sys.executable, str(Path(__file__).parent / "servers.py")
        # Without, a DHCP server that knows nobody.
        self.reservations = self.kit / "dhcp" / "dnsmasq.conf" if dhcp else Path(os.devnull)
        self.install.mkdir(parents=True)
        networks, vips = f"{{cidr: {self.prefix}.0/16}}", {n: f"{self.prefix}.{n}" for n in [5, 6]}
        if six:
            networks += f", {{cidr: '{six}:/64'}}]\n  serviceNetwork: [172.30.0.0/16, 'fd02::/112']\n"
            networks += "  clusterNetwork: [{cidr: 10.128.0.0/14}, {cidr: 'fd01::/48'}"
            vips = {n: f"{vip}, '{six}:{n}'" for n, vip in vips.items()}
        (self.install / "install-config.yaml").write_text(
            f"""
apiVersion: v1
metadata: {{name: demo}}
baseDomain: example.com
loadBalancer: userManaged
networking:
  machineNetwork: [{networks}]
controlPlane: {{replicas: {masters}}}
compute: [{{replicas: {workers}}}]
platform:
  ovirt:
    ovirt_cluster_id: 7a5b0000-0000-4000-8000-0000000c1a01
    ovirt_storage_domain_id: 7a5b0000-0000-4000-8000-00000000da7a
    api_vips: [{vips[5]}]
    ingress_vips: [{vips[6]}]
    image: {{{image}}}
"""
        )

    def port(self, number):
        """Returns a port of 127.0.0.1 that is this lab's own, as its network is; neither the kernel nor ports.py gives out one so low."""
        return 10_000 + 256 * number + self.second

    def make_dual(self):
        """Gives the cluster addresses of both families, of networks for documentation. No guest can have those: they are for
        servers in networks of their own."""
        config = self.install / "install-config.yaml"
        text = re.sub(r"networking:\n  machineNetwork:.*\n", DUAL, config.read_text())
        for name, number in [("api_vips", 5), ("ingress_vips", 6)]:
            text = re.sub(rf"{name}: .*", f"{name}: [192.168.10.{number}, '2001:db8::{number}']", text)
        config.write_text(text)

    def simulator_options(self):
        return [
            "--guests",
            "light",
            f"--guest-network={self.prefix}.0/16",
            f"--guest-reservations={self.reservations}",
            f"--guest-resolver={self.resolver}",
            f"--credentials={self.credentials}",
            *([f"--guest-network-v6={self.six}:/64"] if self.six else []),
        ]

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(120)
        self._claim.close()

    def environment(self):
        work = self.directory / "ansible"
        return {
            **os.environ,
            "OVIRT_CONFIG": str(self.credentials),
            "ANSIBLE_HOME": str(work),
            "ANSIBLE_LOCAL_TEMP": str(work / "tmp"),
            "ANSIBLE_REMOTE_TEMP": str(work / "tmp"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "LANDFALL_DNS_RESOLVER": self.resolver,
            "LANDFALL_DNS_PORT": self.resolver.split(":")[1],
            "LC_ALL": "C.UTF-8",
        }

    def landfall(self, *arguments, expect=0, environment=None):
        """Runs a command of Landfall in the install directory."""
        command = [LANDFALL, *arguments, "--dir", str(self.install)]
        done = subprocess.run(command, env={**self.environment(), **(environment or {})}, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == expect, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def check(self, *arguments, expect=0, environment=None):
        """Runs the checks, and returns what they found."""
        done = self.landfall("upi", "check", *arguments, "--output", "json", expect=expect, environment=environment)
        return json.loads(done.stdout)["findings"]

    def play(self, engine, playbook, check=False, fails=False, environment=None, flags=(), **variables):
        """Plays one playbook of the kit; without the pauses that a real engine needs."""
        before = len(engine.requests())
        variables = {"poll_interval": 1, "make_delay": 1, "start_delay": 1, **variables}
        command = ["ansible-playbook", "-i", "inventory.yml", "-e", json.dumps(variables), *flags, playbook]
        done = subprocess.run(
            command + (["--check"] if check else []),
            cwd=self.kit,
            env={**self.environment(), **(environment or {})},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        try:
            report = json.loads(done.stdout[done.stdout.index("{") :])
        except ValueError:
            raise AssertionError(f"{playbook} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}") from None
        finished = Run(report, engine.requests(after=before))
        if (done.returncode != 0) != fails:
            failed = {
                name: [m for r in results if r.get("failed") for m in [r.get("msg"), *(i.get("msg") for i in r.get("results", []))]]
                for name, results in finished.tasks.items()
                if any(r.get("failed") for r in results)
            }
            raise AssertionError(f"{playbook} ended with {done.returncode}: {json.dumps(failed, indent=2)[:6000]}\n{done.stderr[-2000:]}")
        return finished

    def certificate(self, directory, stem, name):
        """A certificate for a server of the cluster, signed by the cluster's own CA."""
        secrets = self.install / ".landfall" / "secrets"
        authority = secrets / "cluster-ca.crt"
        request, key = directory / f"{stem}.csr", directory / f"{stem}.key"
        options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request]
        subprocess.run(["openssl", "req", *options], check=True, capture_output=True)
        extension = directory / f"{stem}.ext"
        extension.write_text(f"subjectAltName=DNS:{name}\n")
        signer = ["-CA", authority, "-CAkey", authority.with_suffix(".key"), "-CAcreateserial", "-CAserial", directory / "serial"]
        command = ["openssl", "x509", "-req", "-in", request, *signer, "-days", "2", "-extfile", extension, "-out", directory / f"{stem}.pem"]
        subprocess.run(command, check=True, capture_output=True)

    # What users have.

    def start_named(self, zones=None, configuration=None):
        """BIND, with the zones of the kit and nothing else; or with those of a directory."""
        home = self.directory / "named"
        shutil.copytree(zones or self.kit / "dns", home)
        address, port = self.resolver.split(":")
        options = (
            f'options {{ directory "{home}"; listen-on port {port} {{ {address}; }}; listen-on-v6 {{ none; }}; '
            f'pid-file "{home}/pid"; session-keyfile "{home}/session.key"; recursion no; dnssec-validation no; '
            "empty-zones-enable no; notify no; };\ncontrols { };\n"
        )
        (home / "named.conf.all").write_text(options + (configuration or home / "named.conf").read_text())
        self._start("named", ["named", "-g", "-4", "-c", str(home / "named.conf.all")], (address, int(port)))

    def start_haproxy(self, configuration=None):
        configuration = configuration or self.kit / "load-balancer" / "haproxy.cfg"
        self._start("haproxy", ["haproxy", "-db", "-f", str(configuration)], (f"{self.prefix}.5", 6443))

    def start_nginx(self):
        configuration = self.kit / "load-balancer" / "nginx.conf"
        own = f"daemon off; pid {self.directory}/nginx.pid; error_log {self.directory}/nginx-errors.log;"
        self._start("nginx", ["nginx", "-c", str(configuration), "-g", own], (f"{self.prefix}.5", 6443))

    def _start(self, name, command, where):
        log = open(self.directory / f"{name}.log", "wb")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)

        def listens():
            assert process.poll() is None, (self.directory / f"{name}.log").read_text()
            try:
                socket.create_connection(where, timeout=5).close()
                return True
            except OSError:
                return False

        wait_for(f"{name} to listen", listens, bool)
        return process

    def console(self, engine, name):
        """What a machine has printed."""
        machines = engine.admin("GET", "/guests")
        listed = machines["guests"] if isinstance(machines, dict) else machines
        found = [machine["id"] for machine in listed if machine["name"] == name]
        return "\n".join(str(engine.admin("GET", f"/guests/{id}/console")) for id in found)


