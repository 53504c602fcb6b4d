"""Every field of every request is sent at each of its edges, once, before anything is drawn."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from touchstone.fuzz import edges
from touchstone.fuzz.campaign import campaigns, generated
from touchstone.fuzz.generator import GUARDED, STOPPING, Generator, Pair
from touchstone.fuzz.share import Where, listed_by
from touchstone.fuzz.targets import served_pairs
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.schema import fields_of

PAIRS = served_pairs("4.3", listed_by(Where(None, "4.3").link()))
OLD = [Pair(0, 2), Pair(1, 3), Pair(8, 3), Pair(11, 1)]  # of releases before 4.0
KEYS = sorted({pair.key for pair in PAIRS} - GUARDED.keys() - STOPPING.keys())
FIELDS = campaigns()["fields"]


def paths_of(rows, version: int, above: str = ""):
    for row in fields_of(rows, version):
        yield above + row.name, row
        yield from paths_of(row.fields, version, f"{above}{row.name}.")


def value_at(body, path: str):
    *above, name = path.split(".")
    for each in above:
        body = body[each][0] if isinstance(body[each], list) else body[each]
    return body[name]


def sent(edge: edges.Edge):
    wire = edges.frame_of(edge, Generator([edge.pair], random.Random(1)), 7)
    request = decode_request(wire[4:])
    assert request.end == len(wire) - 4
    return value_at(request.body, edge.path)


@pytest.mark.parametrize("key", KEYS)
def test_every_field_of_every_version_is_sent_with_another_value_than_its_default(key):
    for pair in [one for one in PAIRS + OLD if one.key == key]:
        edges_there = edges.edges_of(pair)
        for path, row in paths_of(API[key].request.fields, pair.version):
            if row.element == "struct":
                continue  # those within it are sent, so it is there
            values = edges_there[path]
            default = row.default_value(pair.version)
            other = max(at for at, value in enumerate(values) if value != default)
            if row.element == "records":
                continue  # valid requests have them
            assert sent(edges.Edge(pair, path, other)) != default, (pair, path)


def test_each_edge_is_sent_once_before_anything_is_drawn():
    pairs = [Pair(75, 0), Pair(3, 12), Pair(2, 5)]
    once = edges.every_edge(tuple(pairs), 9)
    assert max(Counter(once).values()) == 1
    cases = generated(FIELDS, lambda draw: Generator(pairs, draw), 9)
    faults = [faults for _, _, faults in itertools.islice(cases, len(once) + 50)]
    assert [one[0] for one in faults[: len(once)]] == [edge.fault for edge in once]
    assert not any(map(edges.is_edge, faults[len(once) :]))


def test_processes_share_the_edges_of_a_campaign():
    pairs = [Pair(75, 0)]

    def dealt(first: int):
        cases = generated(FIELDS, lambda draw: Generator(pairs, draw), 9, first=first, step=2)
        return [faults[0] for _, _, faults in itertools.islice(cases, 10)]

    whole = generated(FIELDS, lambda draw: Generator(pairs, draw), 9)
    one_after_another = [faults[0] for _, _, faults in itertools.islice(whole, 20)]
    assert [one for two in zip(dealt(0), dealt(1), strict=True) for one in two] == one_after_another


def test_a_field_within_what_is_null_in_every_valid_request_has_edges():
    lowest = edges.Edge(Pair(75, 0), "cursor.partition_index", 1)
    assert edges.edges_of(lowest.pair)[lowest.path][0] == -(2**31)
    assert sent(edges.Edge(Pair(75, 0), "cursor.partition_index", 0)) == -(2**31)


def test_no_edge_makes_a_topic_of_hundreds_of_partitions():
    assert max(edges.edges_of(Pair(19, 7))["topics.num_partitions"]) <= 16


def test_guarded_requests_have_no_edges():
    assert not edges.every_edge((Pair(49, 1),), 1)
