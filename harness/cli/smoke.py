"""`touchstone smoke --target T`: can this be judged at all? Seconds, before hours of cases.

It tells three troubles apart. We cannot reach it: the address, the container or the adapter is
wrong. It does not speak Kafka: what answers is no broker. It speaks, but not sanely: it accepts an
API key that nobody has (a target must be able to say no, or no "unsupported" of it is worth
anything), stays silent where it should close, or no longer answers at the end.
"""

from __future__ import annotations

import secrets
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

import click

from touchstone.harness import checkers, driver, shown
from touchstone.harness.adapters import adapter_file
from touchstone.harness.adapters import smoke as client_smoke
from touchstone.harness.adapters.adapter_file import ClientFile
from touchstone.harness.adapters.stage import Adapter
from touchstone.harness.cli import holding
from touchstone.harness.cli.following import follows
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.driver import waiting
from touchstone.harness.extras import remedy
from touchstone.harness.judgement.verdict import is_refusal
from touchstone.harness.model import advertised
from touchstone.harness.model.scenario import Ask, Raw, Scenario
from touchstone.harness.model.target import (
    Address,
    Endpoint,
    Shape,
    StartFailed,
    Target,
    Unavailable,
)
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.run import chosen_release
from touchstone.harness.targets import parse, probe, reach, sent_to

SECONDS = 2.0  # for each connection, and for each answer
MOST_S = 30.0  # for all of it, of a target that runs: five questions, and why it answers none
EVERY_S = 3.0  # so often is told that it is waited
LISTED = 10  # brokers that are shown
NO_SUCH_API, NO_SUCH_VERSION = 31_000, 32_000
FINE, INSANE, UNREACHABLE = 0, 1, 3
UNSUPPORTED_VERSION = 35
ALIVE = "it still answers afterwards"
NO_TAGS = b"\0"  # from version 3 on a header ends with tags, and Kafka insists on them


def _tell(line: str) -> None:
    """What is waited for: beside the answer, which is on stdout."""
    click.echo(line, err=True)


@dataclass(frozen=True, slots=True)
class Check:
    """One question: what is asked, whether it went well, and what was seen."""

    question: str
    well: bool
    seen: str


@click.command()
@click.option("--target", "word", metavar="T", help="As for pytest suites/.")
@click.option("--client", metavar="NAME", help="A client in place of a target, or its FILE.toml.")
@holding.names_release
@follows
@logs_in
def command(word: str | None, client: str | None, release: str | None) -> None:
    """Tell in seconds whether a target, or a client, can be judged at all. With --client it says
    whether the adapter is broken or the client, on the broker of --target (reference).

    Exit code 0: it can, 1: it answers, but not as any Kafka does, 3: it cannot be reached or
    started, or sends its clients where it does not answer from here, 4: its name or file is wrong.
    A target that runs is asked for 30 s at most.
    """
    if word is None and client is None:
        raise click.UsageError("name a --target, or a --client")
    target = parse("reference" if word is None else word)
    holding.check(target, release)
    found = None if client is None else adapter_file.find(client)
    sys.exit(main(target, release=release) if found is None else of_client(found, target))


def of_client(client: ClientFile, broker: Target, say: Callable[[str], None] = click.echo) -> int:
    """What a client's smoke test comes to; the exit code."""
    try:
        adapter = Adapter(client.program(), client.start.seconds)
        endpoint = broker.start(Shape(config=client_smoke.AT_ONCE))
    except (Unavailable, StartFailed) as missing:
        say(shown.block(f"not reachable  {client.name}: {missing}"))
        return UNREACHABLE
    try:
        found = client_smoke.look(adapter, endpoint)
    finally:
        adapter.end()
        broker.stop()
    for check in found:
        say(shown.line(f"{'ok ' if check.well else 'BAD'}  {check.question}: {check.seen}"))
    bad = [check for check in found if not check.well]
    if not bad:
        say(f"{client.name} can be judged")
        return FINE
    if not found[0].well:
        say(f"the adapter of {client.name} does not start")
        return UNREACHABLE
    if bad[0].whose == "adapter":
        say(f"the adapter of {client.name} is broken: judge nothing by it")
    else:
        say(f"the adapter of {client.name} works, and the client does not do what is asked")
    return INSANE


def main(
    target: Target, say: Callable[[str], None] = click.echo, tell: Callable[[str], None] = _tell,
    release: str | None = None,
) -> int:  # fmt: skip
    """Ask and `say` what came of it; the exit code. `tell` is told, now and then, how long it was
    waited for.
    """
    runs = bool(getattr(target, "addresses", ()))
    most = f"of at most {MOST_S:g} s" if runs else "so far: it is started, and asked"
    with waiting.tells_progress(target.name, most, tell, EVERY_S):
        return _main(target, say, release)


