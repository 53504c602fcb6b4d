"""Our schemas against what the real jars of each release say, version by version, field by field.

The shape (types, order, null, tags, flexibility) is compared for every version of every release;
defaults and ignorability, which never reach the wire, with the newest. Where a release says
something else than ours there is a reason below, and a test that each reason is still needed.
"""

import subprocess

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded import (
    consumer_group_records,
    consumer_offsets,
    control_records,
    share_group_records,
    share_state,
    stored,
    streams_group_records,
    transaction_state,
)
from touchstone.reference_impl.wire.embedded.consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from touchstone.reference_impl.wire.headers import RESPONSE_HEADER
from touchstone.reference_impl.wire.schema import Message, tagged, untagged

from .jar_facts import facts, messages, our_name, printed, versions_of, within

pytestmark = [pytest.mark.maven, pytest.mark.slow]

WITH_JSON = ("2.2.1", "2.8.2", "3.9.2", "4.3.1")
NEWEST = "4.3.1"
RENAMED = {
    "ListOffset": "ListOffsets",
    "ElectPreferredLeaders": "ElectLeaders",
    "AlterIsr": "AlterPartition",
    "ListClientMetricsResources": "ListConfigResources",
}
DATA = {
    schema.name: schema
    for module in (
        consumer_group_records, consumer_offsets, control_records, share_group_records,
        share_state, stored, streams_group_records, transaction_state,
    )
    for schema in vars(module).values()
    if isinstance(schema, Message)
}  # fmt: skip
OURS = {
    **{message.name: message for api in API.values() for message in (api.request, api.response)},
    **DATA,
    "ConsumerProtocolSubscription": SUBSCRIPTION,
    "ConsumerProtocolAssignment": ASSIGNMENT,
    "ResponseHeader": RESPONSE_HEADER,
}
NOT_OURS = {
    "RequestHeader": "its client id is never compact; written out in headers.py",
    "LegacyOffsetCommitKey": "the same as OffsetCommitKey",
    "LegacyOffsetCommitValue": "the same as OffsetCommitValue v0",
    "RemoteLogSegmentMetadataRecord": "tiered storage's own topic",
    "RemoteLogSegmentMetadataUpdateRecord": "tiered storage's own topic",
    "RemoteLogSegmentMetadataSnapshotRecord": "tiered storage's own topic",
    "RemotePartitionDeleteMetadataRecord": "tiered storage's own topic",
}
EARLY_ACCESS = "3.9's early access of share groups; 4.x gave the same version another shape"
OTHER_SHAPE = {
    ("3.9.2", "ReadShareGroupStateSummaryResponse", 0): EARLY_ACCESS,
    ("3.9.2", "ShareGroupMetadataValue", 0): EARLY_ACCESS,
    ("2.8.2", "LeaderChangeMessage", 0): "2.8's preview of KRaft had no version field in it",
}
BY_HAND = "2.2.1 still built this one by hand; its JSON calls the records bytes"
BYTES_FOR_RECORDS = {("2.2.1", "ProduceRequest"): BY_HAND, ("2.2.1", "FetchResponse"): BY_HAND}


def home(version):
    try:
        return kafka_home(version)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")


@pytest.fixture(scope="module", params=WITH_JSON)
def release(request):
    return request.param, messages(home(request.param))


def ours(name):
    for kind in ("Request", "Response"):
        stem = name.removesuffix(kind)
        if name.endswith(kind) and stem in RENAMED:
            return OURS.get(RENAMED[stem] + kind)
    return OURS.get(name)


def read_as(message, version):
    """Keys of internal topics are numbered by their type up to 3.x and by zero from 4.0 on."""
    return 0 if message.name.endswith("Key") and message.versions == "0" else version


def shape(theirs):
    plain = [fact for fact in theirs if fact.tag is None]
    tags = sorted((fact for fact in theirs if fact.tag is not None), key=lambda fact: fact.tag)
    return [(fact.type, fact.nullable, fact.tag, shape(fact.fields)) for fact in plain + tags]


def our_shape(rows, version, theirs):
    """Without the tags the other does not know: tags may be added to a version that exists."""
    return [
        (row.type, row.is_nullable(version), tag, our_shape(row.fields, version, fact.fields))
        for row, tag, fact in paired(rows, version, theirs)
    ]


def paired(rows, version, theirs):
    plain = [fact for fact in theirs if fact.tag is None]
    known = {fact.tag: fact for fact in theirs if fact.tag is not None}
    fields = untagged(rows, version)
    pairs = [(row, None, fact) for row, fact in zip(fields, plain, strict=False)]
    pairs += [(row, None, theirs_empty()) for row in fields[len(plain) :]]
    pairs += [(row, row.tag, known[row.tag]) for row in tagged(rows, version) if row.tag in known]
    return pairs


def theirs_empty():
    return type("Nothing", (), {"fields": [], "name": None})


def compared(number, jar):
    for name, message in sorted(jar.items()):
        mine = ours(name)
        for version in versions_of(message) if mine is not None else ():
            yield name, message, version, mine, read_as(mine, version)


def as_text(value, number, name):
    text = repr(value)
    return text.replace("'bytes'", "'records'") if (number, name) in BYTES_FOR_RECORDS else text


