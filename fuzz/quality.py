"""How far the generator's requests get on a target: `python -m touchstone.fuzz.quality --target T`.

Two tables. Of valid requests, by API: how many were answered with a message that parses, how many
of those carry no error code, and which APIs never succeeded. Of mutants with one fault, by mutator:
how many reached the API's handler (they were answered, or were taken by a request that has no
answer), and of faults in records how many got past the checksum, into the log's validation.

The goals are 99 % of valid requests answered with a message that parses, 70 % of mutants of bodies
at a handler, 95 % of faults in records past the checksum. The table is made by counting, so that a
change of the generator shows as a change of the table.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import click

from touchstone.fuzz.campaign import Campaign, campaigns, header_of, play
from touchstone.fuzz.generator import Generator, Pair, harmful
from touchstone.fuzz.mutators import described, mutators
from touchstone.fuzz.oracles import SentFrame, asks_for_no_answer, sent_frame
from touchstone.fuzz.outcome import KEPT, SILENT, Outcome
from touchstone.fuzz.overlay import overlay
from touchstone.fuzz.preparation import prepare
from touchstone.fuzz.runner import Link, require_loopback
from touchstone.fuzz.segments import may_wait
from touchstone.fuzz.targets import SMALL_CLUSTER, served_pairs
from touchstone.fuzz.world import World
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_response

CORRUPT_MESSAGE = 2
BEFORE_THE_LOG = {3, 6, 21, 53, 100}
"""Error codes of a Produce that never looked at its records: no such topic, not its leader, acks
that do not exist, transactional id refused, unknown topic id."""
IN_RECORDS = ("batch header", "control", "message", "record", "record framing", "stored")
"""Layers behind the CRC: a fault there is to pass it."""
OUTSIDE_RECORDS = ("body", "embedded", "telemetry")
OF_BODIES = (*OUTSIDE_RECORDS, *IN_RECORDS)
"""Layers within a frame and a header that are right: a fault there is to reach the handler."""
KEYS = {"embedded": (11, 14), "telemetry": (72,), "batch framing": (0,)}
PRODUCE, FIRST_WITH_BATCHES = 0, 3
RESTORE_EVERY = 2500
Worlds = Callable[[int], World]
"""The world of a case number: made anew at times."""


@dataclass
class Row:
    """Counts of one API's valid requests or of one mutator's mutants."""

    cases: int = 0
    kept: int = 0
    parsed: int = 0
    succeeded: int = 0
    handled: int = 0
    past_crc: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    def note(self, sent: SentFrame, outcome: Outcome) -> None:
        """Count one case."""
        self.cases += 1
        self.ends[outcome.end] += 1
        silent = outcome.end == SILENT and may_wait(sent.wire)
        no_answer = asks_for_no_answer(sent)
        self.kept += outcome.end == KEPT or silent
        codes = answered_codes(sent, outcome)
        if codes is None:
            self.parsed += silent or (no_answer and outcome.end == KEPT)
            self.handled += silent or no_answer
            self.succeeded += no_answer and outcome.end == KEPT
            self.past_crc += no_answer and outcome.end == KEPT
            return
        self.codes.update(codes)
        self.parsed += 1
        self.handled += 1
        self.succeeded += not codes
        self.past_crc += not codes & {CORRUPT_MESSAGE, *BEFORE_THE_LOG}


def codes_in(value: object) -> Iterator[int]:
    """Every non-zero error code of an answer, AddPartitionsToTxn's too."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name.endswith("error_code") and isinstance(inner, int) and inner:
                yield inner
            yield from codes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes_in(inner)


def answered_codes(sent: SentFrame, outcome: Outcome) -> set[int] | None:
    """The non-zero error codes of the answer; None where there is none that parses."""
    if not outcome.answers:
        return None
    try:
        response = decode_response(sent.key, sent.version, outcome.answers[0])
    except (ValueError, KeyError):
        return None
    if response.end != len(outcome.answers[0]):
        return None
    return set(codes_in(response.body))


def valid_requests(
    link: Link, pairs: Sequence[Pair], world: Worlds, cases: int, seed: int
) -> dict[Pair, Row]:
    """What became of this many valid requests, by pair; each pair is drawn equally often."""
    rows: dict[Pair, Row] = defaultdict(Row)
    for index in range(cases):
        pair = pairs[index % len(pairs)]
        draw = random.Random(f"{seed}/quality/{index}")
        wire = Generator([pair], draw, world(index)).frame_of(pair, index)
        sent = header_of(wire, pair, index)
        rows[pair].note(sent, play(link, sent))
    return rows


def mutants(
    link: Link, pairs: Sequence[Pair], world: Worlds, cases: int, seed: int, campaign: Campaign
) -> dict[str, Row]:
    """What became of mutants with one fault, by mutator, as often as this campaign draws it; of
    records, Produce's alone are mutated.

    A mutator that changed nothing, or made a request that would harm the target, is not counted.
    """
    rows: dict[str, Row] = defaultdict(Row)
    names = {name: those for name in campaign.mutators if (those := having(name, pairs))}
    order = [name for name in campaign.dealt if name in names]
    for index in range(cases):
        name = order[index % len(order)]
        draw = random.Random(f"{seed}/quality/{name}/{index}")
        pair = draw.choice(names[name])
        valid = Generator([pair], draw, world(index)).frame_of(pair, index)
        while pair.key == PRODUCE and asks_for_no_answer(sent_frame(valid)):  # nothing to be seen
            valid = Generator([pair], draw, world(index)).frame_of(pair, index)
        wire = mutators()[name](valid, draw)
        if wire == valid or harmful(wire):
            continue
        sent = header_of(wire, pair, index)
        rows[name].note(sent, play(link, sent))
    return rows


