"""The simulator under Nova's driver. Nova is told where it is by the hook that IBM's library has for that."""

import os

import pytest

from simulator import Simulator

# Nova would otherwise replace sockets and threads by green ones, which the simulator's process has no part in.
os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "1"

RUNNING = {}


@pytest.fixture(scope="session", autouse=True)
def simulator(tmp_path_factory):
    tools = tmp_path_factory.mktemp("tools")
    simulator = Simulator(tmp_path_factory.mktemp("nova"), "--http", "--time-scale", "50", "--tools-dir", tools)
    # The driver calls rmvterm whenever it deletes a partition.
    os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
    RUNNING["simulator"] = simulator
    port = int(simulator.ready["hosts"][0]["url"].rsplit(":", 1)[1])
    hook = tmp_path_factory.mktemp("hook") / "session_config.py"
    hook.write_text(
        "def session_config(session):\n"
        f"    session.port = {port}\n"
        "    session.host = '127.0.0.1'\n"
        f"    session.dest = 'http://127.0.0.1:{port}'\n"
    )
    os.environ["PYPOWERVM_SESSION_CONFIG"] = str(hook)
    yield simulator
    simulator.stop()