def test_every_shape_is_theirs(release):
    number, jar = release
    count, other = 0, set()
    for name, message, version, mine, mine_version in compared(number, jar):
        theirs = facts(message, version)
        got = as_text(our_shape(mine.fields, mine_version, theirs), number, name)
        if got != as_text(shape(theirs), number, name):
            other.add((number, name, version))
        flexible = within(message.get("flexibleVersions"), version)
        assert flexible == mine.is_flexible(mine_version), (name, version)
        count += 1
    assert other == {each for each in OTHER_SHAPE if each[0] == number}
    assert count > {"2.2.1": 200, "2.8.2": 400, "3.9.2": 500, "4.3.1": 500}[number]


def test_nothing_of_theirs_is_missing(release):
    number, jar = release
    missing = {name for name in jar if ours(name) is None and versions_of(jar[name])}
    assert missing <= set(NOT_OURS)


def test_names_and_defaults_are_the_newest_release_s():
    """They never reach the wire, so older releases may call and default things otherwise."""
    for name, message, version, mine, mine_version in compared(NEWEST, messages(home(NEWEST))):
        same_words(mine.fields, mine_version, facts(message, version), f"{name} v{version}")


def same_words(rows, version, theirs, where):
    pairs = paired(rows, version, theirs)
    assert len(pairs) == len(theirs), where
    for row, _, fact in pairs:
        here = f"{where} {row.name}"
        assert row.name == fact.name, here
        assert row.ignorable == fact.ignorable, here
        default = row.default_value()
        assert (... if isinstance(default, dict) else default) == fact.default, here
        same_words(row.fields, version, fact.fields, here)


def test_every_version_is_in_some_jar():
    seen = set()
    for number in WITH_JSON:
        for message in messages(home(number)).values():
            if message["type"] == "request":
                seen |= {(message["apiKey"], version) for version in versions_of(message)}
    assert seen == {(api.key, version) for api in API.values() for version in api.versions}


def test_a_wrong_row_would_be_seen():
    """The comparison is awake: each single doctored fact makes the shapes differ."""
    jar = messages(home(NEWEST))
    theirs = facts(jar["MetadataResponse"], 12)
    rows = OURS["MetadataResponse"].fields
    assert our_shape(rows, 12, theirs) == shape(theirs)
    for doctor in ({"type": "int64"}, {"nullable": True}, {"tag": 9}):
        theirs = facts(jar["MetadataResponse"], 12)
        for name, wrong in doctor.items():
            setattr(theirs[0], name, wrong)
        assert our_shape(rows, 12, theirs) != shape(theirs)
    assert our_shape(rows, 12, theirs[1:]) != shape(theirs[1:])


# ---- what Protocol prints ----------------------------------------------------------------------

PRINTED = {
    "string": {"STRING", "NULLABLE_STRING", "COMPACT_STRING", "COMPACT_NULLABLE_STRING"},
    "bytes": {"BYTES", "NULLABLE_BYTES", "COMPACT_BYTES", "COMPACT_NULLABLE_BYTES"},
    "records": {"RECORDS", "COMPACT_RECORDS"},
    "bool": {"BOOLEAN"},
}


@pytest.mark.java
@pytest.mark.parametrize("number", ["1.0.2", "2.2.1", "2.8.2"])
def test_every_printed_schema_is_ours(number):
    jars = home(number)
    try:
        java = find_java()
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    argv = [str(java.executable), *QUICK, "-cp", class_path(jars)]
    argv.append("org.apache.kafka.common.protocol.Protocol")
    said = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=True)
    schemas = printed(said.stdout)
    assert len(schemas) == said.stdout.count("(Version: ")
    by_name = {api.name: api for api in API.values()}
    for (name, kind, version), tree in schemas.items():
        api = by_name[RENAMED.get(name, name)]
        message = api.request if kind == "Request" else api.response
        agrees(tree, message.fields, version, (name, kind, version))


def inlined(tree):
    """Old fetch responses nest a header of fields in each partition; on the wire it is nothing."""
    for array, what in tree:
        if array or not isinstance(what, list):
            yield [array, what]
        else:
            yield from inlined(what)


def our_inlined(rows, version):
    for row in untagged(rows, version):
        if row.type == "struct":
            yield from our_inlined(row.fields, version)
        else:
            yield row


def agrees(tree, rows, version, where):
    tree, rows = list(inlined(tree)), list(our_inlined(rows, version))
    assert len(tree) == len(rows), (where, [row.name for row in rows], tree)
    for (array, what), row in zip(tree, rows, strict=True):
        assert array == row.is_array, (where, row.name)
        inner = list(our_inlined(row.fields, version))
        if row.element == "struct" and isinstance(what, str) and len(inner) == 1:
            row = inner[0]  # an array of structs of one field was an array of that field
            what = what.removeprefix("ARRAY(").removesuffix(")")
        elif row.element != "struct" and isinstance(what, list) and len(what) == 1:
            what = what[0][1]  # and the other way round
        if isinstance(what, list):
            assert row.element == "struct", (where, row.name)
            agrees(what, row.fields, version, where)
            continue
        assert what in PRINTED.get(row.element, {row.element.upper()}), (where, row.name, what)
        if not array and row.element in ("string", "bytes"):
            compact, nullable = "COMPACT_" in what, "NULLABLE_" in what
            assert nullable == row.is_nullable(version), (where, row.name, what, compact)


def test_names_become_ours():
    assert [our_name(name) for name in ("ISRNodes", "KRaftVersion", "topicId", "V3AndBelow")] == [
        "isr_nodes", "kraft_version", "topic_id", "v3_and_below",
    ]  # fmt: skip
