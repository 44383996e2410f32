"""IBM's own Go client of power-iaas: see goclient/main.go."""

import os
import subprocess

from keys import RSA


def test_the_life_of_a_small_cluster(clients):
    power = clients.workspace("go", zone="dal10")
    environment = {
        **os.environ,
        "SSL_CERT_FILE": clients.simulator.ca_file,
        # The client takes no address with a path.
        "POWER_URL": clients.ready["url"],
        "IAM_URL": clients.services["IAM"],
        "IC_API_KEY": clients.ready["api_key"],
        "ACCOUNT": clients.ready["account"],
        "ZONE": "dal10",
        "COS_REGION": "us-south",
        "WORKSPACE": power.workspace,
        "SSH_KEY": RSA,
    }
    done = subprocess.run([os.environ["LANDFALL_GO_CLIENT"]], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "delete a group"
