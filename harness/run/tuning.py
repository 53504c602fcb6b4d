"""Whose turn it is on a cluster that somebody else runs, and what is set on it meanwhile.

Cases share the cluster. Some want dynamic settings: pace (harness/model/pace.py) is set once for
the whole run where nobody can see it, and for the cases of one shape where a topic's configs tell
it; a setting that a claim is about is set for its case, which then has the cluster to itself. All
of it is put back. A cluster that does not take settings is judged as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Protocol, runtime_checkable

from touchstone.harness.driver.side_by_side import Sharing
from touchstone.harness.model import pace
from touchstone.harness.model.target import Endpoint, OutOfScope, Setting, Shape

WantedSettings = tuple[tuple[str, str], ...]
State = tuple[Hashable, WantedSettings]  # the cluster of a case, and what is set on it


@runtime_checkable
class Alterable(Protocol):
    """A running cluster whose dynamic settings can be changed."""

    name: str

    def settings(self) -> Mapping[str, Setting]:
        """The settings in force when it was first looked at."""

    def alter(self, changes: Mapping[str, str | None]) -> str | None:
        """Set or (None) delete settings of all brokers; why that was refused, in words."""


class Tuning:
    """The settings of one cluster for as long as a run lasts; of None, which has its own.

    `whole_run`: one cluster serves the whole run, so that its pace can be set once; else there is
    `room` for several clusters at a time.
    """

    def __init__(self, cluster: Alterable | None, *, whole_run: bool = True, room: int = 1) -> None:
        self.cluster, self.whole_run = cluster, whole_run
        self.takes_settings = False
        self._sharing: Sharing[State] = Sharing(self._switch, room)
        self._run: dict[str, str] = {}  # set for the whole run
        self._phase: dict[str, str] = {}  # set for the cases of one shape
        self._case: dict[str, str] = {}  # set for one case, which is alone

    def quicken(self, shapes: Iterable[Shape]) -> list[str]:
        """Set what only sets the pace, for the whole run; lines that tell a reader."""
        if self.cluster is None or not self.whole_run:
            return []
        before = self.cluster.settings()
        changes = pace.quick(shapes, before, told=False)
        self.takes_settings = not changes or self.cluster.alter(changes) is None
        if not changes or not self.takes_settings:
            return []
        self._run = changes
        pairs = (f"{name}={new} (was {before[name].value})" for name, new in changes.items())
        told = ", ".join(pairs)
        return [f"set on {self.cluster.name} for this run, and put back after it: {told}"]

    def in_force(self, endpoint: Endpoint, shape: Shape) -> Mapping[str, Setting]:
        """The settings that a case of this shape meets."""
        now = self._run | dict(self._wanted(shape))
        changed = {name: Setting(value, True) for name, value in now.items()}
        return {**(endpoint.settings or {}), **changed}

    @contextlib.contextmanager
    def turn(self, shape: Shape, cluster: Hashable = None, *, alone: bool) -> Iterator[None]:
        """The turn of a case of this shape on this cluster; `alone`: nobody else is on it."""
        take = self._sharing.alone if alone else self._sharing.shared
        with take((cluster, self._wanted(shape))):
            yield

    @property
    def clusters(self) -> list[Hashable]:
        """Those on which cases have a turn."""
        return [state[0] for state in self._sharing.keys if state is not None]

    @contextlib.contextmanager
    def set_for_case(self, settings: Mapping[str, str]) -> Iterator[None]:
        """These settings for one case, which must be alone.

        Raises OutOfScope when the cluster refuses one: the claim is about it.
        """
        if not settings:
            yield
            return
        wanted = ", ".join(f"{name}={value}" for name, value in settings.items())
        if self.cluster is None:
            raise OutOfScope(f"wants settings that the target has not: {wanted}")
        self._case = dict(settings)
        try:
            refused = self.cluster.alter(settings)
            if refused:
                raise OutOfScope(f"wants settings that the target refuses: {wanted} ({refused})")
            yield
        finally:
            self.cluster.alter(dict.fromkeys(settings))
            self._case = {}

    @property
    def changed(self) -> dict[str, str]:
        """What is set now and was not before the run."""
        return self._run | self._phase | self._case

    def renew(self) -> None:
        """Set again what is set for many cases: the cluster may have ended and forgotten it."""
        if self.cluster is not None and (self._run or self._phase):
            self.cluster.alter(self._run | self._phase)

    def put_back(self) -> str | None:
        """Bring everything back as it was before the run; why that was refused, in words."""
        changed = self.changed
        refused = None
        if self.cluster is not None and changed:
            refused = self.cluster.alter(dict.fromkeys(changed))
        self._run, self._phase, self._case = {}, {}, {}
        return refused and f"{', '.join(changed)} of all brokers ({refused})"

    def _wanted(self, shape: Shape) -> WantedSettings:
        if self.cluster is None or not self.takes_settings:
            return ()
        return tuple(pace.quick([shape], self.cluster.settings(), told=True).items())

    def _switch(self, state: State | None) -> None:
        """Set what the next cases want, and put back what only the last ones wanted."""
        wanted = dict(() if state is None else state[1])
        if self.cluster is not None and wanted != self._phase:
            gone = dict.fromkeys(name for name in self._phase if name not in wanted)
            self.cluster.alter(gone | wanted)
            self._phase = wanted
