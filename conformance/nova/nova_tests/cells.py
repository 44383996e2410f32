"""Which database a context means: that of the cell that it is targeted at, else that of the only cell with computes, as in a real Nova.

Nova's own fixture remembers for all threads together which cell was targeted last, behind a lock for readers and writers. With real threads
that comes to a halt under load, as their stacks have shown. One thread has targeted a cell, is a reader therefore, and waits for its turn to
write to SQLite, which is another lock. A service that reports that it is alive has that turn, and asks the first lock, in the middle of it,
which cell its untargeted context means. It is not let in, because a third thread waits there to note another cell, and that one waits for
the first. Where there is only one cell with computes, nobody needs to remember anything.
"""

import contextlib

from nova.tests import fixtures


@contextlib.contextmanager
def _target_cell(self, context, cell_mapping):
    with self._real_target_cell(context, cell_mapping) as targeted:
        yield targeted


def _get_context_manager(self, context):
    return getattr(context, "db_connection", None) or self._default_ctxt_mgr


def without_a_lock():
    fixtures.CellDatabases._wrap_target_cell = _target_cell
    fixtures.CellDatabases._wrap_get_context_manager = _get_context_manager
