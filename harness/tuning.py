"""Whose turn it is on a cluster that somebody else runs, and what is set on it meanwhile.

Cases share the cluster. Some want dynamic settings: pace (harness/pace.py) is set once for the
whole run where nobody can see it, and for the cases of one shape where a topic's configs tell it; a
setting that a claim is about is set for its case, which then has the cluster to itself. All of it
is put back. A cluster that does not take settings is judged as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from harness import pace
from harness.driver.side_by_side import Sharing
from harness.target import Endpoint, Setting, Shape, Unavailable

Wanted = tuple[tuple[str, str], ...]


class Alterable(Protocol):
    """A running cluster whose dynamic settings can be changed."""

    name: str

    def settings(self) -> Mapping[str, Setting]:
        """The settings in force when it was first looked at."""

    def alter(self, changes: Mapping[str, str | None]) -> str | None:
        """Set or (None) delete settings of all brokers; why that was refused, in words."""


class Tuning:
    """The settings of one cluster for as long as a run lasts; of None, which has its own."""

    def __init__(self, cluster: Alterable | None) -> None:
        self.cluster = cluster
        self.takes_settings = False
        self._sharing = Sharing(self._switch)
        self._run: dict[str, str] = {}  # set for the whole run
        self._phase: dict[str, str] = {}  # set for the cases of one shape

    def quicken(self, shapes: Iterable[Shape]) -> list[str]:
        """Set what only sets the pace, for the whole run; lines that tell a reader."""
        if self.cluster is None:
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
    def turn(self, shape: Shape, fit: pace.Fit, *, alone: bool) -> Iterator[None]:
        """The cluster as a case of this shape wants it; `alone`: nobody else is on it.

        Raises Unavailable when the cluster refuses a setting that the claim is about.
        """
        take: Callable[[Any], AbstractContextManager[None]] = (
            self._sharing.alone if alone else self._sharing.shared
        )
        with take(self._wanted(shape)), self._set(fit.settable):
            yield

    def put_back(self) -> None:
        """As it was before the run."""
        changed = self._run | self._phase
        if self.cluster is not None and changed:
            self.cluster.alter(dict.fromkeys(changed))
        self._run, self._phase = {}, {}

    def _wanted(self, shape: Shape) -> Wanted:
        if self.cluster is None or not self.takes_settings:
            return ()
        return tuple(pace.quick([shape], self.cluster.settings(), told=True).items())

    def _switch(self, wanted: Any) -> None:
        """Set what the next cases want, and put back what only the last ones wanted."""
        wanted = dict(wanted or ())
        if self.cluster is not None and wanted != self._phase:
            gone = dict.fromkeys(name for name in self._phase if name not in wanted)
            self.cluster.alter(gone | wanted)
            self._phase = wanted

    @contextlib.contextmanager
    def _set(self, settings: Mapping[str, str]) -> Iterator[None]:
        if not settings or self.cluster is None:
            yield
            return
        refused = self.cluster.alter(settings)
        if refused:
            wanted = ", ".join(f"{name}={value}" for name, value in settings.items())
            raise Unavailable(f"wants settings that the target refuses: {wanted} ({refused})")
        try:
            yield
        finally:
            self.cluster.alter(dict.fromkeys(settings))
