"""A group remembers which process has a task, so that no state on a disk is opened twice.

This is an index that follows the members' records one by one, as Kafka's does, and not a view of
the members: where two members of one process have the same standby task (one of them came from
another process meanwhile), the first that gives it up takes the process off the index. Seen on
4.3.1 in 1 of some 60 random walks.

Sources: StreamsGroup.maybeUpdateTaskProcessId@4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.group.streams.tasks import Task

if TYPE_CHECKING:
    from touchstone.reference_impl.group.streams.group import StreamsMember


class Holders:
    """Who has tasks, or has still to give them up."""

    def __init__(self) -> None:
        self.active: dict[Task, str] = {}  # -> process
        self.passive: set[tuple[Task, str]] = set()  # standbys and warm-ups, with the process

    def move(self, before: StreamsMember | None, after: StreamsMember | None) -> None:
        """A record of a member was written; None where there is none before or after it."""
        if before is not None:
            for held in (before.assigned, before.revoking):
                for task in held.active:
                    if self.active.get(task) == before.process_id:
                        del self.active[task]
                for task in (*held.standby, *held.warmup):
                    self.passive.discard((task, before.process_id))
        if after is not None:
            for held in (after.assigned, after.revoking):
                self.active.update(dict.fromkeys(held.active, after.process_id))
                self.passive |= {(task, after.process_id) for task in (*held.standby, *held.warmup)}
