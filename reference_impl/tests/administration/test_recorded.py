"""What real brokers said to administrators, asked again of their personas.

`recorded/RELEASE.jsonl.xz` holds one conversation each with single nodes of 2.8.2, 3.9.2 and 4.3.1,
in order: ElectLeaders, the two reassignment APIs, quotas, SCRAM credentials, features, the
unregistering of brokers. Every answer must be the recorded one, but for the order of entries, for
Kafka answers in the order of hash tables.
"""

import json
import lzma
from pathlib import Path

import pytest

from touchstone.reference_impl.tests.control.node import Peer, brokers

FOLDER = Path(__file__).parent / "recorded"
TOPIC = "b-adm"


def bytes_of(value):
    if isinstance(value, dict):
        return {name: bytes_of(child) for name, child in value.items()}
    if isinstance(value, list):
        return [bytes_of(child) for child in value]
    return bytes.fromhex(value[1:]) if isinstance(value, str) and value.startswith("$") else value


def in_no_order(value):
    """The same for two answers that differ in the order of lists alone."""
    if isinstance(value, dict):
        return {name: in_no_order(child) for name, child in sorted(value.items())}
    if isinstance(value, list):
        return sorted((in_no_order(child) for child in value), key=repr)
    return value


def rows(release):
    with lzma.open(FOLDER / f"{release}.jsonl.xz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_the_persona_answers_as_its_release_did(release):
    peer, differing = Peer(brokers(release)[0]), []
    topic = {"name": TOPIC, "num_partitions": 2, "replication_factor": 1}
    topic |= {"assignments": [], "configs": []}
    peer.ask(19, 4, {"topics": [topic], "timeout_ms": 9000, "validate_only": False})
    for key, version, body, expected in rows(release):
        answer = peer.ask(key, version, bytes_of(body))
        if in_no_order(answer) != in_no_order(bytes_of(expected)):
            differing.append((key, version, body, expected, answer))
    assert differing == []


def test_another_word_would_be_noticed():
    answer = {"a": [{"b": 1}, {"b": 2}]}
    assert in_no_order(answer) == in_no_order({"a": [{"b": 2}, {"b": 1}]})
    assert in_no_order(answer) != in_no_order({"a": [{"b": 2}, {"b": 3}]})
