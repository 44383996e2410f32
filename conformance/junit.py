"""JUnit XML with the time and outcome of each test, for runners that do not write it themselves."""

import re
import xml.etree.ElementTree as tree

# Characters that XML 1.0 has no room for.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A log of Nova may have megabytes; its end is close to the failure.
LONGEST = 200_000


def write(path, suite, cases):
    """Writes (id, seconds, outcome, text) of each test; outcomes are `passed`, `failure`, `error` and `skipped`."""
    counts = {outcome: sum(case[2] == outcome for case in cases) for outcome in ("failure", "error", "skipped")}
    total = sum(seconds for _, seconds, _, _ in cases)
    element = tree.Element(
        "testsuite", name=suite, tests=str(len(cases)), time=f"{total:.3f}",
        failures=str(counts["failure"]), errors=str(counts["error"]), skipped=str(counts["skipped"]),
    )  # fmt: skip
    for name, seconds, outcome, text in cases:
        group, _, short = name.rpartition(".")
        case = tree.SubElement(element, "testcase", classname=group, name=short, time=f"{seconds:.3f}")
        if outcome != "passed":
            text = FORBIDDEN.sub("?", text or "")
            last = text.strip().splitlines()[-1:] or [""]
            tree.SubElement(case, outcome, message=last[0][:500]).text = text[-LONGEST:]
    root = tree.Element("testsuites")
    root.append(element)
    tree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
