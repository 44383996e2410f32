"""Plugin of pytest for all suites: what simulators did when a test failed, results for `judge`, and the tier of tests."""

import json
import os
import pathlib

import pytest
import simulator


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "story: the tests of this file build on each other, and run again together")
    if hasattr(config, "workerinput") or "JUDGE_OUTCOME" not in os.environ:
        return
    # In this process only, and not by PYTEST_ADDOPTS: some tests run the pytest of others.
    config.option.xmlpath = config.option.xmlpath or os.environ["JUDGE_RESULTS"]
    config.pluginmanager.register(Outcome(pathlib.Path(os.environ["JUDGE_OUTCOME"])), "judge-outcome")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        # Decorators of unittest, as `tier.full_only` is one, skip methods of test cases only.
        test = getattr(item, "function", None)
        if getattr(test, "__unittest_skip__", False):
            item.add_marker(pytest.mark.skip(reason=test.__unittest_skip_why__))
    if "JUDGE_ONLY" in os.environ:
        only = set(json.loads(pathlib.Path(os.environ["JUDGE_ONLY"]).read_text()))
        found = [item for item in items if {item.nodeid, file_of(item.nodeid)} & only]
        missing = only - {item.nodeid for item in found} - {file_of(item.nodeid) for item in found}
        if missing:
            raise pytest.UsageError(f"cannot run again what is not there: {', '.join(sorted(missing))}")
        config.hook.pytest_deselected(items=[item for item in items if item not in found])
        items[:] = found


def pytest_runtest_setup():
    simulator.forget_ended()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    if report.failed:
        report.sections += simulator.evidence()


def file_of(nodeid):
    return nodeid.split("::")[0]


class Outcome:
    """Notes what `judge` asks for. With several processes this is the one that all reports go to."""

    def __init__(self, file):
        self.file = file
        self.tests = set()
        self.failed = {}
        self.fatal = []

    def pytest_collectreport(self, report):
        if report.failed:
            self.fatal.append(f"cannot collect {report.nodeid}")

    def pytest_runtest_logreport(self, report):
        self.tests.add(report.nodeid)
        if not report.failed:
            return
        self.failed[report.nodeid] = file_of(report.nodeid) if "story" in report.keywords else report.nodeid
        if report.when not in ("setup", "call", "teardown"):
            self.fatal.append(f"a process of pytest ended during {report.nodeid}")
        if "panicked at" in report.longreprtext:
            self.fatal.append(f"a simulator panicked by the end of {report.nodeid}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if session.shouldfail or session.shouldstop:
            self.fatal.append(f"not all tests ran: {session.shouldfail or session.shouldstop}")
        again = list(dict.fromkeys(self.failed.values()))
        outcome = {"tests": len(self.tests), "failed": list(self.failed), "again": again, "fatal": self.fatal}
        self.file.write_text(json.dumps(outcome))
