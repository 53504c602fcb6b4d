"""The sticky task assignor: who had a task keeps it, then who had it as a standby, then the idle.

The load of a process is its tasks for each of its members. Of equally loaded processes Java's heap
decides, filled in the order of its HashMap, so the choice is the same on every broker. Standbys, of
stateful subtopologies only, go where the task was, else to the least loaded process that has
nothing of the task yet; 4.3.1 assigns no warm-up tasks.

Sources: KIP-1071; StickyTaskAssignor, ProcessState@4.3.1; compared with its assignments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.java_heap import JavaHeap
from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.group.streams.configured import ConfiguredSubtopology
from touchstone.reference_impl.group.streams.tasks import Task, Tasks
from touchstone.reference_impl.wire.errors import ErrorCode as E


class Taker(NamedTuple):
    """A member that takes tasks, and the target it had before."""

    id: str
    process_id: str
    before: Tasks


def assign(
    takers: Iterable[Taker],
    subtopologies: Mapping[str, ConfiguredSubtopology],
    standby_replicas: int,
) -> dict[str, Tasks]:
    """The target of each taker, by id. `subtopologies` are sorted by id."""
    by_id = {taker.id: taker for taker in takers}
    ordered = [by_id[each] for each in java_order(by_id)]
    sticky = _Sticky(ordered, subtopologies, standby_replicas)
    sticky.assign_active([(n, i) for n, one in subtopologies.items() for i in range(one.tasks)])
    if standby_replicas > 0:
        sticky.assign_standby(
            [(n, i) for n, one in subtopologies.items() if one.stateful for i in range(one.tasks)]
        )
    return {taker.id: sticky.tasks_of(taker) for taker in ordered}


class _Process:
    """The members of one process, and how many tasks each has."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.tasks: set[Task] = set()
        self.active: dict[str, set[Task]] = {}
        self.standby: dict[str, set[Task]] = {}
        self._by_load: JavaHeap[str] | None = None

    @property
    def load(self) -> float:
        return sum(self.counts.values()) / len(self.counts)

    def add(self, member_id: str, task: Task, *, active: bool) -> int:
        """How many tasks the member has now."""
        self._by_load = None
        return self._add(member_id, task, active=active)

    def add_to_idlest(self, task: Task, *, active: bool) -> int:
        if len(self.counts) == 1:
            return self._add(next(iter(self.counts)), task, active=active)
        if self._by_load is None:
            self._by_load = JavaHeap(java_order(self.counts), self.counts.__getitem__)
        member_id = self._by_load.poll()
        count = self._add(member_id, task, active=active)
        self._by_load.add(member_id)
        return count

    def _add(self, member_id: str, task: Task, *, active: bool) -> int:
        self.tasks.add(task)
        (self.active if active else self.standby).setdefault(member_id, set()).add(task)
        self.counts[member_id] += 1
        return self.counts[member_id]