def _main(target: Target, say: Callable[[str], None], release: str | None) -> int:
    reason = target.available()
    if reason:
        reason = reason.removeprefix(f"{target.name}: ")
        say(shown.block(f"not reachable  {target.name}: {reason}"))
        if helps := remedy(reason):
            say(helps)
        return UNREACHABLE
    try:
        if target.kind == "recorded":
            say(f"ok  {target.name} holds recordings of Kafka {target.release}; nothing runs")
            return FINE
        transcript = ask(target)
        found = look(transcript)
        where = sent_to.look(_brokers(transcript)) if found[0].well else []
        why = "" if found[0].well else _why(target)
        against = chosen_release.choose(target, release)
    except (Unavailable, StartFailed) as error:
        reason = str(error).removeprefix(f"{target.name}: ")
        say(shown.block(f"not reachable  {target.name}: {reason}"))
        return UNREACHABLE
    finally:
        target.stop()
    for check in found:
        say(shown.line(f"{'ok ' if check.well else 'BAD'}  {check.question}: {check.seen}"))
    for line in sent_to.lines(where, len(where)):
        say(shown.line(line))
    if against.reason and found[0].well:
        say(f"held against Kafka {against.release}: {against.reason}")
    bad = [check for check in found if not check.well]
    if not bad and any(one.found == sent_to.SILENT for one in where):
        say(f"{target.name} speaks Kafka, and clients that it sends on do not find it")
        return UNREACHABLE
    if not bad and any(one.found == sent_to.NOT_ASKED for one in where):
        say(f"{target.name} answers; whether clients find it, nobody has asked: {reach.FLAG} does")
        return FINE
    if not bad:
        say(f"{target.name} can be judged")
        return FINE
    if not found[0].well:
        say(f"{target.name} does not speak Kafka (or is not ready): no verdict would mean anything")
        if why:
            say(shown.line(why))
    else:
        say(f"{target.name} speaks Kafka, and {len(bad)} of {len(found)} answers are wrong")
        if any(check.question == ALIVE for check in bad):
            say("start it again before it is judged; a target file lets a run do that")
    return INSANE


def _why(target: Target) -> str:
    """What a target says of itself that did not answer ApiVersions."""
    try:
        target.advertised()
    except (probe.NotReady, Unavailable) as silence:
        return str(silence)
    return ""


def _endpoint(target: Target, shape: Shape) -> Endpoint:
    """Where it runs already, without a question beside those that are told; else it is started."""
    addresses: tuple[Address, ...] = getattr(target, "addresses", ())
    return Endpoint(addresses[:1]) if addresses else target.start(shape)


def ask(target: Target) -> Transcript:
    """All questions in one scenario, each on a connection of its own."""
    scenario = Scenario((
        Ask("ApiVersions", 0, {}, name="versions", connection="versions"),
        Ask("Metadata", 1, {"topics": []}, name="metadata", connection="metadata"),
        Raw(_header(NO_SUCH_API, 0), name="no such API", connection="api"),
        Raw(_header(18, NO_SUCH_VERSION) + NO_TAGS, name="no such version", connection="version",
            api="ApiVersions", version=0),
        Ask("ApiVersions", 0, {}, name="alive", connection="alive"),
    ))  # fmt: skip
    endpoint = _endpoint(target, scenario.shape)
    return driver.run(
        scenario, endpoint, nonce=secrets.token_hex(4), deadline_s=SECONDS,
        target=target.name,
    )  # fmt: skip


def _header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 1, 10) + b"touchstone"


def look(transcript: Transcript) -> list[Check]:
    """What the answers say. Pure."""
    checks = [_versions(transcript)]
    if not checks[0].well:
        return checks
    checks += [_metadata(transcript), _no_such_api(transcript), _fallback(transcript)]
    alive = transcript.answers.get("alive")
    seen = _seen(transcript, "alive")
    checks.append(Check(ALIVE, alive is not None, seen))
    findings = checkers.check_all(transcript)
    said = str(findings[0]) if findings else f"{len(checkers.checkers())} checkers are silent"
    checks.append(Check("nothing odd on any connection", not findings, said))
    return checks


def _versions(transcript: Transcript) -> Check:
    question = "it answers ApiVersions"
    answer = transcript.answers.get("versions")
    if answer is None or answer["error_code"]:
        return Check(question, False, _seen(transcript, "versions"))
    table = {r["api_key"]: (r["min_version"], r["max_version"]) for r in answer["api_keys"] or ()}
    release = advertised.release_of(table, advertised.every())
    word = f"as Kafka {release} does" if release else f"nearest to {advertised.nearest(table)}"
    return Check(question, bool(table), f"{len(table)} APIs, {word}")


def _metadata(transcript: Transcript) -> Check:
    trip = transcript.by_label.get("metadata")
    # As the target wrote it: in a scenario's words a cluster has only the broker that is asked.
    response = None if trip is None else trip.response
    brokers = [] if response is None else response.body["brokers"] or []
    named = [f"{b['node_id']} at {b['host']}:{b['port']}" for b in brokers]
    more = [f"and {len(named) - LISTED:,} more"] if len(named) > LISTED else []
    seen = ", ".join([*named[:LISTED], *more])
    seen = seen or ("none" if response else _seen(transcript, "metadata"))
    return Check("it names its brokers", bool(brokers), seen)


def _brokers(transcript: Transcript) -> dict[int, Address]:
    """Where clients are sent, by the ids of the brokers that it names."""
    trip = transcript.by_label.get("metadata")
    response = None if trip is None else trip.response
    rows = [] if response is None else response.body["brokers"] or []
    return {row["node_id"]: (row["host"], row["port"]) for row in rows}


def _no_such_api(transcript: Transcript) -> Check:
    trip = transcript.by_label.get("no such API")
    well = trip is not None and is_refusal(trip)
    return Check(f"it refuses API key {NO_SUCH_API}", well, _seen(transcript, "no such API"))


def _fallback(transcript: Transcript) -> Check:
    answer = transcript.answers.get("no such version")
    well = answer is not None and answer["error_code"] == UNSUPPORTED_VERSION
    seen = f"error {answer['error_code']}" if answer else _seen(transcript, "no such version")
    return Check("it answers an ApiVersions from the future with UNSUPPORTED_VERSION", well, seen)


def _seen(transcript: Transcript, label: str) -> str:
    trip = transcript.by_label.get(label)
    if trip is None:
        return "never got there"
    if trip.received is not None:
        return trip.undecodable or "answered"
    ending = trip.ending
    return "nothing" if ending is None else f"{ending.direction} {ending.note}".strip()
