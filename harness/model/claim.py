"""A claim: one sentence about Kafka's behaviour, with its evidence, and the cases that try it.

    @claim("topics.zero-partitions-are-refused", evidence=("TOPIC-11",), api="CreateTopics",
           versions=every("CreateTopics"), switches=("accepts-zero-partitions",))
    def test_zero_partitions_are_refused(case):
        \"""CreateTopics with zero partitions answers INVALID_PARTITIONS and creates nothing.\"""

The id is words and for ever: results of years hang on it, so it names what is claimed, never where
the claim stands in a file (h2spec's ordinals rename history at every insertion). A claim is data;
which cases it has depends on a release, because its versions are those the release serves: `cases`
expands versions and further axes pairwise. A case's id is the claim's with its parameters behind:
`topics.zero-partitions-are-refused[v4]`, `produce.acks[v9,compression=gzip,acks=-1]`.

Mistakes in a claim raise ClaimError where it is written, when it is imported. No pytest here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from touchstone.checkout import ROOT
from touchstone.harness.model import covering, former_ids
from touchstone.harness.model.advertised import Table, served
from touchstone.harness.model.expect import fits
from touchstone.harness.model.target import Shape, setting
from touchstone.reference_impl.wire.apis import by_name

MUST, SHOULD, MAY, OBSERVED = "MUST", "SHOULD", "MAY", "OBSERVED"
LEVELS = (MUST, SHOULD, MAY, OBSERVED)
BROKER_ROLE, CLIENT_ROLE = "broker", "client"  # whom a claim judges
ATTRIBUTE = "__touchstone_claim__"
F = TypeVar("F", bound=Callable[..., object])
PACKAGE = "touchstone."
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+")
_EVIDENCE = re.compile(r"[A-Z]+-\d+(?:\.\d+)?|KIP-\d+|observed on \S.*|schema \S.*")
RESERVED = frozenset(
    {"version", "release", "id", "claim", "topic", "group", "name", "judge", "aliases"}
)


class ClaimError(ValueError):
    """A claim is written wrongly; the message says which one and how."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one API a claim is about: all that a release serves, or those in a range."""

    api: str | None
    low: int | None = None
    high: int | None = None
    last: bool = False  # the newest of them alone

    def of(self, api: str, release: str, table: Table) -> list[int]:
        """Which of them this release has, lowest first."""
        key = by_name(api).key
        if self.low is None:
            low, high = served(release, key, table)
        else:
            low, high = table.get(key, (0, -1))
            low, high = max(low, self.low), min(high, self.high if self.high is not None else high)
        return list(range(max(low, high) if self.last else low, high + 1))


def every(api: str | None = None) -> Versions:
    """Every version the release serves (on 4.x Produce 0 to 2 are listed but not served)."""
    return Versions(api)


def range_(api: str, low: int, high: int | None = None) -> Versions:
    """Versions low to high as far as the release lists them; no high means up to the newest."""
    if low < 0 or (high is not None and high < low):
        raise ClaimError(f"no range of versions: {api} {low} to {high}")
    return Versions(api, low, high)


def newest(api: str) -> Versions:
    """The newest version that the release serves."""
    return Versions(api, last=True)


def only(api: str, version: int) -> Versions:
    return range_(api, version, version)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim with everything that reports need; see `claim` for the meaning of the fields."""

    id: str
    sentence: str
    evidence: tuple[str, ...]
    level: str
    suite: str
    where: str  # file and function, for messages
    api: str | None = None
    versions: Versions | None = None
    releases: str | None = None
    shape: Shape = field(default_factory=Shape)
    only_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # release -> settings
    subject: tuple[str, ...] = ()  # settings of the shape that it is about (harness/model/pace.py)
    not_awaited: tuple[str, ...] = ()  # settings of the shape whose pace it does not wait for
    capabilities: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    role: str = BROKER_ROLE
    aliases: tuple[str, ...] = ()  # former ids
    axes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    allowed: covering.Where = covering.always
    full: bool = False

    def settings(self, release: str) -> dict[str, str]:
        """The settings of its cluster on this release."""
        more = {name: setting(value) for name, value in self.only_on.get(release, {}).items()}
        return self.shape.settings | more

    def cases(self, release: str, table: Table) -> list[CaseId]:
        """This claim's cases for a release that lists these versions; none if it has none."""
        if self.releases is not None and not fits(release, self.releases):
            return []
        axes: dict[str, Sequence[Any]] = {}
        if self.api is not None and self.versions is not None:
            axes["version"] = self.versions.of(self.api, release, table)
        axes |= self.axes
        expand = covering.product if self.full else covering.pairwise
        return [CaseId(self, row.pop("version", None), row) for row in expand(axes, self.allowed)]


@dataclass(frozen=True, slots=True)
class CaseId:
    """One case of a claim: its version and parameters; of a release between, for which release it
    is written (harness/model/between.py).
    """

    claim: Claim
    version: int | None
    params: Mapping[str, Any]
    like: str | None = None

    @property
    def id(self) -> str:
        words = [] if self.version is None else [f"v{self.version}"]
        words += [f"{name}={_word(value)}" for name, value in self.params.items()]
        return f"{self.claim.id}[{','.join(words)}]" if words else self.claim.id