class _Quota:
    """How many tasks a member may get while there are others who have less.

    Whoever has got that many counts no more, and what is left is shared by the rest.
    """

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members

    @property
    def each(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0

    def got(self, count: int) -> None:
        if count == self.each:
            self._members -= 1
            self._tasks -= count


class _Sticky:
    def __init__(
        self,
        takers: list[Taker],
        subtopologies: Mapping[str, ConfiguredSubtopology],
        standby_replicas: int,
    ) -> None:
        self._replicas = standby_replicas
        sizes = [one.tasks for one in subtopologies.values()]
        stateful = sum(one.tasks for one in subtopologies.values() if one.stateful)
        self._active_quota = _Quota(sum(sizes), len(takers))
        self._quota = _Quota(sum(sizes) + stateful * standby_replicas, len(takers))
        processes: dict[str, _Process] = {}
        self._had_active: dict[Task, Taker] = {}
        self._had_standby: dict[Task, list[Taker]] = {}
        for taker in takers:
            processes.setdefault(taker.process_id, _Process()).counts[taker.id] = 0
            self._had_active.update(dict.fromkeys(taker.before.active, taker))
            for task in taker.before.standby:
                self._had_standby.setdefault(task, []).append(taker)
        order = java_order(processes, capacity=max(len(takers), 1))
        self._processes = {each: processes[each] for each in order}

    def tasks_of(self, taker: Taker) -> Tasks:
        process = self._processes[taker.process_id]
        return Tasks(
            frozenset(process.active.get(taker.id, ())),
            frozenset(process.standby.get(taker.id, ())),
        )

    # --- active tasks ------------------------------------------------------------------------

    def assign_active(self, tasks: list[Task]) -> None:
        tasks = sorted(tasks, key=lambda task: (task[1], task[0]))
        tasks = [task for task in tasks if not self._keep_active(self._had_active.get(task), task)]
        tasks = [task for task in tasks if not self._keep_active(self._idlest_standby(task), task)]
        if tasks and not self._processes:
            words = "Failed to compute a new target assignment"
            raise ApiError(E.UNKNOWN_SERVER_ERROR, words)
        heap = JavaHeap(self._processes.values(), lambda process: process.load)
        for task in sorted(tasks):
            process = heap.poll()
            self._got_active(process.add_to_idlest(task, active=True))
            heap.add(process)

    def _keep_active(self, taker: Taker | None, task: Task) -> bool:
        if taker is None:
            return False
        process = self._processes[taker.process_id]
        if process.counts[taker.id] >= self._active_quota.each:
            return False
        self._got_active(process.add(taker.id, task, active=True))
        return True

    def _got_active(self, count: int) -> None:
        self._active_quota.got(count)
        self._quota.got(count)

    def _idlest_standby(self, task: Task, *, passes_by: bool = False) -> Taker | None:
        """Who had the task as a standby and is least loaded; `passes_by` whose process has it.

        Of two, a later one is better only if both its process and itself are less loaded.
        """
        takers = self._had_standby.get(task)
        if not takers:
            return None
        best = takers[0]
        first = process = self._processes[best.process_id]
        load, count = process.load, process.counts[best.id]
        for taker in takers[1:]:
            process = self._processes[taker.process_id]
            blocked = passes_by and task in process.tasks
            if process.load < load and process.counts[taker.id] < count and not blocked:
                best, load, count = taker, process.load, process.counts[taker.id]
        return None if passes_by and task in first.tasks else best  # as Kafka: the first one's

    # --- standby tasks -----------------------------------------------------------------------

    def assign_standby(self, tasks: list[Task]) -> None:
        homeless: list[tuple[Task, int]] = []
        for task in sorted(tasks, key=lambda task: (task[1], task[0]), reverse=True):
            for done in range(self._replicas):
                if not (self._keep_former(task) or self._keep_standby(task)):
                    homeless.append((task, self._replicas - done))
                    break
        heap = JavaHeap(self._processes.values(), lambda process: process.load)
        for task, replicas in sorted(homeless, key=lambda each: each[0], reverse=True):
            for _ in range(replicas):
                if not self._to_idlest(heap, task):
                    break

    def _keep_former(self, task: Task) -> bool:
        """Whoever had it active keeps it as a standby."""
        return self._keep(self._had_active.get(task), task)

    def _keep_standby(self, task: Task) -> bool:
        return self._keep(self._idlest_standby(task, passes_by=True), task)

    def _keep(self, taker: Taker | None, task: Task) -> bool:
        if taker is None:
            return False
        process = self._processes[taker.process_id]
        if task in process.tasks or process.counts[taker.id] >= self._quota.each:
            return False
        self._quota.got(process.add(taker.id, task, active=False))
        return True

    def _to_idlest(self, heap: JavaHeap[_Process], task: Task) -> bool:
        """Whether any process takes it; those that have it already are put back in reverse."""
        passed = []
        found = False
        while heap and not found:
            process = heap.poll()
            passed.append(process)
            if task not in process.tasks:
                self._quota.got(process.add_to_idlest(task, active=False))
                found = True
        for process in reversed(passed):
            heap.add(process)
        return found
