"""The requirement ledger: every clause and every (API, version) is somebody's business.

Kafka has no formal specification, so the list of what was looked at, what was left out and why is a
product of its own. `suites/evidence/*.toml` is that list: the catalogue of behaviours, clause by
clause, the KIPs that claims cite, and every cell of API x version by rule.

    [clause.TOPIC-11]
    text = "A number of partitions of zero or less is refused with INVALID_PARTITIONS."
    source = "AdminUtils.assignReplicasToBrokers, 1.0.2"      Kafka's code, and the tag of it

Claims cover by citing. Covered is therefore computed and never written down: a file can only say
why something is not, or not yet, covered by a claim, by `status` and `reason`; `tests` names tests
of ours that show it instead.

    implicit       every claim of its kind would fail without it; the reason names how
    untestable     not visible in bytes on a socket
    out-of-scope   another program's business (a command line tool, the JVM)
    deprecated     no release of the matrix does it
    planned        not yet; the reason names what it waits for

Collection fails on an id that is used twice, on a clause without text or source, on evidence that
nobody knows, and, when all suites are collected, on a clause or a cell that nobody classified and
on a KIP that nobody cites. `missing` finds references to files that the tree does not have.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.harness.model import advertised, former_ids
from touchstone.harness.model.claim import Claim, place_of, suite_of
from touchstone.reference_impl.wire.apis import API, by_name

SUITES = Path(__file__).resolve().parents[2] / "suites"
EVIDENCE = SUITES / "evidence"
COVERED = "covered"
STATUSES = ("implicit", "untestable", "out-of-scope", "deprecated", "planned")
CLAUSE = re.compile(r"([A-Z]+)-(\d+)(?:\.(\d+))?")
KIP = re.compile(r"KIP-\d+")
PATH = re.compile(r"\b(?:reference_impl|harness|suites|fuzz|ci|docs)/[\w./-]*\w")
WIKI = "https://cwiki.apache.org/confluence/display/KAFKA/"
KIPS = f"{WIKI}Kafka+Improvement+Proposals"


class BadLedger(ValueError):
    """A ledger file cannot be read; the message names it and the entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is written about one clause or one range of cells. Without a status it wants a claim.

    Only clauses have a text and a source.
    """

    id: str
    status: str | None
    reason: str = ""
    text: str = ""
    source: str = ""
    tests: Sequence[str] = ()  # pytest node ids


@dataclass(frozen=True, slots=True)
class Kip:
    """One of Kafka's improvement proposals: its title, and the sections that claims rest on."""

    id: str
    title: str
    sections: Sequence[str]
    page: str = ""  # the last part of its address, where it is known for certain

    @property
    def link(self) -> str:
        return WIKI + self.page if self.page else KIPS

    @property
    def text(self) -> str:
        return f"{self.title} ({', '.join(self.sections)})"