def _word(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return re.sub(r"[^\w.+-]", "_", str(value).lower() if isinstance(value, bool) else str(value))


def claim(
    id: str,
    *,
    evidence: Iterable[str],
    level: str = MUST,
    api: str | None = None,
    versions: Versions | Callable[..., Versions] | None = None,
    releases: str | None = None,
    brokers: int = 1,
    racks: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
    only_on: Mapping[str, Mapping[str, Any]] | None = None,
    subject: Iterable[str] = (),
    not_awaited: Iterable[str] = (),
    capabilities: Iterable[str] = (),
    switches: Iterable[str] = (),
    role: str = BROKER_ROLE,
    where: covering.Where = covering.always,
    full: bool = False,
    **axes: Iterable[Any],
) -> Callable[[F], F]:
    """Make a test function a claim; its docstring is the sentence, its argument is the case.

    `evidence`: clause ids ("TOPIC-11"), "KIP-98", "schema Fetch.session_id", "observed on 2.8.2".
    `versions`: every("Produce") (the default), range_("Fetch", 4, 12), only("Fetch", 4).
    `releases`: "2.2+", "1.0-2.8", "1.0,3.9"; all by default. `only_on`: settings that one of them
    needs beside `config`. `subject`: those of `config` that it is about though most set the pace;
    `not_awaited`: those that only others of its shape wait for.
    `switches`: defects of the reference broker that it must catch; of a claim whose `role` is
    "client", planted defects of clients (harness/adapters/liars.py).
    `where(row)` forbids combinations; `full` takes the product of the axes, not only every pair.
    Any other keyword is an axis: compression=("none", "gzip").
    """
    versions = versions() if callable(versions) else versions

    def mark(function: F) -> F:
        module, name = place_of(function.__module__), function.__qualname__
        made = Claim(
            id=id,
            sentence=" ".join((function.__doc__ or "").split()),
            evidence=tuple(evidence) if not isinstance(evidence, str) else (evidence,),
            level=level,
            suite=suite_of(module), where=f"{module}.{name}",
            api=api,
            versions=(versions or every(api)) if api else None,
            releases=releases,
            shape=Shape(brokers=brokers, racks=tuple(racks), config=config or {}),
            only_on=only_on or {}, subject=tuple(subject), not_awaited=tuple(not_awaited),
            capabilities=tuple(capabilities), switches=tuple(switches),
            role=role, aliases=former_ids.former(id),
            axes={name: tuple(values) for name, values in axes.items()},
            allowed=where, full=full,
        )  # fmt: skip
        mistakes = list(_mistakes(made))
        if mistakes:
            raise ClaimError(f"{made.where} (claim {id!r}): {'; '.join(mistakes)}")
        setattr(function, ATTRIBUTE, made)
        return function

    return mark


def claim_of(function: Any) -> Claim | None:
    """The claim a function was marked as, None when it is an ordinary function."""
    return getattr(function, ATTRIBUTE, None)


def place_of(module: str) -> str:
    """A module as pytest is asked for it: by its path in a checkout, by its full name elsewhere."""
    return module if ROOT is None else module.removeprefix(PACKAGE)


def module_of(place: str) -> str:
    """The name under which a module's place is imported; the inverse of `place_of`."""
    return place if place.startswith(PACKAGE) else f"{PACKAGE}{place}"


def suite_of(module: str) -> str:
    """`suites.topics.test_create` belongs to the suite `topics`."""
    parts = module.removeprefix(PACKAGE).split(".")
    return parts[1] if parts[0] == "suites" and len(parts) > 2 else parts[0]


def _mistakes(made: Claim) -> Iterable[str]:
    if not _ID.fullmatch(made.id):
        yield "an id is words: topics.zero-partitions-are-refused"
    if not made.sentence:
        yield "no docstring: it is the sentence that is claimed"
    if not made.evidence:
        yield "no evidence"
    for word in made.evidence:
        if not _EVIDENCE.fullmatch(word):
            yield f"{word!r} is no evidence (TOPIC-11, KIP-98, observed on ..., schema ...)"
    if made.level not in LEVELS:
        yield f"level is one of {', '.join(LEVELS)}, not {made.level!r}"
    if made.role not in (BROKER_ROLE, CLIENT_ROLE):
        yield f"role is broker or client, not {made.role!r}"
    if made.role == CLIENT_ROLE and made.api is not None:
        yield "a client chooses its versions: a claim of one is about no API in a version"
    yield from _api_mistakes(made)
    for name in (*made.subject, *made.not_awaited):
        if name not in made.shape.settings:
            word = "its subject" if name in made.subject else "not awaited"
            yield f"{name} is no setting of its config, so it cannot be {word}"
    for name, values in made.axes.items():
        if name in RESERVED:
            yield f"an axis cannot be called {name}"
        if not values:
            yield f"axis {name} has no values"
    if made.releases is not None:
        try:
            fits("1.0", made.releases)
        except ValueError as error:
            yield str(error)


def _api_mistakes(made: Claim) -> Iterable[str]:
    if made.api is None:
        return
    try:
        by_name(made.api)
    except (KeyError, ValueError):
        yield f"Kafka has no API called {made.api!r}"
    if made.versions is not None and made.versions.api not in (None, made.api):
        yield f"versions of {made.versions.api}, but the claim is about {made.api}"
