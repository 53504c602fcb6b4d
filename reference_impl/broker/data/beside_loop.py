"""Work that takes long and touches nothing of the broker is done beside the loop, if there is one.

Without a loop (in tests, under virtual time) it is done at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.ticket import Ticket

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

Job = Callable[[], None]


class BesideLoop:
    """`submit(job, then)`: run the job; `then()` follows in the loop's thread, whatever became of
    the job.
    """

    def __init__(self, broker: Broker) -> None:
        self.submit: Callable[[Job, Job], None] = _at_once

    def done(self, jobs: list[Job]) -> Ticket[bool]:
        """Return what is answered when all of them are done."""
        ticket: Ticket[bool] = Ticket()

        def all_of_them() -> None:
            for job in jobs:
                job()

        self.submit(all_of_them, lambda: ticket.give(True))
        return ticket


def _at_once(job: Job, then: Job) -> None:
    job()
    then()
