"""Runs the test cases of a package or folder in this process, for Nova, whose cases neither pytest nor several processes suit.

    unittests.py FOLDER [WORD...]

Words are regular expressions: a test runs if its id matches one of them. Results and outcome are written for `judge`, which see.
UNITTESTS_PART=2/3 runs the second of three parts, which have about as many tests each; a class is in one part as a whole.
"""

import collections
import json
import os
import pathlib
import re
import sys
import time
import unittest

import junit


class Result(unittest.TestResult):
    """Times each test, and tells of it when it has ended."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.cases = []

    def startTest(self, test):
        super().startTest(test)
        # Nova's test case forgets its own attributes when it is done.
        self._id, self._begin, self._end = test.id(), time.monotonic(), ("passed", "")

    def stopTest(self, test):
        super().stopTest(test)
        self._note(self._id, time.monotonic() - self._begin, *self._end)

    def _note(self, name, seconds, outcome, text):
        self.cases.append((name, seconds, outcome, text))
        print(f"{outcome:8} {seconds:7.1f} s  {name}{f': {text}' if outcome == 'skipped' else ''}", file=self.stream, flush=True)

    def _failed(self, outcome, test, text):
        if isinstance(test, unittest.suite._ErrorHolder):
            # Of a class or module: no test was begun.
            self._note(test.id(), 0.0, outcome, text)
        else:
            # A test that fails and cannot be cleaned up fails twice.
            self._end = (outcome, "\n".join(filter(None, [self._end[1], text])))

    def addError(self, test, err):
        super().addError(test, err)
        self._failed("error", test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed("failure", test, self.failures[-1][1])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._failed("failure", test, "unexpected success")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self.testsRun and hasattr(self, "_id") and test.id() == self._id:
            self._end = ("skipped", reason)
        else:
            self._note(test.id(), 0.0, "skipped", reason)


def each(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from each(part)
        else:
            yield part


def part_of(tests, number, count):
    """Returns the tests of one part."""
    classes = collections.Counter(type(test) for test in tests)
    parts = [[] for _ in range(count)]
    sizes = [0] * count
    # The largest first, each to the smallest part: every process comes to the same result.
    for cls, size in sorted(classes.items(), key=lambda item: (-item[1], item[0].__module__, item[0].__qualname__)):
        smallest = sizes.index(min(sizes))
        parts[smallest].append(cls)
        sizes[smallest] += size
    return [test for test in tests if type(test) in parts[number - 1]]


def main(folder, words):
    loader = unittest.TestLoader()
    package = pathlib.Path(folder, "__init__.py").exists()
    found = list(each(loader.discover(folder, top_level_dir=str(pathlib.Path(folder).parent) if package else folder)))
    only = os.environ.get("JUDGE_ONLY")
    if only:
        wanted = set(json.loads(pathlib.Path(only).read_text()))
        chosen = [test for test in found if test.id() in wanted]
    else:
        wanted = set()
        chosen = [test for test in found if not words or any(re.search(word, test.id()) for word in words)]
        number, count = map(int, os.environ.get("UNITTESTS_PART", "1/1").split("/"))
        chosen = part_of(chosen, number, count)
    result = Result(sys.stderr)
    fatal = [f"cannot import tests: {error}" for error in loader.errors]
    fatal += [f"cannot run again what is not there: {missing}" for missing in wanted - {test.id() for test in chosen}]
    if not fatal:
        unittest.TestSuite(chosen).run(result)
    for name, _, outcome, text in result.cases:
        if outcome in ("failure", "error"):
            print(f"{'=' * 70}\n{outcome}: {name}\n{'-' * 70}\n{text}", file=sys.stderr)
    failed = [name for name, _, outcome, _ in result.cases if outcome in ("failure", "error")]
    fatal += [f"a simulator panicked by the end of {name}" for name, _, _, text in result.cases if "panicked at" in text]
    seconds = sum(case[1] for case in result.cases)
    skipped = sum(case[2] == "skipped" for case in result.cases)
    print(f"{len(result.cases)} tests in {seconds:.0f} s, {len(failed)} failed, {skipped} skipped", file=sys.stderr)
    if "JUDGE_OUTCOME" in os.environ:
        results = pathlib.Path(os.environ["JUDGE_RESULTS"])
        junit.write(results, results.stem, result.cases)
        outcome = {"tests": len(result.cases), "failed": failed, "again": failed, "fatal": fatal}
        pathlib.Path(os.environ["JUDGE_OUTCOME"]).write_text(json.dumps(outcome))
    for reason in fatal:
        print(reason, file=sys.stderr)
    return 1 if failed or fatal or not result.cases else 0


if __name__ == "__main__":
    code = main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Not by returning: threads of Nova and of pypowervm sleep for minutes before they end.
    os._exit(code)
