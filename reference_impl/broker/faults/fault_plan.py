"""A fault plan is a list of rules: which requests a broker spoils, and how.

A test of a client wants the one fault that its code is about: the third Produce to this partition
loses its answer, every Fetch of that client takes half a second. A `Rule` says which requests
(every field that is given must fit) and what becomes of them; a `Plan` is the rules of a cluster,
shared by its brokers and empty at first, when it costs nothing. Its rules may be changed by one
thread while another one picks: they are replaced, never edited.

What can become of a request:
    error      it is answered with `error` in every place the answer has for one
    delay      its answer leaves `ms` later, or when the rule is taken back
    drop       it is never answered; the connection stays open, and as in Kafka nothing behind it
               on that connection is read
    close      the connection is closed instead of an answer
    truncate   the answer's frame ends after `keep` bytes (its size says so too)
    corrupt    one byte of the answer's frame, at `at`, is turned over

`drop` and `close` come in two kinds that a client cannot tell apart and must survive both: the
request was carried out and only its answer is lost (`carried_out`, the default), or it never was.
`error` is instead of doing what was asked, unless `carried_out` is set. kfake's control
functions and the request errors of librdkafka's mock are made for the same purpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.errors import ErrorCode

ACTIONS = ("error", "delay", "drop", "close", "truncate", "corrupt")
LONGEST_MS = 600_000  # of a delay: no client waits longer, and what is held takes memory
MOST_RULES = 1_000  # each is looked at for each request
_LARGEST = 2**31 - 1
_DOES_NOTHING = frozenset({"error"})  # without `carried_out`


class BadRule(ValueError):
    """A rule that cannot be; the message names the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of a plan. None, and () for versions, match everything.

    `nth` is the first fitting request that is spoiled, counted from 1, and `times` how many from
    there on, None for all. Requests of other brokers (replication) are spared unless `peers`.
    """

    action: str
    api: str | int | None = None  # name or key
    versions: tuple[int, ...] = ()  # the lowest and the highest, or the only one
    client_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    broker: int | None = None
    peers: bool = False
    nth: int = 1
    times: int | None = None
    error: str | int = "UNKNOWN_SERVER_ERROR"  # name or code
    ms: int = 0
    keep: int = 4
    at: int = 0
    carried_out: bool | None = None

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise BadRule(f"action: one of {', '.join(ACTIONS)}, not {self.action!r}")
        object.__setattr__(self, "versions", _versions(self.versions))
        if self.nth < 1 or (self.times is not None and self.times < 1):
            raise BadRule("nth, times: counted from 1")
        if min(self.ms, self.keep, self.at) < 0:
            raise BadRule("ms, keep, at: not below 0")
        if self.ms > LONGEST_MS:
            raise BadRule(f"ms: at most {LONGEST_MS}")
        if max(self.keep, self.at, self.nth, self.times or 1) > _LARGEST:
            raise BadRule(f"keep, at, nth, times: at most {_LARGEST}")
        self.key  # noqa: B018 - an unknown name is refused here
        self.code  # noqa: B018

    @property
    def key(self) -> int | None:
        """The API key, None for any."""
        if self.api is None:
            return None
        try:
            return API[self.api].key if isinstance(self.api, int) else by_name(self.api).key
        except (KeyError, ValueError):
            raise BadRule(f"api: {self.api!r} is no API name or key, as Produce or 0") from None

    @property
    def code(self) -> int:
        """The error code."""
        if isinstance(self.error, int):
            return self.error
        try:
            return int(ErrorCode[self.error])
        except KeyError:
            raise BadRule(
                f"error: {self.error!r} is no error name, as NOT_LEADER_OR_FOLLOWER"
            ) from None

    @property
    def carries_out(self) -> bool:
        """Whether the broker does what it was asked."""
        if self.carried_out is not None:
            return self.carried_out
        return self.action not in _DOES_NOTHING

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Rule:
        """A rule from JSON. Raises BadRule."""
        known = {field.name: field for field in fields(cls)}
        unknown = row.keys() - known.keys()
        if unknown or "action" not in row:
            wrong = ", ".join(sorted(unknown)) or "action"
            raise BadRule(f"{wrong}: a rule has {', '.join(known)}")
        for name, value in row.items():
            flag = bool in _KINDS[name] and value is not None
            if not isinstance(value, _KINDS[name]) or isinstance(value, bool) != flag:
                raise BadRule(f"{name}: {value!r} is not what it can be")
        return cls(**row)

    def row(self) -> dict[str, Any]:
        """What `of` takes, without what it would be anyway."""
        plain = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != plain[name]}


@dataclass(slots=True)
class ActiveRule:
    """A rule in force, with what it has met so far."""

    number: int
    rule: Rule
    matched: int = 0
    hits: int = 0

    def row(self) -> dict[str, Any]:
        return {"id": self.number, **self.rule.row(), "matched": self.matched, "hits": self.hits}


class Plan:
    """The rules of a cluster. False while there are none."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._numbers = itertools.count(1)
        self._standing: tuple[ActiveRule, ...] = ()
        self._removed: list[Callable[[], None]] = []
        self.add_all(rules)

    def __bool__(self) -> bool:
        return bool(self._standing)

    def add(self, rule: Rule) -> int:
        """Put a rule in force, after the others; its number. BadRule if there are too many."""
        return self.add_all((rule,))[0]

    def add_all(self, rules: Iterable[Rule]) -> list[int]:
        """Put all of them in force or, with BadRule, none."""
        new = tuple(rules)
        if len(self._standing) + len(new) > MOST_RULES:
            raise BadRule(f"a plan has at most {MOST_RULES} rules")
        active = tuple(ActiveRule(next(self._numbers), rule) for rule in new)
        self._standing += active
        return [each.number for each in active]

    def remove(self, number: int) -> bool:
        """Whether there was such a rule. What it held back is let go of."""
        before = self._standing
        self._standing = tuple(each for each in before if each.number != number)
        return self._after_removal(before)

    def clear(self) -> None:
        """Take all rules back; what they held back is let go of."""
        before, self._standing = self._standing, ()
        self._after_removal(before)

    def when_removed(self, call: Callable[[], None]) -> None:
        """Have `call()` happen after each removal, in the thread that removes."""
        self._removed.append(call)

    def holds(self, rule: Rule) -> bool:
        """Whether this very rule is in force."""
        return any(each.rule is rule for each in self._standing)

    def _after_removal(self, before: tuple[ActiveRule, ...]) -> bool:
        fewer = len(self._standing) < len(before)
        for call in self._removed if fewer else ():
            call()
        return fewer

    def standing(self) -> tuple[ActiveRule, ...]:
        """The rules in force and how often each one matched and hit."""
        return self._standing

    def pick(self, asked: RequestView) -> Rule | None:
        """The first rule that spoils this request; every rule that fits counts it."""
        picked = None
        for each in self._standing:
            if not _fits(each.rule, asked):
                continue
            each.matched += 1
            rule = each.rule
            last = None if rule.times is None else rule.nth + rule.times
            due = each.matched >= rule.nth and (last is None or each.matched < last)
            if due and picked is None:
                each.hits += 1
                picked = rule
        return picked


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request as rules look at it. `name_of` gives the name of a topic id, or None."""

    broker: int
    key: int
    version: int
    client_id: str | None
    body: Mapping[str, Any]
    peer: bool
    name_of: Callable[[bytes], str | None]

    def places(self) -> Iterator[tuple[str | None, int | None]]:
        """Topics and partitions that the request speaks of, None for all of a topic's."""
        return _places(self.body, self.name_of)


