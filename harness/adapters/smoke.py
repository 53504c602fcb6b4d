"""Can this client be judged at all? A broken adapter and a broken client are told apart.

The adapter is asked what needs no Kafka first: to start, to be ready, to say that it has not what
nobody has. Then one record goes through producer and consumer, and each event is held against the
wire: what the wire shows and the adapter does not say is the adapter's fault, and so is what it
says and the wire does not show; what neither has is the client's.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from touchstone.harness.adapters import stage
from touchstone.harness.adapters.stage import Adapter
from touchstone.harness.judgement import client_checks
from touchstone.harness.model import client_exchanges, client_view
from touchstone.harness.model.client_steps import OPEN, Hear, Tell
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.steps import create_topic, topic_ready
from touchstone.harness.model.target import Endpoint
from touchstone.harness.model.transcript import Transcript

SECONDS = 8.0
AT_ONCE = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1",
           "offsets.topic.replication.factor": "1"}  # fmt: skip
TOPIC = Name("topic")
NOBODY_HAS = "teapot"
VALUE = "hello"


@dataclass(frozen=True, slots=True)
class Check:
    """One question; `whose` fault it is if it did not go well."""

    question: str
    well: bool
    seen: str
    whose: str = "adapter"


def says_no() -> Scenario:
    """A kind of client that nobody has."""
    return Scenario((
        Tell(OPEN, "t", {"kind": NOBODY_HAS, "config": {}}),
        Hear("startup_complete", "t"),
    ))  # fmt: skip


def passes_a_record() -> Scenario:
    """One record, from a producer to a consumer."""
    reading = {"auto.offset.reset": "earliest", "group.id": Name("group")}
    record = {"value": VALUE, "key": None, "partition": 0}
    return Scenario((
        create_topic(TOPIC),
        *topic_ready(TOPIC),
        Tell(OPEN, "p", {"kind": "producer", "config": {}}),
        Hear("startup_complete", "p"),
        Tell("send", "p", {"topic": TOPIC, "records": [record]}),
        Tell("flush", "p"),
        Hear("flush_complete", "p"),
        Tell(OPEN, "c", {"kind": "consumer", "config": reading}),
        Hear("startup_complete", "c"),
        Tell("subscribe", "c", {"topics": [TOPIC]}),
        Hear("records_consumed", "c"),
    ))  # fmt: skip


def look(adapter: Adapter, endpoint: Endpoint) -> list[Check]:
    """All questions, up to the first that makes the others idle."""
    why = adapter.start()
    about = f"{adapter.about.get('adapter')} {adapter.about.get('version')}"
    found = [Check("its program starts and says adapter_ready", why is None, why or about)]
    if why is not None:
        return found

    def played(scenario: Scenario) -> Transcript:
        return stage.run(
            scenario, endpoint, adapter, nonce=secrets.token_hex(4), deadline_s=SECONDS, target="",
            release=None,
        )  # fmt: skip

    refusal = played(says_no())
    lacks = client_view.lacks(refusal)
    found.append(Check(
        f"it says not_supported of a {NOBODY_HAS}", bool(lacks),
        lacks[0] if lacks else "; ".join(client_view.unheard(refusal)) or _ending(refusal),
    ))  # fmt: skip
    why = adapter.start()
    if why is not None:
        return [*found, Check("it still runs", False, why)]
    return [*found, *_record(played(passes_a_record()))]


def _record(seen: Transcript) -> list[Check]:
    opened = client_view.events(seen, "startup_complete", client="p")
    found = [Check("it opens a producer", bool(opened), _failed(seen) or "open", "client")]
    stored = bool(client_view.answers(seen, "Produce", "responses"))
    told = client_view.events(seen, "producer_send_success")
    flushed = bool(client_view.events(seen, "flush_complete"))
    if stored != bool(told) and not _failed(seen) or (stored and not flushed):
        wire = "an answer to Produce" if stored else "none"
        text = f"the wire shows {wire}, the adapter said {_said(seen)}"
        found.append(Check("it tells what was delivered", False, text))
    else:
        text = _failed(seen) or f"{len(told)} delivered"
        found.append(Check("a record is delivered", stored, text, "client"))
    fetched = bool(client_view.count(seen, "Fetch"))
    read = client_view.consumed(seen, "c")
    if fetched and not read:
        found.append(Check("it tells what was read", False, _failed(seen) or "the wire shows Fetch,"
                           f" the adapter said {_said(seen)}"))  # fmt: skip
    elif told and (lacks := client_view.lacks(seen)):
        found.append(Check("it says what it has not", True, lacks[0]))
    elif told:
        found.append(Check("the record is read", read == [VALUE], _failed(seen) or str(read),
                           "client"))  # fmt: skip
    odd = client_checks.check_all(seen)
    found.append(Check("its word and the wire agree", not odd, str(odd[0]) if odd else "they do"))
    return found


def _failed(seen: Transcript) -> str:
    """The first error that the client reported, or how it ended."""
    for one in client_exchanges.said(seen):
        if one.name in ("client_error", "consumer_error", "producer_send_error"):
            return f"{one.name}: {one.row.get('exception')}: {one.row.get('message')}"[:200]
    return _ending(seen)


def _ending(seen: Transcript) -> str:
    return next((f"it ended: {e.note}" for e in seen.events if e.direction == "died"), "")


def _said(seen: Transcript) -> str:
    return ", ".join(one.name for one in client_exchanges.said(seen)) or "nothing"
