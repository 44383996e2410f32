"""Makes devices with packet-python, a thread for each, and waits until all are active; then removes them.

Usage: devices.py PROJECT PLAN NUMBER
"""

import concurrent.futures
import os
import sys
import time

import packet

# As packet-python's own tests wait.
PAUSE_SECONDS = 2


def make(project, plan, number):
    manager = packet.Manager(auth_token=os.environ["PACKET_AUTH_TOKEN"])
    device = manager.create_device(
        project_id=project,
        hostname=f"peer-{number}",
        plan=plan,
        metro="da",
        operating_system="custom_ipxe",
        ipxe_script_url="http://127.0.0.1:1/boot.ipxe",
        userdata="{}",
        tags=["peer"],
    )
    while manager.get_device(device.id).state != "active":
        time.sleep(PAUSE_SECONDS)
    return device


def main():
    project, plan, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with concurrent.futures.ThreadPoolExecutor(max_workers=number) as pool:
        made = list(pool.map(lambda index: make(project, plan, index), range(number)))
    assert len({device.id for device in made}) == number


if __name__ == "__main__":
    main()
