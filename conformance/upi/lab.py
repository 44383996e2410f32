"""An install directory with a kit, and what a user has around it: a name server and a load balancer."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from playbooks import Run
from simulator import wait_for

LANDFALL = os.environ["LANDFALL_BIN"]
TIMEOUT = 300


def claim():
    """A loopback network that nobody uses: whoever listens on this port of its first address has it."""
    for second in range(100, 255):
        holder = socket.socket()
        try:
            holder.bind((f"127.{second}.0.1", 22622))
            holder.listen()
            return second, holder
        except OSError:
            holder.close()
    raise RuntimeError("no loopback network is free")


def free_port():
    """A port that is free for both TCP and UDP at the moment."""
    with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagram:
        stream.bind(("127.0.0.1", 0))
        datagram.bind(stream.getsockname())
        return stream.getsockname()[1]


class Lab:
    """An install directory on a network of its own."""

    def __init__(self, directory, masters=3, workers=2, image="template: fcos"):
        self.directory = directory
        self.second, self._claim = claim()
        self.prefix = f"127.{self.second}.0"
        self.install = directory / "demo"
        self.kit = self.install / "upi"
        self.credentials = directory / "ovirt-config.yaml"
        # BIND listens on addresses that an interface has, and of the loopback network that is one.
        self.resolver = f"127.0.0.1:{free_port()}"
        self.processes = []
        self.install.mkdir(parents=True)
        (self.install / "install-config.yaml").write_text(
            f"""
apiVersion: v1
metadata: {{name: demo}}
baseDomain: example.com
loadBalancer: userManaged
networking:
  machineNetwork: [{{cidr: {self.prefix}.0/16}}]
controlPlane: {{replicas: {masters}}}
compute: [{{replicas: {workers}}}]
platform:
  ovirt:
    ovirt_cluster_id: 7a5b0000-0000-4000-8000-0000000c1a01
    ovirt_storage_domain_id: 7a5b0000-0000-4000-8000-00000000da7a
    api_vips: [{self.prefix}.5]
    ingress_vips: [{self.prefix}.6]
    image: {{{image}}}
"""
        )

    def simulator_options(self):
        return [
            "--guests",
            "light",
            f"--guest-network={self.prefix}.0/16",
            f"--guest-reservations={self.kit}/dhcp/dnsmasq.conf",
            f"--guest-resolver={self.resolver}",
            f"--credentials={self.credentials}",
        ]

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(30)
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
            "LC_ALL": "C.UTF-8",
        }

    def landfall(self, *arguments, expect=0):
        """Runs a command of Landfall in the install directory."""
        command = [LANDFALL, *arguments, "--dir", str(self.install)]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == expect, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def check(self, *arguments, expect=0):
        """Runs the checks, and returns what they found."""
        done = self.landfall("upi", "check", *arguments, "--output", "json", expect=expect)
        return json.loads(done.stdout)["findings"]

    def play(self, engine, playbook, check=False, fails=False, **variables):
        """Plays one playbook of the kit; without the pauses that a real engine needs."""
        before = len(engine.requests())
        variables = {"poll_interval": 1, "make_delay": 1, "start_delay": 1, **variables}
        command = ["ansible-playbook", "-i", "inventory.yml", "-e", json.dumps(variables), playbook]
        done = subprocess.run(
            command + (["--check"] if check else []),
            cwd=self.kit,
            env=self.environment(),
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

    # What users have.

    def start_named(self):
        """BIND, with the zones of the kit and nothing else."""
        home = self.directory / "named"
        shutil.copytree(self.kit / "dns", home)
        address, port = self.resolver.split(":")
        options = (
            f'options {{ directory "{home}"; listen-on port {port} {{ {address}; }}; listen-on-v6 {{ none; }}; '
            f'pid-file "{home}/pid"; session-keyfile "{home}/session.key"; recursion no; dnssec-validation no; '
            "empty-zones-enable no; notify no; };\ncontrols { };\n"
        )
        (home / "named.conf.all").write_text(options + (home / "named.conf").read_text())
        self._start("named", ["named", "-g", "-4", "-c", str(home / "named.conf.all")], (address, int(port)))

    def start_haproxy(self):
        configuration = self.kit / "load-balancer" / "haproxy.cfg"
        self._start("haproxy", ["haproxy", "-db", "-f", str(configuration)], (f"{self.prefix}.5", 6443))

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


PYTHON = sys.executable
HERE = Path(__file__).parent
