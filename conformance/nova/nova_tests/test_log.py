"""What the driver logs can be found by the request that it was done for."""

import logging

from oslo_log import formatters

from nova_tests.base import PowerVMTest


class Lines(logging.Handler):
    """The requests that oslo.log finds for what is logged, and what it says."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []
        self.setFormatter(formatters.ContextFormatter())

    def emit(self, record):
        self.format(record)
        self.lines.append((getattr(record, "request_id", None), record.getMessage()))


def with_its_context(method):
    """A thread of nova-compute has the context of the request that it is about. Here all services are in one process, and whichever made
    a context last has left its own."""

    def call(context, *arguments, **options):
        context.update_store()
        return method(context, *arguments, **options)

    return call


class LogTest(PowerVMTest):
    def setUp(self):
        super().setUp()
        logger = logging.getLogger("landfall_powervm.native")
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel(logging.DEBUG)
        self.log = Lines()
        logger.addHandler(self.log)
        self.addCleanup(logger.removeHandler, self.log)
        for name in ("spawn", "destroy"):
            setattr(self.compute.driver, name, with_its_context(getattr(self.compute.driver, name)))

    def requests(self, beginning):
        """The requests of the lines that begin so."""
        found = [request for request, message in self.log.lines if message.startswith(beginning)]
        self.assertGreater(len(found), 3, self.log.lines)
        return set(found)

    def request_of(self, made, action):
        return next(one["request_id"] for one in self.api.get_instance_actions(made["id"]) if one["action"] == action)

    def test_every_line_names_its_request(self):
        one, other = self.create(name="one"), self.create(name="other")
        wanted = {self.request_of(made, "create") for made in (one, other)}
        self.assertEqual(2, len(wanted))
        self.assertEqual(wanted, self.requests("spawn: "))
        self.delete(one)
        self.assertEqual({self.request_of(one, "delete")}, self.requests("destroy: "))
