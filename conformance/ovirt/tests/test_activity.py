"""Jobs and events: what the engine did, by the correlation id of the call that asked for it."""

import ovirtsdk4 as sdk
import pytest
from ovirtsdk4 import types

from simulator import wait_for


def test_a_job_follows_a_call_by_its_correlation_id(system, world):
    correlation = world.name("corr")
    disk = system.disks_service().add(
        types.Disk(
            name=world.name("job"),
            format=types.DiskFormat.COW,
            sparse=True,
            provisioned_size=1 << 30,
            storage_domains=[types.StorageDomain(id=world.storage_domain.id)],
        ),
        query={"correlation_id": correlation},
    )

    def jobs():
        return system.jobs_service().list(search=f"correlation_id={correlation}")

    started = wait_for("a job", jobs, bool)
    assert len(started) == 1
    assert disk.name in started[0].description
    done = wait_for("its end", jobs, lambda found: found[0].status != types.JobStatus.STARTED)
    assert done[0].status == types.JobStatus.FINISHED
    assert done[0].end_time >= done[0].start_time
    # Nobody sees a finished job whose disk is still locked.
    assert world.disk_service(disk).get().status == types.DiskStatus.OK
    steps = system.jobs_service().job_service(done[0].id).steps_service().list()
    assert all(step.status == types.StepStatus.FINISHED for step in steps)
    world.disk_service(disk).remove()


def test_events_tell_what_happened(system, world):
    events = system.events_service()
    last = events.list(max=1)
    newest = int(last[0].id) if last else 0
    correlation = world.name("corr")
    vm = world.add_vm(query={"query": {"correlation_id": correlation}})
    found = wait_for("an event", lambda: events.list(search=f"correlation_id={correlation}"), bool)
    assert any(vm.name in event.description for event in found)
    assert all(event.correlation_id == correlation for event in found)
    assert all(event.severity == types.LogSeverity.NORMAL for event in found)
    assert any(event.vm and event.vm.id == vm.id for event in found)
    # From an index on, the newest first.
    later = events.list(from_=newest)
    indexes = [int(event.id) for event in later]
    assert all(index > newest for index in indexes)
    assert set(event.id for event in found) <= set(event.id for event in later)
    assert indexes == sorted(indexes, reverse=True)
    # One event, by its index.
    assert events.event_service(found[0].id).get().description == found[0].description
    world.remove_vm(vm)
    removed = wait_for("its removal", lambda: events.list(search=f"vm.name={vm.name} or {vm.name}"), bool)
    assert removed


def test_events_have_pages_and_severities(system):
    events = system.events_service()
    assert len(events.list(max=2)) == 2
    assert {e.severity for e in events.list(search="severity=normal", max=50)} == {types.LogSeverity.NORMAL}


def test_clients_can_leave_events(system, world):
    events = system.events_service()
    text = world.name("a note")
    made = events.add(
        types.Event(description=text, severity=types.LogSeverity.WARNING, origin="conformance", custom_id=4711)
    )
    again = events.event_service(made.id).get()
    assert (again.description, again.severity, again.origin) == (text, types.LogSeverity.WARNING, "conformance")
    events.event_service(made.id).remove()
    with pytest.raises(sdk.NotFoundError):
        events.event_service(made.id).get()


def test_clients_can_keep_jobs_of_their_own(system, world):
    jobs = system.jobs_service()
    job = jobs.add(types.Job(description=world.name("outside"), auto_cleared=True))
    service = jobs.job_service(job.id)
    step = service.steps_service().add(types.Step(description="one", type=types.StepEnum.EXECUTING))
    assert service.get().status == types.JobStatus.STARTED
    service.steps_service().step_service(step.id).end(succeeded=True)
    service.end(succeeded=True)
    wait_for("the end", service.get, lambda job: job.status == types.JobStatus.FINISHED)
