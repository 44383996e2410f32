"""Instances that are switched on or off, by whomever, as Nova's events.

Nova asks for the state of the instance again when it gets one, and does nothing while it does something with the instance itself.
"""

from nova.virt import event

# A partition on its way to one of these is told of when it has arrived. One in error is left to the periodic task: Nova has no event for it.
TRANSITIONS = {
    "running": event.EVENT_LIFECYCLE_STARTED,
    "open firmware": event.EVENT_LIFECYCLE_STARTED,
    "not activated": event.EVENT_LIFECYCLE_STOPPED,
    "suspended": event.EVENT_LIFECYCLE_SUSPENDED,
}


def lifecycle(news):
    """The event for what the Rust half tells of an instance, if there is one."""
    transition = TRANSITIONS.get(news["state"].lower())
    return None if transition is None else event.LifecycleEvent(news["uuid"], transition)
