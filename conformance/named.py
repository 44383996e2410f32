"""A BIND on a loopback address, authoritative for one zone that takes updates from the owner of a key."""

import re
import subprocess

from ports import free_port
from simulator import wait_for

KEY = "landfall-key"
SECRET = "bGFuZGZhbGwtdGVzdC1zZWNyZXQtMzItYnl0ZXMtbG8="

CONFIG = """key "{key}" {{ algorithm hmac-sha256; secret "{secret}"; }};
options {{
  directory "{directory}"; pid-file none; session-keyfile none; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; dnssec-validation no; empty-zones-enable no; notify no; max-cache-size 8m;
}};
controls {{ }};
zone "{zone}" {{ type primary; file "{zone}.zone"; allow-update {{ key {key}; }}; allow-transfer {{ any; }}; }};
"""
ZONE = """$TTL 60
{zone}. SOA ns1.{zone}. hostmaster.{zone}. 1 3600 600 86400 5
$ORIGIN {zone}.
@ NS ns1
ns1 A 127.0.0.1
www A 192.0.2.80
"""


class Named:
    def __init__(self, directory, zone):
        directory.mkdir()
        self.zone, self.port = zone, free_port()
        self.address = f"127.0.0.1:{self.port}"
        (directory / f"{zone}.zone").write_text(ZONE.format(zone=zone))
        config = directory / "named.conf"
        config.write_text(CONFIG.format(directory=directory, port=self.port, zone=zone, key=KEY, secret=SECRET))
        self.log = directory / "log"
        with open(self.log, "wb") as log:
            command = ["named", "-g", "-4", "-n", "1", "-c", config]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait(self):
        def look():
            log = self.log.read_text()
            assert self.process.poll() is None, log
            return log

        wait_for("named", look, lambda log: " running\n" in log)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def records(self):
        """Returns all records but the start of authority, as dig prints them, without their times to live."""
        query = ["dig", "@127.0.0.1", "-p", str(self.port), "+noall", "+answer", "+onesoa", self.zone, "AXFR"]
        answer = subprocess.run(query, check=True, capture_output=True, text=True).stdout
        lines = [re.split(r"\s+", line, maxsplit=4) for line in answer.splitlines() if line.strip()]
        return [(name, kind, value) for name, _, _, kind, value in lines if kind != "SOA"]

    def update(self, *lines):
        """Changes the zone with nsupdate, as a neighbour with the key would."""
        script = "\n".join([f"server 127.0.0.1 {self.port}", *lines, "send", ""])
        subprocess.run(["nsupdate", "-y", f"hmac-sha256:{KEY}:{SECRET}"], input=script, check=True, capture_output=True, text=True)