def having(name: str, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs whose requests have what this mutator changes."""
    layer = described()[name].layer
    if layer == "message":
        return [pair for pair in pairs if pair.key == PRODUCE and pair.version < FIRST_WITH_BATCHES]
    if layer in IN_RECORDS:
        return [
            pair for pair in pairs if pair.key == PRODUCE and pair.version >= FIRST_WITH_BATCHES
        ]
    return [pair for pair in pairs if pair.key in KEYS.get(layer, (pair.key,))]


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:6.1f}%" if whole else "     -"


def print_valid(rows: dict[Pair, Row]) -> None:
    """By API key, and the sums."""
    by_key: dict[int, list[Row]] = defaultdict(list)
    for pair, row in rows.items():
        by_key[pair.key].append(row)
    click.echo(f"{'valid requests':32} cases  parsed    kept   no error  versions succeeded  codes")
    for key, found in sorted(by_key.items()):
        codes = sum((row.codes for row in found), Counter[int]())
        said = " ".join(f"{code}:{count}" for code, count in codes.most_common(6))
        wins = sum(bool(row.succeeded) for row in found)
        click.echo(
            f"{key:3} {API[key].name:28} {columns(found)}  {wins:3} of {len(found):<3} {said}"
        )
    click.echo(f"{'all':32} {columns(list(rows.values()))}")
    sound = [row for pair, row in rows.items() if pair.key not in overlay().impossible]
    click.echo(f"{'all that may succeed':32} {columns(sound)}")
    never = [k for k, found in by_key.items() if not any(row.succeeded for row in found)]
    click.echo(f"{len(never)} APIs never succeeded: " + ", ".join(map(with_reason, never)))


def with_reason(key: int) -> str:
    """The API's name, and why it cannot succeed where the overlay says so."""
    known = overlay().impossible.get(key)
    return f"{API[key].name} ({known.reason})" if known else API[key].name


def columns(rows: list[Row]) -> str:
    cases = sum(row.cases for row in rows)
    shares = (sum(getattr(r, name) for r in rows) for name in ("parsed", "kept", "succeeded"))
    return f"{cases:6} " + " ".join(share(part, cases) for part in shares)


def print_mutants(rows: dict[str, Row]) -> None:
    """By mutator, and the sums."""
    click.echo(f"{'mutants of one fault':20} {'layer':15} cases handled  past the CRC  codes")
    for name, row in sorted(rows.items(), key=lambda one: (described()[one[0]].layer, one[0])):
        layer = described()[name].layer
        crc = share(row.past_crc, row.cases) if layer in IN_RECORDS else ""
        said = " ".join(f"{code}:{count}" for code, count in row.codes.most_common(6))
        handled = share(row.handled, row.cases)
        click.echo(f"{name:20} {layer:15} {row.cases:5} {handled} {crc:>8}  {said}")
    sums = {
        "faults in fields and what they hold": OUTSIDE_RECORDS,
        "faults in records": IN_RECORDS,
        "both": OF_BODIES,
    }
    for title, layers in sums.items():
        chosen = [row for name, row in rows.items() if described()[name].layer in layers]
        cases = sum(row.cases for row in chosen)
        past = share(sum(row.past_crc for row in chosen), cases) if layers is IN_RECORDS else ""
        handled = share(sum(row.handled for row in chosen), cases)
        click.echo(f"{title:36} {cases:5} {handled} {past:>8}")


@click.command()
@click.option("--target", "word", default="reference@4.3", metavar="T", help="As for fuzz.")
@click.option("--cases", default=5000, help="Of each table.")
@click.option("--seed", default=1, help="Where every draw comes from.")
@click.option(
    "--campaign", "name", default="layers", help="Whose mutators, as often as it draws them."
)
def command(word: str, cases: int, seed: int, name: str) -> None:
    """Print how far valid requests and single-fault mutants get on a target."""
    target = parse(word)

    @lru_cache(maxsize=1)
    def world_since(start: int) -> World:
        click.echo(f"{start} of {cases}", err=True)
        return prepare(link, target.advertised(), ours=target.kind != "external")

    def world(index: int) -> World:
        return world_since(index - index % RESTORE_EVERY)

    try:
        host, port = target.start(Shape(config=SMALL_CLUSTER)).bootstrap[0]
        require_loopback(host, is_mine=False)
        with Link(host, port) as link:
            pairs = served_pairs(target.release, target.advertised())
            print_valid(valid_requests(link, pairs, world, cases, seed))
            world_since.cache_clear()
            print_mutants(mutants(link, pairs, world, cases, seed, campaigns()[name]))
    finally:
        target.stop()


if __name__ == "__main__":
    command()
