"""Which requests of an operation change something, and rules for the simulator to refuse them."""

from tier import FULL

CHANGES = ("POST", "PUT", "DELETE")
# Whether all kinds of requests of an operation are refused, or only the last one that it fails for: the one with most to undo.
EACH = FULL
# The server's own error, which no client takes for a bad moment.
REFUSAL = "first=1 status=400 body=platform"


def kinds(simulator, after):
    """The kinds of requests that have changed something since then: method and path without ids, each once, in their order."""
    found = {}
    for request in simulator.requests(after):
        path = request.get("path") or request.get("url")
        if request["method"] in CHANGES and "/Logon" not in path and "/jobs/" not in path:
            found[request["method"], _pattern(path)] = None
    return list(found)


def rule(kind):
    """Refuses the next request of this kind."""
    method, path = kind
    return f"{method} {path} {REFUSAL}"


def _pattern(path):
    """A rule for paths like this one: ids are of one instance only."""
    parts = path.split("?")[0].split("/")
    return "/".join("*" if any(char.isdigit() for char in part) and "-" in part else part for part in parts) + "*"
