"""Makes and removes many partitions like one, several at a time, and does that several times; prints the memory of this process after
each, in MiB.

Settings and the partition come on standard input, a line of JSON each; how many, how many at a time, and how often, as arguments.
"""

import concurrent.futures
import json
import os
import sys
import uuid

from landfall_powervm import _core

count, at_once, rounds = (int(word) for word in sys.argv[1:])
connection = _core.Connection(sys.stdin.readline())
machine = json.loads(sys.stdin.readline())


def carry_out(**call):
    task = connection.start(json.dumps(call))
    while True:
        kind, text = task.next()
        if kind == "failed":
            raise SystemExit(text)
        if kind == "done":
            return


def live(number):
    """Makes a partition, and removes it. Partitions that run have addresses of their own."""
    own = str(uuid.uuid4())
    nics = [{**nic, "mac": f"fa:16:3e:{place:02x}:{number >> 8:02x}:{number & 255:02x}"} for place, nic in enumerate(machine["nics"])]
    carry_out(call="spawn", machine={**machine, "uuid": own, "name": f"many-{number}", "nics": nics, "power_on": True}, complete=True)
    carry_out(call="destroy", uuid=own, with_disks=True)


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


for _ in range(rounds):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(live, range(count)))
    print(resident_mib(), flush=True)
