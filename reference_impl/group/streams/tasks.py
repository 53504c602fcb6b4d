"""A member of a streams group has tasks: partitions of subtopologies, active, standby or warm-up.

An active task remembers the epoch it was assigned in, so that a commit of an older epoch can be
told from one of another owner (KIP-1251 for streams). 4.3.1 carries warm-up tasks in requests,
records and answers, and its assignor makes none.

Sources: KIP-1071; TasksTuple, TasksTupleWithEpochs@4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.wire.schema import Struct

Task = tuple[str, int]  # subtopology, partition
KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")


@dataclass(frozen=True, slots=True)
class Tasks:
    """A target, or what a member says that it owns."""

    active: frozenset[Task] = frozenset()
    standby: frozenset[Task] = frozenset()
    warmup: frozenset[Task] = frozenset()

    def of_kinds(self) -> tuple[frozenset[Task], frozenset[Task], frozenset[Task]]:
        return self.active, self.standby, self.warmup


@dataclass(frozen=True, slots=True)
class HeldTasks:
    """What a member has, or has to give up."""

    active: Mapping[Task, int] = field(default_factory=dict)  # -> epoch it was assigned in
    standby: frozenset[Task] = frozenset()
    warmup: frozenset[Task] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    def of_kinds(self) -> tuple[frozenset[Task], frozenset[Task], frozenset[Task]]:
        return frozenset(self.active), self.standby, self.warmup

    def joined(self, more: HeldTasks) -> HeldTasks:
        return HeldTasks(
            {**self.active, **more.active}, self.standby | more.standby, self.warmup | more.warmup
        )


def overlap(owned: Tasks, held: HeldTasks) -> bool:
    """Whether any task of a kind is in both."""
    return any(
        mine & theirs for mine, theirs in zip(owned.of_kinds(), held.of_kinds(), strict=True)
    )


def contained(owned: Tasks, held: HeldTasks) -> bool:
    """Whether all that is owned of each kind is held."""
    return all(
        mine <= theirs for mine, theirs in zip(owned.of_kinds(), held.of_kinds(), strict=True)
    )


def by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    """Partitions in their order, by subtopology in the order of names."""
    found: dict[str, list[int]] = {}
    for subtopology, index in sorted(tasks):
        found.setdefault(subtopology, []).append(index)
    return found


def rows(tasks: Iterable[Task], *, as_java: bool = False) -> list[Struct]:
    """Rows of an answer or a record: by name, or `as_java` in the order of a HashMap of names."""
    found = by_subtopology(tasks)
    names = java_order(found) if as_java else list(found)
    return [{"subtopology_id": name, "partitions": found[name]} for name in names]


def of_rows(listed: Iterable[Struct]) -> frozenset[Task]:
    return frozenset(
        (row["subtopology_id"], index) for row in listed for index in row["partitions"]
    )
