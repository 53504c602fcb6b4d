"""The table of who asks and who reads covers every API, and names fields that there are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from touchstone.harness.judgement import readers
from touchstone.harness.judgement.readers import ADMIN, BROKERS, CLIENT, NOBODY
from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.schema import Field


def paths(fields: tuple[Field, ...] | list[Field], place: str = "") -> Iterator[str]:
    for field in fields:
        here = f"{place}.{field.name}".removeprefix(".")
        yield here
        yield from paths(field.fields, here)


def test_every_api_has_its_sender_and_no_other_has():
    assert readers.SENDERS.keys() == {api.name for api in API.values()}
    assert {who for who, _ in readers.SENDERS.values()} == {CLIENT, ADMIN, BROKERS}


@pytest.mark.parametrize(("api", "path"), [*readers.FIELDS, *readers.RAISES])
def test_a_field_of_the_table_is_one_of_the_answer(api, path):
    assert path in set(paths(by_name(api).response.fields))


@pytest.mark.parametrize(("api", "name"), sorted(readers.BESIDE_ERRORS))
def test_what_is_read_beside_an_error_stands_in_the_answer(api, name):
    assert name in {path.rpartition(".")[2] for path in paths(by_name(api).response.fields)}


@pytest.mark.parametrize(
    ("api", "path", "who"),
    [
        ("Produce", "responses[*].partition_responses[0].base_offset", CLIENT),
        ("CreateTopics", "topics[2].configs", ADMIN),
        ("WriteTxnMarkers", "markers[*].error_code", BROKERS),
        ("Fetch", "responses[*].partitions[*].diverging_epoch.epoch", BROKERS),
        ("DescribeGroups", "groups[*].members[*].member_metadata", NOBODY),
        ("ListTransactions", "unknown_state_filters[1]", NOBODY),
        (None, "connection", CLIENT),
    ],
)
def test_who_reads_a_field_is_its_own_reader_or_the_sender(api, path, who):
    assert readers.who(api, path) == who


@pytest.mark.parametrize(
    ("api", "path", "pair", "raises"),
    [
        ("CreateTopics", "topics[*].configs", ("[]", None), True),
        ("CreateTopics", "topics[*].configs", (None, "[]"), False),
        ("JoinGroup", "protocol_type", (None, ""), True),
        ("JoinGroup", "protocol_type", ("consumer", None), False),
        ("Fetch", "responses[*].partitions[*].aborted_transactions", ("[]", None), False),
    ],
)
def test_a_null_raises_where_its_reader_does_not_expect_it(api, path, pair, raises):
    assert readers.raises(api, path, *pair) is raises