def _fits(rule: Rule, asked: RequestView) -> bool:
    if rule.key is not None and rule.key != asked.key:
        return False
    if rule.versions and not rule.versions[0] <= asked.version <= rule.versions[-1]:
        return False
    if rule.client_id is not None and rule.client_id != asked.client_id:
        return False
    if rule.broker is not None and rule.broker != asked.broker:
        return False
    if asked.peer and not rule.peers:
        return False
    if rule.topic is None and rule.partition is None:
        return True
    return any(
        rule.topic in (None, topic) and rule.partition in (None, partition)
        for topic, partition in asked.places()
    )


_TOPIC_NAMES = ("name", "topic", "topic_name")
_PARTITION_LISTS = ("partitions", "partition_data", "partition_indexes")
_PARTITION_NAMES = ("index", "partition", "partition_index", "partition_id")


def _places(value: Any, name_of: Callable[[bytes], str | None]) -> Iterator[tuple[Any, ...]]:
    """Wherever a request has rows of topics; every API nests them alike and names them its way."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _places(each, name_of)
    if not isinstance(value, Mapping):
        return
    named = [value[name] for name in _TOPIC_NAMES if isinstance(value.get(name), str)]
    topic = next((name for name in named if name), None)
    if topic is None and value.get("topic_id") and any(value["topic_id"]):
        topic = name_of(value["topic_id"])
    if topic is None:
        for each in value.values():
            yield from _places(each, name_of)
        return
    rows = [value[name] for name in _PARTITION_LISTS if value.get(name)]
    if not rows:
        yield topic, None
    for row in itertools.chain.from_iterable(rows):
        yield topic, _partition(row)


def _partition(row: Any) -> int | None:
    if isinstance(row, int):
        return row
    return next((row[name] for name in _PARTITION_NAMES if name in row), None)


def _versions(given: Any) -> tuple[int, ...]:
    pair = (given,) if isinstance(given, int) else tuple(given)
    numbers = all(isinstance(each, int) for each in pair)
    if len(pair) > 2 or not numbers or list(pair) != sorted(pair):
        raise BadRule(f"versions: one, or the lowest and the highest, not {given!r}")
    return pair


_TEXT, _NUMBER = (str, type(None)), (int,)
_KINDS: dict[str, tuple[type, ...]] = {
    "action": (str,), "api": (str, int, type(None)), "versions": (int, list, tuple),
    "client_id": _TEXT, "topic": _TEXT, "partition": (int, type(None)),
    "broker": (int, type(None)), "peers": (bool,), "nth": _NUMBER, "times": (int, type(None)),
    "error": (str, int), "ms": _NUMBER, "keep": _NUMBER, "at": _NUMBER,
    "carried_out": (bool, type(None)),
}  # fmt: skip