@dataclass(frozen=True, slots=True)
class Ledger:
    clauses: Mapping[str, Entry]
    cells: Mapping[tuple[str, int], Entry]
    kips: Mapping[str, Kip] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """One word of a claim's evidence with what it stands for: its text, its source, its address."""

    word: str
    text: str = ""
    source: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A clause or cell with its status as it stands today, and the claims that cover it."""

    id: str
    area: str
    status: str | None  # None: nobody classified it
    claims: tuple[str, ...]
    reason: str = ""


@functools.cache
def load(folder: Path = EVIDENCE) -> Ledger:
    clauses: dict[str, Entry] = {}
    cells: dict[tuple[str, int], Entry] = {}
    kips: dict[str, Kip] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise BadLedger(f"{path}: {error}") from error
        for id, fields in data.get("clause", {}).items():
            if id in clauses or not CLAUSE.fullmatch(id):
                raise BadLedger(f"{path}: {id}: no clause id, or one that stands elsewhere too")
            clauses[id] = _clause(path, id, fields)
        for id, fields in data.get("kip", {}).items():
            kips[id] = _kip(path, id, fields)
        for name, rules in data.get("cell", {}).items():
            for words, fields in rules.items():
                _cells(path, name, words, fields, cells)
    return Ledger(clauses, cells, kips)


def _clause(path: Path, id: str, fields: Mapping[str, Any]) -> Entry:
    entry = _entry(path, id, fields)
    for name in ("text", "source"):
        if not getattr(entry, name):
            raise BadLedger(f"{path}: {id}: a clause without {name}")
    return entry


def _kip(path: Path, id: str, fields: Mapping[str, Any]) -> Kip:
    try:
        kip = Kip(id, **fields)
    except TypeError as error:
        raise BadLedger(f"{path}: {id}: {error}") from error
    if not KIP.fullmatch(id) or not kip.title or not kip.sections:
        raise BadLedger(f"{path}: {id}: a KIP has a number, a title and the sections that matter")
    return kip


def _entry(path: Path, id: str, fields: Mapping[str, Any]) -> Entry:
    try:
        entry = Entry(id, **{"status": None} | dict(fields))
    except TypeError as error:
        raise BadLedger(f"{path}: {id}: {error}") from error
    if entry.status is not None and entry.status not in STATUSES:
        raise BadLedger(f"{path}: {id}: status is one of {', '.join(STATUSES)}")
    if entry.status is not None and not entry.reason:
        raise BadLedger(f"{path}: {id}: {entry.status} without a reason")
    return entry


def _cells(
    path: Path, name: str, words: str, fields: Mapping[str, object],
    cells: dict[tuple[str, int], Entry],
) -> None:  # fmt: skip
    """One rule: [cell.Produce] "0-2" = {...}; "all" means every version."""
    low, high = versions_of(name)
    if words != "all":
        first, _, last = words.partition("-")
        low, high = int(first), int(last or first)
    for version in range(low, high + 1):
        cells[name, version] = _entry(path, f"{name} v{version}", fields)


def cited(word: str, ledger: Ledger | None = None) -> Citation:
    """What one word of evidence stands for; what was observed, and schemas, say so themselves."""
    ledger = ledger or load()
    if kip := ledger.kips.get(word):
        return Citation(word, kip.text, "", kip.link)
    if entry := ledger.clauses.get(word.partition(".")[0]):
        return Citation(word, entry.text, entry.source)
    return Citation(word)


def versions_of(name: str) -> tuple[int, int]:
    """The versions of an API in the union of all releases."""
    api = by_name(name)
    return api.versions[0], api.versions[-1]


def every_cell() -> list[tuple[str, int]]:
    """All (API, version) pairs of the union, by API key."""
    return [
        (API[key].name, version)
        for key in sorted(API)
        for version in range(versions_of(API[key].name)[0], versions_of(API[key].name)[1] + 1)
    ]


def clauses(claims: Iterable[Claim], ledger: Ledger | None = None) -> list[Standing]:
    """Every clause and how it stands."""
    ledger = ledger or load()
    citing: dict[str, list[str]] = {}
    for claim in claims:
        for word in claim.evidence:
            citing.setdefault(word, []).append(claim.id)
            if "." in word and CLAUSE.fullmatch(word):
                citing.setdefault(word.partition(".")[0], []).append(claim.id)
    return [
        _standing(id, found[1], entry, citing.get(id, ()))
        for id, entry in ledger.clauses.items()
        if (found := CLAUSE.fullmatch(id))
    ]


def cells(claims: Iterable[Claim], ledger: Ledger | None = None) -> list[Standing]:
    """Every (API, version) cell and how it stands; a case on any release covers it."""
    ledger = ledger or load()
    covering: dict[tuple[str, int], set[str]] = {}
    for claim in claims:
        if claim.api is None or claim.versions is None:
            continue
        for release, table in advertised.tables().items():
            for version in {case.version for case in claim.cases(release, table)}:
                if version is not None:
                    covering.setdefault((claim.api, version), set()).add(claim.id)
    return [
        _standing(f"{name} v{version}", name, ledger.cells.get((name, version)),
                  sorted(covering.get((name, version), ())))
        for name, version in every_cell()
    ]  # fmt: skip


def _standing(id: str, area: str, entry: Entry | None, claims: Sequence[str]) -> Standing:
    if claims:
        return Standing(id, area, COVERED, tuple(claims))
    if entry is None or entry.status is None:
        return Standing(id, area, None, ())
    return Standing(id, area, entry.status, (), entry.reason)


def mistakes(claims: Sequence[Claim], *, whole: bool, ledger: Ledger | None = None) -> list[str]:
    """Why these claims cannot be run; empty when they can."""
    ledger = ledger or load()
    found = list(_identity_mistakes(claims))
    for claim in claims:
        for word in claim.evidence:
            if CLAUSE.fullmatch(word) and not word.startswith("KIP-") and not _known(word, ledger):
                found.append(f"{claim.where}: {claim.id}: nobody knows the clause {word}")
            if KIP.fullmatch(word) and word not in ledger.kips:
                found.append(f"{claim.where}: {claim.id}: kips.toml does not have {word}")
    if whole:
        found += [
            f"former_ids.toml: {old} leads to {new}, which is no claim"
            for old, new in former_ids.table().items()
            if new not in {claim.id for claim in claims}
        ]
        standing = [*clauses(claims, ledger), *cells(claims, ledger)]
        found += [f"{one.id}: neither covered nor classified" for one in standing if not one.status]
        found += [
            f"{id}: {entry.status} ({entry.reason}), but claims cite it: take one of them away"
            for id, entry in ledger.clauses.items()
            if entry.status in ("untestable", "out-of-scope", "deprecated")
            and any(id in claim.evidence for claim in claims)
        ]
        found += _kip_mistakes(claims, ledger)
    return found


def _kip_mistakes(claims: Iterable[Claim], ledger: Ledger) -> Iterable[str]:
    citing = {word for claim in claims for word in claim.evidence if KIP.fullmatch(word)}
    for id, entry in ledger.clauses.items():
        named = set(KIP.findall(entry.source))
        citing |= named
        yield from (f"{id}: kips.toml does not have {kip}" for kip in named - ledger.kips.keys())
    unused = ledger.kips.keys() - citing
    yield from (f"{kip}: neither a claim nor a clause cites it" for kip in sorted(unused))


def _identity_mistakes(claims: Sequence[Claim]) -> Iterable[str]:
    owners: dict[str, str] = {}
    for claim in claims:
        for id in (claim.id, *claim.aliases):
            if owners.setdefault(id, claim.where) != claim.where:
                yield f"{claim.where}: the id {id} is {owners[id]}'s"
    places = Counter(claim.where for claim in claims)
    yield from (f"{where}: two claims of this name" for where, n in places.items() if n > 1)


def missing(root: Path, ledger: Ledger | None = None) -> list[str]:
    """References to files and tests that the tree below `root` does not have."""
    ledger = ledger or load()
    found = []
    for entry in (*ledger.clauses.values(), *ledger.cells.values()):
        named = PATH.findall(f"{entry.text} {entry.source} {entry.reason}")
        found += [f"{entry.id}: {path}" for path in named if not (root / path).exists()]
        for test in entry.tests:
            path, _, name = test.partition("::")
            file = root / path
            if not file.is_file() or f"def {name}(" not in file.read_text(encoding="utf-8"):
                found.append(f"{entry.id}: {test}")
    return found


def _known(word: str, ledger: Ledger) -> bool:
    return word in ledger.clauses or word.partition(".")[0] in ledger.clauses and "." in word


def test_modules(folder: Path = SUITES) -> set[str]:
    """The modules of suites that can hold claims, as claims name them."""
    return {
        place_of(".".join(("touchstone", *path.relative_to(folder.parent).with_suffix("").parts)))
        for path in folder.glob("*/test_*.py")
    }


def whole_suites(wheres: Iterable[str], folder: Path = SUITES) -> set[str]:
    """The suites of which every module has a claim among these places."""
    present = {where.rpartition(".")[0] for where in wheres}
    modules: dict[str, set[str]] = {}
    for module in test_modules(folder):
        modules.setdefault(suite_of(module), set()).add(module)
    return {suite for suite, wanted in modules.items() if wanted <= present}


def is_whole(wheres: Iterable[str], folder: Path = SUITES) -> bool:
    """Whether claims of every module of the suites are among these places."""
    return test_modules(folder) <= {where.rpartition(".")[0] for where in wheres}
