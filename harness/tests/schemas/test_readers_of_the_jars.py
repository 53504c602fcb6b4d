"""The table of who asks and who reads says what the classes of Kafka 4.3.1 do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from touchstone.harness.judgement import readers
from touchstone.harness.judgement.readers import ADMIN, BROKERS, CLIENT
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.maven import kafka_home
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Field

from .jar_calls import Method, calls

pytestmark = [pytest.mark.maven, pytest.mark.slow]

MESSAGES, WRAPPERS = "org/apache/kafka/common/message/", "org/apache/kafka/common/requests/"
JARS = (
    "kafka-clients", "kafka-tools", "kafka-streams", "connect-runtime", "kafka-server", "kafka_2",
    "kafka-raft", "kafka-metadata", "kafka-server-common", "kafka-group-coordinator",
    "kafka-share-coordinator", "kafka-transaction-coordinator",
)  # fmt: skip
# Folders of classes -> whom they serve; a broker's are all others.
SERVES = (
    ("org/apache/kafka/clients/admin/", ADMIN), ("org/apache/kafka/tools/", ADMIN),
    ("kafka/admin/", ADMIN), ("kafka/tools/", ADMIN), ("org/apache/kafka/clients/", CLIENT),
    ("org/apache/kafka/common/", CLIENT), ("org/apache/kafka/streams/", CLIENT),
    ("org/apache/kafka/connect/", CLIENT),
)  # fmt: skip
# Methods of wrappers that read every field or count codes, whoever calls them.
OF_EVERYBODY = {"errorCounts", "toString", "equals", "hashCode", "parse"}
SPELLED = {"OffsetForLeaderEpoch": "OffsetsForLeaderEpoch"}  # as the class of the request is
OLDER = {name for name, (_, source) in readers.SENDERS.items() if " of " in source}
REPAIRS = {"WriteTxnMarkers": "AbortTransactionHandler sends it where a broker's were lost"}
# Texts for people, and what NetworkClient asks AbstractResponse for, whichever answer it is.
EVERYWHERE = {"error_message", "throttle_time_ms"}
ELSEWHERE = {
    ("ApiVersions", "api_key"): "the message itself has a method of that name",
    (
        "DescribeShareGroupOffsets",
        "error_code",
    ): "the wrapper's constructor keeps it for the handler",
    ("Fetch", "end_offset"): "of diverging_epoch and snapshot_id, which the table has",
    ("Fetch", "epoch"): "of diverging_epoch and snapshot_id, which the table has",
}
NOT_ASKED = {
    ("AddPartitionsToTxn", "results_by_transaction"): "clients end at LAST_CLIENT_VERSION, 3",
}
Callers = dict[Method, set[Method]]


@pytest.fixture(scope="module")
def callers() -> Callers:
    try:
        home = kafka_home("4.3.1")
    except Unavailable as missing:
        pytest.skip(missing.reason)
    found: Callers = defaultdict(set)
    for who, whom in calls(jar for word in JARS for jar in home.glob(f"{word}*4.3.1.jar")):
        found[whom].add(who)
    return found


def serves(owner: str) -> str:
    return next((whom for folder, whom in SERVES if owner.startswith(folder)), BROKERS)


def senders(name: str, callers: Callers) -> set[str]:
    """Return whom the classes serve that make a request of this name."""
    request = f"{WRAPPERS}{SPELLED.get(name, name)}Request"
    made = (
        who for whom, who in callers.items()
        if whom.owner.startswith(request)
        and re.fullmatch(r"\$\w*Builder\..*|\.builder", f"{whom.owner}.{whom.name}"[len(request):])
    )  # fmt: skip
    return {serves(one.owner) for who in made for one in who if not one.owner.startswith(WRAPPERS)}


def readers_of(accessor: Method, callers: Callers) -> set[str]:
    """Return whom the classes serve that read a field, also through wrappers."""
    found: set[str] = set()
    seen, left = {accessor}, [accessor]
    while left:
        for one in callers.get(left.pop(), set()) - seen:
            seen.add(one)
            if one.owner.startswith(WRAPPERS):
                if re.sub(r"^lambda\$(\w+)\$\d+$", r"\1", one.name) not in OF_EVERYBODY:
                    left.append(one)
            elif not one.owner.startswith(MESSAGES):
                found.add(serves(one.owner))
    return found


def leaves(fields: Iterable[Field]) -> Iterator[str]:
    for field in fields:
        yield field.name
        yield from leaves(field.fields)


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


@pytest.mark.parametrize("name", sorted(readers.SENDERS.keys() - OLDER))
def test_a_request_is_sent_by_whom_the_table_says(name, callers):
    found = senders(name, callers)
    first = next(who for who in readers.WHO if who in found)
    assert readers.SENDERS[name][0] == (BROKERS if name in REPAIRS else first)


def test_fields_that_no_client_reads_are_those_of_the_table(callers):
    """By API and name: a name that stands in several structs counts if one of them is not read."""
    asked = {name for name, (who, _) in readers.SENDERS.items() if who != BROKERS} - OLDER
    unread = set()
    for api in (one for one in API.values() if one.name in asked):
        owner = re.compile(rf"{MESSAGES}{api.name}ResponseData(\$\w+)?")
        there = {one for one in callers if owner.fullmatch(one.owner)}
        unread |= {
            (api.name, leaf) for leaf in set(leaves(api.response.fields)) - EVERYWHERE
            for one in there
            if one.name == camel(leaf) and not readers_of(one, callers) & {CLIENT, ADMIN}
        }  # fmt: skip
    told = {(api, path.rpartition(".")[2]) for api, path in readers.FIELDS}
    assert unread - ELSEWHERE.keys() == told - NOT_ASKED.keys()
