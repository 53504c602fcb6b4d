"""Begins a claim, a request type or a release: the files it needs, and what remains to be done.

\b
    make new-claim ID=topics.names-are-unique API=CreateTopics
    make new-api KEY=93 NAME=DescribeSomething
    make new-release NAME=4.4 VERSION=4.4.0

Nothing that exists is overwritten. What is written is complete enough to run, and says so little
that it cannot be left as it is: lint or the ledger asks for the sentence, the evidence, the fields.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

from touchstone.harness.targets.release import RECORDED

KIT = "kit"  # what suites share: no suite
ROOT = Path(__file__).resolve().parent.parent
PERSONAS = Path("reference_impl/broker/personas")
ENTRY = "[[release]]"  # of ci/matrix.toml

CLAIM = '''"""{title}.

Sources:
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import answered
from touchstone.harness.model.scenario import Ask


@claim("{id}", evidence=(), api="{api}", versions=every("{api}"))
def test_{slug}(case):
    """Say who does what, under which condition, and what Kafka answers."""
    return case.scenario(
        Ask("{api}", case.version, {{}}, name="ask"),
        expect=answered("ask"),
    )
'''
SCHEMA = '''"""{name}: what it is for

v0  the first version (KIP-)
"""

from ..schema import Field, Message

REQUEST = Message("{name}Request", "0", "0+", [
])

RESPONSE = Message("{name}Response", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
])
'''
HANDLER = '''"""{name}: what it is for (KIP-).

Sources:
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, persona: Persona, now: int) -> Struct:
    return fail(request, 0)


def fail(request: Request, code: int) -> Struct:
    return {{"error_code": code}}
'''
PERSONA = '''"""Kafka {version}: what changed since {last}.

Ranges as a real {version} lists them in ApiVersions; what is not named is as in {last}.
"""

from dataclasses import replace

from touchstone.reference_impl.broker.personas.persona import after, ranges
from touchstone.reference_impl.broker.personas.v{before} import PERSONA as BEFORE

PERSONA = replace(
    BEFORE,
    release="{name}",
    observed="{version}",
    broker_listener={{**BEFORE.broker_listener, **ranges("")}},
    controller_listener={{**BEFORE.controller_listener, **ranges("")}},
    **after(BEFORE, {{}}),  # "name.of-a-quirk": (value, "observed on {version}")
)
'''


class Exists(Exception):
    """A file that would be written is there already."""


def snake(name: str) -> str:
    """`ListConfigResources` -> `list_config_resources`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def write(root: Path, path: Path | str, text: str) -> str:
    """Write a new file and return its path. Raises Exists."""
    place = root / path
    if place.exists():
        raise Exists(f"{path} exists")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return str(path)


def new_claim(root: Path, id: str, api: str) -> Iterator[str]:
    suite, _, name = id.partition(".")
    suites = {each.parent.name for each in (root / "suites").glob("*/__init__.py")} - {KIT}
    if not name or suite not in suites:
        raise click.UsageError(f"ID is SUITE.WHAT-IT-SAYS; suites are {', '.join(sorted(suites))}")
    slug = name.replace("-", "_")
    path = f"suites/{suite}/test_{slug}.py"
    title = name.replace("-", " ").capitalize()
    yield "wrote " + write(root, path, CLAIM.format(id=id, api=api, slug=slug, title=title))
    yield "name its evidence:      clauses in suites/evidence/*.toml, a KIP, or observed on RELEASE"
    yield f"ask real Kafka:         touchstone record --target kafka@4.3 {path}"
    yield "                        BROKEN: Kafka does otherwise; else its answers are kept"
    yield "and older releases:     --target kafka@3.9, kafka@2.8, kafka@2.2, kafka@1.0"
    yield "see it red:             a switch of the reference broker, in switches=(...)"


def new_api(root: Path, key: int, name: str) -> Iterator[str]:
    stem = f"k{key:02}_{snake(name)}.py"
    for folder, text in (
        ("reference_impl/wire/apis", SCHEMA),
        ("reference_impl/broker/handlers", HANDLER),
    ):
        yield "wrote " + write(root, f"{folder}/{stem}", text.format(name=name))
    yield "fill in the fields:     from Kafka's JSON schema, a line per version with its KIP"
    yield "try it:                 touchstone broker --config unstable.api.versions.enable=true"
    yield f"once a release has it:  its range in the persona of that release ({PERSONAS})"
    yield "prove it:               .venv/bin/python ci/run fast   (against kio and the jars)"


def new_release(root: Path, name: str, version: str) -> Iterator[str]:
    matrix = root / "ci" / "matrix.toml"
    rows = matrix.read_text("utf-8")
    last = [one for one in tomllib.loads(rows)["release"] if one["tier"] != RECORDED][-1]
    persona = PERSONA.format(
        name=name, version=version, last=last["name"], before=last["name"].replace(".", "_")
    )
    yield "wrote " + write(root, PERSONAS / f"v{name.replace('.', '_')}.py", persona)
    head, *entries = rows.split(ENTRY)
    others = (one for one in entries if f'name = "{name}"' not in one)  # without a persona, yet
    entry = f'\nname = "{name}"\nversion = "{version}"\ntier = "{last["tier"]}"\n'
    listed = (f"{ENTRY}{one.rstrip()}\n" for one in (*others, entry))
    matrix.write_text(head + "\n".join(listed), encoding="utf-8")
    yield f"added to {matrix.relative_to(root)}"
    yield f"ask the real one:       touchstone smoke --target kafka@{name}   (ranges, features)"
    yield "what differs:           ranges and quirks, in its persona (quirks.py has their names);"
    yield "                        what was none becomes one: a row of personas/*_path.py"
    yield f"record it:              touchstone record --target kafka@{name}"
    fuzz = "touchstone fuzz --campaign corpus --record"
    yield f"                        {fuzz} --target kafka@{name}"
    yield "then tests ask for:     a target file (harness/targets/files), a cell of nightly.yml"


@click.group(help=__doc__)
def main() -> None:
    """Begins a claim, a request type or a release."""


@main.command("claim")
@click.argument("id")
@click.argument("api")
def claim_command(id: str, api: str) -> None:
    """A claim ID (suite.what-it-says) about API (CreateTopics)."""
    _told(new_claim(ROOT, id, api))


@main.command("api")
@click.argument("key", type=int)
@click.argument("name")
def api_command(key: int, name: str) -> None:
    """A request type by its KEY and Kafka's NAME for it."""
    _told(new_api(ROOT, key, name))


@main.command("release")
@click.argument("name")
@click.argument("version")
def release_command(name: str, version: str) -> None:
    """A release by its NAME (4.4) and full VERSION (4.4.0)."""
    _told(new_release(ROOT, name, version))


def _told(lines: Iterator[str]) -> None:
    try:
        for line in lines:
            click.echo(line)
    except Exists as exists:
        raise click.ClickException(str(exists)) from None


if __name__ == "__main__":
    sys.exit(main())
