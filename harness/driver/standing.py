"""Whether a target is alive, who was asked when it ended, and whether it comes back.

An end is seen by who lost a connection and asks, and by a connection that is kept open beside the
cases (`liveness`): a target that a supervisor starts again at once answers whoever asks.

Several cases may be asked at once, so a target that ends does it under all of them. What a case
saw then says nothing about it: it is asked again, alone, and whoever ends the target once more has
done it. A target that we started is started again as often as it ends, up to a bound; for one that
is somebody else's we wait a while, for it may be slow, or be started again by its own people.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from touchstone.harness.driver.liveness import LATE_S, OpenConnection
from touchstone.harness.model.target import (
    Address,
    Death,
    Endpoint,
    Shape,
    StartFailed,
    Target,
    Unavailable,
)
from touchstone.harness.targets import probe
from touchstone.harness.targets.child import KEPT, Child

SANE_S = 5.0  # how long a sane broker may take to answer ApiVersions
STALL_S = 30.0  # a broker that stalls is asked again for so long
BACK_S = 10.0  # somebody else's broker that refuses connections is waited for so long
PAUSE_S = 0.25
POLL_S = 0.01
DEATHS = 100  # of a target that is started again; then the rest is not run
AWAY_S = 120.0  # a target that ends again and again may be away for so long, in all
EXIT_S = 1.0  # how long after its connections the process of a broker may be there
SILENCES = 2  # the same of a target that runs and answers nothing: each one costs STALL_S
OWNED = ("reference", "process", "container")
SHOWN = 3  # cases that are named, of those that were asked when a target ended
ENDED, SILENT = "ended", "stopped answering ApiVersions"

Bootstrap = tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class TargetEnd:
    """One end of a target: which cases were under way, and whether it serves again."""

    death: Death
    cases: tuple[str, ...]
    again: bool

    @property
    def how(self) -> str:
        return self.death.how

    @property
    def alone(self) -> bool:
        return len(self.cases) == 1


@dataclass(frozen=True, slots=True)
class Watch:
    """One case under way: where, and in which life of the target there."""

    case: str
    endpoint: Endpoint
    shape: Shape
    life: int

    @property
    def place(self) -> Bootstrap:
        return self.endpoint.bootstrap


class Standing:
    """A target as a run sees it: alive, or given up with a reason."""

    def __init__(self, target: Target, *, watches: bool = False) -> None:
        """`watches`: a connection to each of its brokers is kept open."""
        self.target, self.watches = target, watches
        self.gone: str | None = None
        self.deaths: list[TargetEnd] = []
        self._lock = threading.RLock()
        self._under_way: list[Watch] = []
        self._lives: Counter[Bootstrap] = Counter()
        self._ends: dict[tuple[Bootstrap, int], TargetEnd] = {}
        self._last: tuple[str, ...] = ()
        self._answered: dict[Bootstrap, float] = {}  # when a question was sent that was answered
        self._connections: dict[Address, OpenConnection] = {}
        self._away_s = 0.0  # how long cases have waited for it to be back

    @property
    def ours(self) -> bool:
        """Whether it is ours to start again."""
        return self.target.kind in OWNED or bool(getattr(self.target, "owned", False))

    @property
    def life(self) -> int:
        """Which life of the target this is; an address may be of an earlier one."""
        return len(self.deaths)

    @contextlib.contextmanager
    def asked(
        self, case: str, endpoint: Endpoint, shape: Shape, *, life: int | None = None,
        harms: bool = False,
    ) -> Iterator[Watch]:  # fmt: skip
        """A case is under way for as long as this lasts. `life` is that in which the endpoint was
        given, by default this one; of an earlier one the end is known. `harms`: it may end brokers
        itself.
        """
        with self._lock:
            if life in (None, self.life):
                self._look_before(Watch(case, endpoint, shape, 0), harms)
            watch = Watch(case, endpoint, shape, self._lives[endpoint.bootstrap])
            self._under_way.append(watch)
            self._last = tuple(one.case for one in self._under_way)
        try:
            yield watch
        finally:
            with self._lock:
                self._under_way.remove(watch)

    def end_under(self, watch: Watch, *, look: bool, late: bool = False) -> TargetEnd | None:
        """The end of the target under this case, if there was one; `look`: ask whether it lives,
        `late`: after a moment. One that dies of what it read may answer others meanwhile.

        Where it leaves many cases without an answer they come here together, and one question that
        was asked after all of them came is enough. A connection that was kept open and has ended
        tells of an end without a question.
        """
        if look and late:
            self._wait(watch.place, LATE_S)
        came = time.perf_counter()
        with self._lock:
            known = self._ends.get((watch.place, watch.life))
            if known is not None or self.gone:
                return known
            lost = self._has_lost_one(watch.place)
            if not lost and (not look or self._answered.get(watch.place, 0.0) > came):
                return None
            return self._looked_at(watch, lost)

    def _looked_at(self, watch: Watch, lost: bool) -> TargetEnd | None:
        """Its end, if it is dead, or has `lost` a connection and answers again."""
        asked = time.perf_counter()
        how, back = self._dead(watch.endpoint)
        if how is not None or lost:
            self._away_s += time.perf_counter() - asked
            return self._end(watch, how or ENDED, back or how is None)
        self._answered[watch.place] = asked
        return None

    def _look_before(self, watch: Watch, harms: bool) -> None:
        """Have a connection to each broker before a case; none where one may be ended on purpose.
        The end of the last one is one under the cases that are under way.
        """
        if self.gone or not self.watches:
            return
        place = [self._connection(address) for address in watch.place]
        if harms:
            for one in place:
                one.end()
            return
        others = any(set(one.place) & set(watch.place) for one in self._under_way)
        lost = self._has_lost_one(watch.place)
        away = [one for one in place if not one.use()]
        if others and (lost or away):
            self._looked_at(watch, True)
        elif away:
            self.returns()
        if lost or away:
            for one in place:
                one.use()

    def _connection(self, address: Address) -> OpenConnection:
        return self._connections.setdefault(address, OpenConnection(address))

    def _wait(self, place: Bootstrap, seconds: float) -> None:
        """Return when the connection to the first broker ends, or when time is up."""
        found = self._connections.get(place[0])
        if found is None:
            time.sleep(seconds)
        else:
            found.wait(seconds)

    def _has_lost_one(self, place: Bootstrap) -> bool:
        return any(
            found.has_ended()
            for address in place
            if (found := self._connections.get(address)) is not None
        )

    def close(self) -> None:
        """End what is kept open."""
        with self._lock:
            for found in self._connections.values():
                found.end()

    def returns(self) -> bool:
        """Whether a target that could not be reached is there again within a while."""
        with self._lock:
            if self.gone:
                return False
            why = self.target.available()
            deadline = time.perf_counter() + (0 if self.ours else BACK_S)
            while why is not None and time.perf_counter() < deadline:
                time.sleep(PAUSE_S)
                why = self.target.available()
            if why is not None:
                self.gone = f"the target is gone since {_named(self._last)} ({why})"
            return why is None

    def _dead(self, endpoint: Endpoint) -> tuple[str | None, bool]:
        """How it is dead, after some patience, and whether it came back by itself; (None, ...) when
        every broker of it answers, if only after a stall.
        """
        began, ended = time.perf_counter(), None
        while True:
            how = next(filter(None, map(_silence, endpoint.bootstrap)), None)
            if how is None:
                return ended, True
            ended = ENDED if ENDED in (how, ended) else None
            patience = STALL_S if how == SILENT else 0 if self.ours else BACK_S
            if time.perf_counter() - began >= patience:
                return how, False
            time.sleep(PAUSE_S)

    def _end(self, watch: Watch, how: str, back: bool) -> TargetEnd:
        met = [one for one in self._under_way if set(one.place) & set(watch.place)]
        cases = tuple(one.case for one in met)
        death = Death(how, *(self._last_words() if how == ENDED else ()))
        began = time.perf_counter()
        again = self._started_again(watch, how, back)
        self._away_s += time.perf_counter() - began
        end = TargetEnd(death, cases, again)
        self.deaths.append(end)
        for place in {watch.place, *(one.place for one in met)}:
            self._ends[place, self._lives[place]] = end
            self._lives[place] += 1
        if not again:
            self.gone = self._why_gone(end)
        return end

    def _why_gone(self, last: TargetEnd) -> str:
        said = f" ({last.death.said})" if last.death.said else ""
        count = len(self.deaths)
        often = f"; it has ended {count} times" if count > 1 else ""
        cases = last.cases
        return f"the target {last.how} while {_named(cases)} {_was(cases)} asked{said}{often}"

    def _last_words(self) -> tuple[str, str]:
        """How the processes that are gone ended, and all that they said; of a target that we have
        not started nobody knows.
        """
        children: Callable[[], list[Child]] = getattr(self.target, "children", list)
        deadline = time.perf_counter() + EXIT_S
        while not (gone := [one for one in children() if one.exit_code is not None]):
            if not children() or time.perf_counter() > deadline:
                return "", ""
            time.sleep(POLL_S)
        told = "; ".join(filter(None, (one.obituary(0) for one in gone)))
        return told, "".join(one.said()[-KEPT:] for one in gone)

    def _started_again(self, watch: Watch, how: str, back: bool) -> bool:
        most = SILENCES if how == SILENT else DEATHS
        if sum(one.how == how for one in self.deaths) >= most or self._away_s > AWAY_S:
            return False
        if back or not self.ours:
            return back
        with contextlib.suppress(Unavailable, StartFailed):
            if self.target.kind in OWNED or how == SILENT:
                self.target.stop()
            if self._serves(watch.shape):
                return True
            self.target.stop()  # it is neither dead nor alive
            return self._serves(watch.shape)
        return False

    def _serves(self, shape: Shape) -> bool:
        """Whether a started target serves. One whose end was seen a moment ago may still look
        alive to who started it.
        """
        deadline = time.perf_counter() + SANE_S
        while self._dead(self.target.start(shape))[0] is not None:
            if time.perf_counter() > deadline:
                return False
            time.sleep(PAUSE_S)
        return True

    def report_lines(self) -> list[str]:
        """The ends that nobody is known to have caused, in words, for the end of a run."""
        met = Counter(case for one in self.deaths for case in one.cases)
        proved = {one.cases[0] for one in self.deaths if one.alone and met[one.cases[0]] > 1}
        open_ends = [one for one in self.deaths if one.again and not proved & set(one.cases)]
        return [
            f"the target {one.how} while {_named(one.cases)} {_was(one.cases)} asked; asked alone,"
            f" {'it does not end' if one.alone else 'none of them ends'} it"
            + (f" ({one.death.said})" if one.death.said else "")
            for one in open_ends
        ]


def settle(address: Address) -> None:
    """Wait until a broker that takes only a few connections has counted those that were closed.

    It learns of them one after the other, and refuses a new one meanwhile: a case behind a burst of
    the harness's own questions would be closed for them. It has caught up when it answers two new
    connections in turn.
    """
    answered, deadline = 0, time.perf_counter() + SANE_S
    while answered < 2 and time.perf_counter() < deadline:
        answered = 0 if _silence(address) else answered + 1
        if not answered:
            time.sleep(PAUSE_S)


def _silence(address: Address) -> str | None:
    """How a broker fails to answer; None when it answers."""
    try:
        probe.api_versions(address, SANE_S)
    except probe.NotReady as error:
        refused = isinstance(error.__cause__, OSError) and not isinstance(
            error.__cause__, TimeoutError
        )
        return ENDED if refused else SILENT
    return None


def _named(cases: Iterable[str]) -> str:
    names = list(dict.fromkeys(cases))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "before the first case"


def _was(cases: Iterable[str]) -> str:
    return "was" if len(list(cases)) == 1 else "were"
