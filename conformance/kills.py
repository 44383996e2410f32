"""`kill -9` of the real program again and again while it creates a cluster and while it destroys it, judged by foreign clients.

A suite gives a world: a running simulator, an install-config for it, and a census, which is all that its clients see. Each time the
program is killed, another process goes on, once in a copy of the install directory elsewhere. In the end the platform holds exactly
what the cluster is made of, nothing twice; and after the destruction exactly what it held before. A neighbour whose objects are
called almost like the cluster's keeps all of them as they were.

Earlier tests of crashes missed that a second process rendered other files than those that machines had pinned:

- `kill_at_every_step` (crates/testkit) drops a future and applies the plan again in the same process. User data are constants of
  the fixture: nothing is rendered, so nothing can be rendered anew.
- `kills.rs` (crates/landfall/tests/cluster) kills the real program at every call, which renders again, but on oVirt: there a machine
  gets its config as a whole when it is made, and nothing holds the digest of a file that a later process writes. The inventories
  that it compares have names and sizes, and not the contents of configs. `powervm/trouble.rs` is the same for config drives.
- On Packet and PowerVS, where the bootstrap machine gets a pointer with a digest, no run was killed: the program ran a second time
  only when the bootstrap machine had fetched its config.
- No test compared the files of two runs. With `openshift` none went further than the files.

Seeds choose the moments. What the machines do meanwhile is not repeated, so a seed is a kind of trouble and no recording.
LANDFALL_SEED=N runs that seed alone.
"""

import collections
import contextlib
import os
import pathlib
import random
import re
import shlex
import time

import installation
import tier
from simulator import wait_for

SEED = "LANDFALL_SEED"

# Distributions whose installer is another program. A stand-in for it, which mints other authorities each time, is among the fixtures.
OTHERS = ("openshift", "okd")
STAND_IN = pathlib.Path(__file__).resolve().parent.parent / "crates/assets/tests/fixtures/openshift/openshift-install"
# Exit code of a run whose cluster does not come up.
NOT_UP = 5

# Kills after the first record, in the gate and in the full tier: while it is created, and while it is destroyed.
WHILE_CREATED, WHILE_DESTROYED = tier.choose(3, 5), tier.choose(1, 2)
# The longest that a process lives before it is killed at a random time.
LONGEST_LIFE = 2.0
# The same while it renders.
LONGEST_RENDERING = 0.5
# How often the journal is looked at. A kill comes so much later than the record, at most.
LOOK = 0.001


def seeds(full=50):
    """Returns the seeds of this run: one in the gate, many in the full tier, or the one that the environment names."""
    chosen = os.environ.get(SEED)
    if chosen is None:
        return list(range(1, 1 + tier.choose(1, full)))
    if not chosen.isdigit():
        raise SystemExit(f"cannot read {SEED}: {chosen!r} is no number")
    return [int(chosen)]


class World:
    """What a platform gives to a trial. A suite derives its own."""

    # Name of the suite.
    platform = None
    # How far the journal has come when the cluster is ready. Kills are spread over it.
    reach = None
    # The running simulator.
    simulator = None
    # What is drawn by lot in labels, and what stands for it.
    drawn = ((r"ID-worker-[a-z0-9]{5}(?![a-z0-9])", "ID-worker-RANDOM"),)
    # Environment of the program, and private files of the install directory.
    variables, files = {}, {}

    def config(self):
        """Returns an install-config with one master and one worker."""
        raise NotImplementedError

    def census(self):
        """Returns all objects that the clients see, as (label, details) by kind and id. Labels say what an object is, details all
        that must not change of an object that is not the cluster's."""
        raise NotImplementedError

    def move_in(self, infra_id):
        """Makes a neighbour's objects, whose names begin as those of the cluster."""
        raise NotImplementedError

    def expected(self, distribution):
        """Returns the labels of what a cluster adds, each as often as it is there. ID stands for its infra id."""
        raise NotImplementedError


