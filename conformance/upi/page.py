"""The page that tells users how to use the kit: what it says is what the tests do."""

import os
import re
import subprocess
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "platforms" / "ovirt-upi.md"

# What a test has in the place of what it must not reach. Hosts are directories of the site. What pip and Galaxy would install is
# compared with what is there. Engines that are simulated need no pauses.
PRELUDE = r"""
set -euo pipefail
ansible-playbook() { command ansible-playbook -e '{"poll_interval": 1, "make_delay": 1, "start_delay": 1}' "$@"; }
scp() {
  local target=${*: -1}
  local place=$SITE/${target%%:*}${target#*:}
  case $place in */) mkdir -p "$place" ;; *) mkdir -p "${place%/*}" ;; esac
  cp "${@:1:$#-1}" "$place"
}
pip() { [ "$1" = install ]; "$ANSIBLE_PYTHON" "$PAGE_TOOLS" packages "${@:2}"; }
ansible-galaxy() { [ "$1 $2 $3" = 'collection install -r' ]; "$ANSIBLE_PYTHON" "$PAGE_TOOLS" collections "$4"; }
landfall() {
  # The servers that the files went to read them now.
  if [ "$1 $2" = 'upi check' ]; then touch "$SITE/copied"; until [ -e "$SITE/serving" ]; do sleep 0.1; done; fi
  "$LANDFALL_BIN" "$@"
}
"""


def blocks():
    """The shell blocks of the page, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)


class Page:
    """The page, read and obeyed block by block."""

    def __init__(self, lab):
        self.lab = lab
        self.site = lab.directory / "site"
        self.site.mkdir()
        self.blocks = blocks()

    def obey(self, number, begins, where, serve=None):
        """Does what a block says, which begins as expected, in a directory; and what users do between copying files and checking."""
        block = self.blocks[number]
        assert block.startswith(begins), block
        environment = {
            **self.lab.environment(),
            "SITE": str(self.site),
            "EDITOR": "true",
            "ANSIBLE_PYTHON": os.path.join(os.environ["VENV"], "bin", "python"),
            "PAGE_TOOLS": str(Path(__file__).parent / "page_tools.py"),
        }
        log = self.lab.directory / f"block-{number}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(["bash", "-c", PRELUDE + block], cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            try:
                if serve:
                    serve(process, log)
                code = process.wait(600)
            finally:
                process.kill()
        assert code == 0, f"block {number} ended with {code}:\n{block}\n{log.read_text()[-6000:]}"
        return log.read_text()
