"""A target with a seeded defect beside one without it, and scripts that hide what shows it.

`bulked` hides the script made by hand among requests, elements, records and names that have nothing
to do with it, as a campaign would.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from touchstone.fuzz.campaign import Campaign, Finding
from touchstone.fuzz.corpus_run import create_topics, serves_groups, wait_until
from touchstone.fuzz.generator import TOPICS, Generator, Pair, pairs_of
from touchstone.fuzz.layers import within_body
from touchstone.fuzz.minimise.fields import opened
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.roles import Subject
from touchstone.fuzz.runner import Link
from touchstone.fuzz.script import Script, Step
from touchstone.fuzz.tests.seeded import Seeded
from touchstone.fuzz.triage import Trial
from touchstone.fuzz.triage.attempts import complaints, differences, played, signatures
from touchstone.fuzz.world import World
from touchstone.harness.model import advertised
from touchstone.harness.targets.liars import LyingServer, broker
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import Struct, fields_of

INVALID_PRODUCER_ID_MAPPING = 49
CONFIG = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "0"}
NOISE = (2, 3, 10, 18, 22, 29, 32, 35, 60)
"""Keys of requests that change nothing which others are about, and that nobody waits for."""
JUDGED = Campaign("seeded", "", "generated", {}, (0, 0), dict(ORACLES), 1)


class Bench:
    """The target with the defect and the one without; both begin anew at every `restore`."""

    def __init__(self, seeded: Seeded) -> None:
        self.seeded = seeded
        self._open = ExitStack()
        self.restore()

    def close(self) -> None:
        self._open.close()

    def restore(self) -> None:
        self._open.close()
        release, config = self.seeded.release, CONFIG | dict(self.seeded.config)
        right = self._open.enter_context(serve(release=release, config=config))
        self.right = self._link(right.bootstrap[0])
        if self.seeded.lie is None:
            wrong = serve(release=release, config=config, switches=self.seeded.switches)
            self.wrong = self._link(self._open.enter_context(wrong).bootstrap[0])
        else:
            server = LyingServer(self.seeded.lie, broker(self.right.address))
            server = self._open.enter_context(server)
            self.wrong = self._open.enter_context(Link(*server.address, timeout_s=0.1))
        for link in (self.right,) if self.seeded.lie else (self.right, self.wrong):
            create_topics(link, dict.fromkeys(TOPICS, False))
            wait_until(partial(serves_groups, link), "no groups", link)
            wait_until(partial(_serves_transactions, link), "no transactions", link)

    def _link(self, word: str) -> Link:
        host, _, port = word.rpartition(":")
        return self._open.enter_context(Link(host, int(port), timeout_s=0.3))

    def complains(self, script: Script) -> list[Finding]:
        steps = played(script, self.wrong)
        if self.seeded.lie is not None:
            return complaints(JUDGED, script, steps)
        return differences(script, steps, signatures(played(script, self.right)))

    @property
    def trial(self) -> Trial:
        return Trial(self.complains, self.complains, self.restore)


def _serves_transactions(link: Link) -> bool:
    link.ask(10, 1, {"key": "t", "key_type": 1})
    body = {"transactional_id": "t", "producer_id": 1, "producer_epoch": 0, "committed": False}
    answer = link.ask(26, 0, body)
    return answer is not None and answer["error_code"] == INVALID_PRODUCER_ID_MAPPING


@contextmanager
def bench(seeded: Seeded) -> Iterator[Bench]:
    made = Bench(seeded)
    try:
        yield made
    finally:
        made.close()


# --- a script that hides what shows the defect ----------------------------------------------------


def bulked(seeded: Seeded, draw: random.Random) -> Script:
    """The script by hand among up to six other requests, with more in each of its own."""
    steps = [_fatter(step, draw) for step in seeded.by_hand.steps]
    places = sorted(draw.randint(0, len(steps)) for _ in range(draw.randint(2, 6)))
    made: list[Step] = []
    moved: dict[int, int] = {}
    for number in range(len(steps) + 1):
        for _ in range(places.count(number)):
            made.append(_noise(seeded.release, draw))
        if number < len(steps):
            moved[number] = len(made)
            made.append(steps[number])
    return Script(
        tuple(
            replace(step, references=tuple(replace(r, step=moved[r.step]) for r in step.references))
            for step in made
        )
    )


def _noise(release: str, draw: random.Random) -> Step:
    """A request that the target serves, and that no oracle complains about."""
    pairs = [pair for pair in pairs_of(advertised.table(release)) if pair.key in NOISE]
    _, wire = Generator(pairs, draw).frame(draw.randrange(1000))
    return Step(wire)


def _fatter(step: Step, draw: random.Random) -> Step:
    request = opened(step.wire)
    if request is None:
        return replace(step, wire=frame(step.wire[4:] + draw.randbytes(30)))

    def fatten(key: int, version: int, body: Struct) -> None:
        subject = Subject(draw, key, version, World())
        generator = Generator([Pair(key, version)], draw)
        _fatten(generator, API[key].request.fields, subject, body, "")

    wire = within_body(step.wire, fatten)
    body = opened(wire)
    assert body is not None
    header = body.header
    named = encode_request(header.key, header.version, 77, "touchstone-fuzz", body.body)
    return replace(step, wire=frame(named))


def _fatten(generator: Generator, rows: Any, subject: Subject, body: Struct, path: str) -> None:
    """Up to three more elements behind those of each array of structs; longer records."""
    for row in fields_of(rows, subject.version):
        value, here = body.get(row.name), f"{path}.{row.name}" if path else row.name
        if row.is_array and row.element == "struct" and value is not None:
            for element in value:
                _fatten(generator, row.fields, subject, element, here)
            more = [
                generator._struct(row.fields, subject, here)
                for _ in range(generator.draw.randint(0, 3))
            ]
            body[row.name] = [*value, *copy.deepcopy(more)]