class Trial:
    """One cluster, from nothing to nothing."""

    def __init__(self, world, directory, seed, distribution="kubernetes"):
        self.world, self.seed, self.distribution = world, seed, distribution
        self.random = random.Random(f"{world.platform} {distribution} {seed}")
        config, self.ends_with = world.config(), 0
        if distribution in OTHERS:
            # Light guests are no OpenShift: the run ends when it has waited for the API.
            self.ends_with = NOT_UP
            change_distribution(config, distribution, directory)
        self.directory = directory
        self.install = installation.Installation(directory, config, world.variables, world.files)
        self.story, self.before, self.digests = [], None, None
        self.reached, self.died_at = (0, 0), set()
        print(self._replay())

    # The whole story.

    def survive(self):
        """Kills at moments that the seed draws."""
        self._begin()
        moved = self.random.randrange(WHILE_CREATED)
        for number in range(WHILE_CREATED):
            if self._until("create", self._drawn(self.world.reach // WHILE_CREATED), self.ends_with):
                break
            if number == moved:
                self._move()
        self._created(self._finish("create", self.ends_with))
        for _ in range(WHILE_DESTROYED):
            if self._until("destroy", self._drawn(self.world.reach // (WHILE_DESTROYED + 1)), 0):
                break
        self._destroyed(self._finish("destroy", 0))

    def survive_every_record(self):
        """Kills each process as soon as the journal has a record that none has died at yet. So each record of the journal was the last
        one for a process, or one of the last that were written together."""
        self._begin()
        for command, code in (("create", self.ends_with), ("destroy", 0)):
            while not self._until(command, self._new_record(), code):
                pass
            check = self._created if command == "create" else self._destroyed
            check(self._finish(command, code))

    # Moments: conditions for the death of a process, and what they are called.

    def _drawn(self, furthest):
        if self.random.randrange(3) == 0:
            return self._age(self.random.uniform(0.001, LONGEST_LIFE))
        return self._further(self.random.randint(1, furthest))

    def _age(self, seconds):
        began = time.monotonic()
        return f"for {seconds:.3f} s", lambda: time.monotonic() >= began + seconds

    def _further(self, steps):
        self._look()
        goal = self.reached[1] + steps
        return f"to {goal} of the journal", lambda: self._look()[1] >= goal

    def _new_record(self):
        self.died_at |= self.install.records() or set()
        return f"with {len(self.died_at)} kinds of records before it", lambda: bool((self.install.records() or set()) - self.died_at)

    def _look(self):
        self.reached = self.install.journal() or self.reached
        return self.reached

    # Before the first record.

    def _begin(self):
        """Kills before anything is intended: while it renders, as soon as there is an infra id, as soon as there is a journal, and
        between the freezing of what is handed out and the first intention. None of them may have made anything."""
        at_first = self.world.census()
        path = self.install.path
        has_identity = (path / installation.IDENTITY).exists
        what, has_come = self._age(self.random.uniform(0.001, LONGEST_RENDERING))
        self._early(f"{what}, or until it has an infra id", lambda: has_come() or has_identity())
        self._early("until it has an infra id", has_identity)
        assert self.world.census() == at_first, self._told("something was made before the journal was there")
        self.world.move_in(self.install.infra_id())
        self.before = self.world.census()
        with self._silence():
            self._early("until it makes the journal's file", (path / installation.JOURNAL).exists)
            self._early("until it has a journal", lambda: self.install.journal() is not None)
        # The journal can be read and not be written: the process gets as far as it can without an intention.
        with contextlib.closing(self.install.hold_journal()):
            self._early("until it has frozen", (path / installation.FROZEN).exists)
        assert self._look()[0] == 0, self._told("a record was written while the journal was held")
        self._untouched()

    @contextlib.contextmanager
    def _silence(self):
        """The platform answers nothing, so a process gets no further than to its first question."""
        self.world.simulator.add_fault("* * latency=10000h")
        try:
            yield
        finally:
            # The clients of this process end their sessions by calls, too.
            self.world.simulator.clear_faults()

    def _early(self, what, has_come):
        run = self._die(what, has_come)
        assert run is None, self._told(f"it ended before: {run.stderr()}")

    def _untouched(self):
        seen = self.world.census()
        assert seen == self.before, self._told(f"the platform changed without a record: {difference(self.before, seen)}")

    # Deaths.

    def _die(self, what, has_come, command="create"):
        """Starts a process and kills it when something has come about. Returns its run if it came to its end before."""
        run = self.install.start(command, "cluster")
        self.story.append(f"{command} {what}")

        def look():
            # Before the look: what came about just before the end counts.
            ended = run.ended()
            return has_come() or ended

        try:
            wait_for(self._told(what), look, bool, every=LOOK, timeout=300, progress=lambda _: (self.reached, run.told()))
        finally:
            ended = run.ended()
            run.kill()
        return run if ended else None

    def _until(self, command, moment, code):
        """Returns True if the process came to its end before the moment."""
        what, has_come = moment
        run = self._die(what, has_come, command)
        if run is not None:
            self.story[-1] += ", which is its end"
            assert run.wait() == code, self._told(f"{command} ended with {run.wait()}: {run.stderr()}")
        self._same_files()
        return run is not None

    def _finish(self, command, code):
        run = self.install.run(command, "cluster")
        self.story.append(f"{command} to its end")
        assert run.wait() == code, self._told(f"{command} ended with {run.wait()}: {run.stderr()}")
        self._same_files()
        return run

    def _move(self):
        self.install.move(self.directory / "elsewhere" / "dir")
        self.story.append("the directory moves")

    # Judgement.

    def _same_files(self):
        """From the first intention on, what was handed out stays what it was."""
        records = self._look()[0]
        if records == 0:
            return self._untouched()
        digests = self.install.digests()
        if self.digests is None:
            self.digests = digests
            missing = {"bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig"} - digests.keys()
            assert not missing, self._told(f"not there at the first intention: {missing}")
        changed = {name for name in self.digests if digests.get(name) != self.digests[name]}
        assert not changed, self._told(f"not as they were handed out: {changed}")

    def _created(self, run):
        labels, expected = self._added(), self.world.expected(self.distribution)
        while self.ends_with == NOT_UP and labels != expected:
            # A run that waits for the API in vain may end before all steps beside it have.
            reached = self._look()[1]
            self._finish("create", NOT_UP)
            labels = self._added()
            if self._look()[1] == reached:
                break
        assert labels == expected, self._told(f"too many: {labels - expected}, too few: {expected - labels}")
        if run.wait() == 0:
            nodes = [word for word in re.findall(r"\S+", run.stdout()) if word.startswith(self.install.infra_id() + "-")]
            assert len(nodes) == len(set(nodes)) == 2, self._told(run.stdout())

    def _added(self):
        """What the clients see of the cluster. All else must be as it was."""
        seen = self.world.census()
        self._neighbour_kept(seen)
        return collections.Counter(self._plain(label) for key, (label, _) in seen.items() if key not in self.before)

    def _plain(self, label):
        """A label without what differs between two clusters of one config."""
        label = label.replace(self.install.infra_id(), "ID")
        for pattern, name in self.world.drawn:
            label = re.sub(pattern, name, label)
        return label

    def _destroyed(self, run):
        seen = self.world.census()
        self._neighbour_kept(seen)
        print("; ".join(self.story))
        assert seen == self.before, self._told(f"after the destruction: {difference(self.before, seen)}; {run.stderr()}")

    def _neighbour_kept(self, seen):
        lost = {key: own for key, own in self.before.items() if seen.get(key) != own}
        assert not lost, self._told(f"of others, and not as it was: {lost}, now {[seen.get(key) for key in lost]}")

    def _told(self, what):
        return f"seed {self.seed}, {self.distribution}: {what}\n{'; '.join(self.story)}\n{'; '.join(self.install.steps())}\n{self._replay()}"

    def _replay(self):
        return f"replay with LANDFALL_TIER={tier.TIER} {SEED}={self.seed} conformance/{self.world.platform}/run -k kills"


def change_distribution(config, distribution, directory):
    """Makes an install-config one for another distribution."""
    keys, program = directory.parent / "openshift-keys", directory / "openshift-install"
    keys.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\nFAKE_KEYS={shlex.quote(str(keys))} exec python3 {shlex.quote(str(STAND_IN))} \"$@\"\n")
    program.chmod(0o755)
    config.update(
        distribution=distribution,
        pullSecret='{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNzd29yZA=="}}}',
        openshiftInstall={"path": str(program)},
        timeouts={"api": "2s"},
    )
    config["controlPlane"]["replicas"], config["compute"][0]["replicas"] = 3, 2


def difference(before, after):
    gone = [own for key, own in before.items() if key not in after]
    new = [own for key, own in after.items() if key not in before]
    changed = [(before[key], after[key]) for key in before if key in after and before[key] != after[key]]
    return f"gone {gone}, new {new}, changed {changed}"
