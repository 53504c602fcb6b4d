"""What an owner has set is exchanged for Kafka's default, and who tells otherwise is seen.

Each row has an answer of Kafka's with its defaults, the same of a Kafka with the owner's file, as
4.3.1 gave them, and answers of liars next door that must read as neither.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest

from touchstone.harness.driver.turns import CAPABILITIES
from touchstone.harness.driver.words import Words
from touchstone.harness.judgement.compare import compare
from touchstone.harness.model import owner
from touchstone.harness.model.owner import Owner, TopicsByDefault
from touchstone.harness.model.pace import NOTHING_TO_DO
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.target import Endpoint, Setting, Shape
from touchstone.harness.model.translation import Translation
from touchstone.harness.targets import facts, matrix, settings
from touchstone.harness.tests.doctor import with_answer

WEEK, THREE_DAYS, GIB, QUARTER = "604800000", "259200000", "1073741824", "268435456"
FILE, DEFAULT, ALL, OWN = 4, 5, 3, 1  # sources
MINE = {
    "log.segment.bytes": Setting(QUARTER, True, ((FILE, QUARTER),), GIB),
    "log.retention.hours": Setting("72", False, ((FILE, "72"),), "168"),
    "log.retention.ms": Setting(None, True),
    "num.partitions": Setting("3", False, ((FILE, "3"),), "1"),
    "process.roles": Setting("broker,controller", False, ((FILE, "broker,controller"),), ""),
    "min.insync.replicas": Setting("1", True, ((ALL, "1"),), "1"),
    "sasl.enabled.mechanisms": Setting("PLAIN,SCRAM-SHA-256", True,
                                       ((FILE, "PLAIN,SCRAM-SHA-256"),), "GSSAPI"),
}  # fmt: skip
ELR = {"eligible.leader.replicas.version": 1}
OWNER = owner.of(MINE, ELR | {"kraft.version": 1})
OLD = owner.of({
    "log.retention.hours": Setting("72", False, ((FILE, "72"),)),
    "num.partitions": Setting("3", False, ((FILE, "3"),)),
}, {})  # fmt: skip


def row(name, value, source, *synonyms):
    shown = [{"name": of, "value": text, "source": at} for of, text, at in synonyms]
    return {"name": name, "value": value, "config_source": source, "synonyms": shown}


def described(kind, *rows):
    return {"results": [{"resource_type": kind, "resource_name": "0", "configs": list(rows)}]}


def of_topic(*rows):
    return described(owner.TOPIC, *rows)


def of_broker(*rows):
    return described(owner.BROKER, *rows)


def created(*rows, partitions=1):
    topic = {"name": "own", "num_partitions": partitions, "configs": list(rows)}
    return {"topics": [topic]}


def in_creation(name, value, source):
    return {"name": name, "value": value, "config_source": source}


def shown(count):
    rows = [{"partition_index": at, "leader_id": 0, "replica_nodes": [0]} for at in range(count)]
    return {"topics": [{"name": "own", "partitions": rows}]}


def segments(value, source, *synonyms):
    return of_topic(row("segment.bytes", value, source, *synonyms))


def old(value, default):
    return of_topic({"name": "retention.ms", "value": value, "is_default": default})


SEGMENTS, SEGMENTS_SET = ("log.segment.bytes", GIB, DEFAULT), ("log.segment.bytes", QUARTER, FILE)
HOURS, HOURS_SET = ("log.retention.hours", "168", DEFAULT), ("log.retention.hours", "72", FILE)
PARTS, PARTS_SET = ("num.partitions", "1", DEFAULT), ("num.partitions", "3", FILE)
SET_NOW = ("log.retention.ms", "1000", ALL)  # by the case itself
OF_CASE = ("segment.bytes", "9000", OWN)


def levels(*rows):
    found = [{"name": of, "max_version_level": at, "min_version_level": at} for of, at in rows]
    return {"supported_features": [{"name": "kraft.version"}], "finalized_features": found}


def voter(directory):
    parts = [{"current_voters": [{"replica_id": 0, "replica_directory_id": directory}]}]
    return {"topics": [{"topic_name": "__cluster_metadata", "partitions": parts}]}


GROUPS, QUORUM = ("group.version", 1), ("kraft.version", 1)
# What it is about -> Kafka's answer, the one with the owner's file, and those of liars.
ROWS = {
    "a topic": (
        segments(GIB, DEFAULT, SEGMENTS),
        segments(QUARTER, FILE, SEGMENTS_SET, SEGMENTS),
        [
            segments(GIB, DEFAULT, SEGMENTS),  # as if nothing were set
            segments(QUARTER, DEFAULT, SEGMENTS_SET, SEGMENTS),  # its source does not follow
            segments(GIB, FILE, SEGMENTS_SET, SEGMENTS),  # its value does not
            segments(QUARTER, FILE, SEGMENTS),  # nor do its synonyms
            segments(QUARTER, FILE, ("log.segment.bytes", "9", FILE), SEGMENTS),
            segments(QUARTER, ALL, SEGMENTS_SET, SEGMENTS),
            segments(QUARTER, FILE, SEGMENTS_SET, SEGMENTS_SET[:2] + (2,), SEGMENTS),
        ],
    ),
    "a topic with a setting of its own": (
        segments("9000", OWN, OF_CASE, SEGMENTS),
        segments("9000", OWN, OF_CASE, SEGMENTS_SET, SEGMENTS),
        [segments("9000", OWN, OF_CASE, SEGMENTS), segments(QUARTER, FILE, SEGMENTS_SET, SEGMENTS)],
    ),
    "a setting that the owner has not touched": (
        of_topic(row("index.interval.bytes", "4096", DEFAULT)),
        of_topic(row("index.interval.bytes", "4096", DEFAULT)),
        [of_topic(row("index.interval.bytes", "4096", FILE))],
    ),
    # DescribeConfigs looks at log.retention.ms first, and then at nothing.
    "a topic's hours": (
        of_topic(row("retention.ms", WEEK, DEFAULT)),
        of_topic(row("retention.ms", THREE_DAYS, DEFAULT)),
        [
            of_topic(row("retention.ms", WEEK, DEFAULT)),
            of_topic(row("retention.ms", THREE_DAYS, FILE)),
            of_topic(row("retention.ms", THREE_DAYS, DEFAULT, HOURS_SET, HOURS)),
        ],
    ),
    "a topic's hours behind what is set while it runs": (
        of_topic(row("retention.ms", "1000", ALL, SET_NOW, HOURS)),
        of_topic(row("retention.ms", "1000", ALL, SET_NOW, HOURS_SET, HOURS)),
        [of_topic(row("retention.ms", "1000", ALL, SET_NOW, HOURS)),
         of_topic(row("retention.ms", THREE_DAYS, ALL, SET_NOW, HOURS_SET, HOURS))],
    ),
    # Whoever creates topics looks at all of them.
    "a topic that is created": (
        created(in_creation("retention.ms", WEEK, DEFAULT),
                in_creation("segment.bytes", GIB, DEFAULT)),
        created(in_creation("retention.ms", THREE_DAYS, FILE),
                in_creation("segment.bytes", QUARTER, FILE), partitions=3),
        [
            created(in_creation("retention.ms", THREE_DAYS, DEFAULT),
                    in_creation("segment.bytes", QUARTER, FILE), partitions=3),
            created(in_creation("retention.ms", THREE_DAYS, FILE),
                    in_creation("segment.bytes", GIB, DEFAULT), partitions=3),
            created(in_creation("retention.ms", THREE_DAYS, FILE),
                    in_creation("segment.bytes", QUARTER, FILE), partitions=1),
        ],
    ),
    "a broker": (
        of_broker(row("num.partitions", "1", DEFAULT, PARTS),
                  row("log.retention.hours", "168", DEFAULT, HOURS),
                  row("log.retention.ms", None, DEFAULT)),
        of_broker(row("num.partitions", "3", FILE, PARTS_SET, PARTS),
                  row("log.retention.hours", "72", FILE, HOURS_SET, HOURS),
                  row("log.retention.ms", None, DEFAULT)),
        [
            of_broker(row("num.partitions", "1", DEFAULT, PARTS),
                      row("log.retention.hours", "72", FILE, HOURS_SET, HOURS),
                      row("log.retention.ms", None, DEFAULT)),
            of_broker(row("num.partitions", "3", FILE, PARTS_SET, PARTS),
                      row("log.retention.hours", "72", FILE, HOURS),
                      row("log.retention.ms", None, DEFAULT)),
            of_broker(row("num.partitions", "3", FILE, PARTS_SET, PARTS),
                      row("log.retention.hours", "72", FILE, HOURS_SET, HOURS),
                      row("log.retention.ms", None, FILE)),
        ],
    ),
    "what Kafka writes where a feature is on": (
        of_topic(row("min.insync.replicas", "1", ALL)),
        of_topic(row("min.insync.replicas", "1", ALL)),
        [of_topic(row("min.insync.replicas", "1", DEFAULT))],
    ),
    "partitions of a topic that asks for none": (shown(1), shown(3), [shown(1), shown(2)]),
    "finalized features": (
        levels(GROUPS), levels(GROUPS, QUORUM),
        [levels(GROUPS), levels(GROUPS, ("kraft.version", 2)), levels(GROUPS, QUORUM, QUORUM),
         levels(GROUPS, QUORUM, ("share.version", 1)), levels(QUORUM)],
    ),
    "mechanisms of other listeners": (
        {"mechanisms": ["GSSAPI"]}, {"mechanisms": ["SCRAM-SHA-256", "PLAIN"]},
        [{"mechanisms": ["GSSAPI"]}, {"mechanisms": ["PLAIN"]}, {"mechanisms": []},
         {"mechanisms": ["PLAIN", "PLAIN", "SCRAM-SHA-256"]}],
    ),
    "voters": (voter(bytes(16)), voter(b"0123456789abcdef"), [voter(bytes(16))]),
}  # fmt: skip


def read(answer, whose=OWNER):
    return whose.answer(answer, frozenset({"own"}))


@pytest.mark.parametrize("about", ROWS)
def test_an_owners_answer_reads_like_kafkas(about):
    kafkas, owners, _ = ROWS[about]
    before = deepcopy(owners)
    assert read(owners) == kafkas
    assert owners == before, "what was sent stays as it was"


@pytest.mark.parametrize(
    ("about", "at"), [(about, at) for about, row in ROWS.items() for at in range(len(row[2]))]
)
def test_a_liar_next_door_is_seen(about, at):
    kafkas, _, liars = ROWS[about]
    assert read(liars[at]) != kafkas


@pytest.mark.parametrize(
    ("answer", "reads_as"),
    [
        (old(THREE_DAYS, True), old(WEEK, True)),
        (old(WEEK, True), old(THREE_DAYS, True)),
        (old(THREE_DAYS, False), old(THREE_DAYS, False)),  # 1.0 tells only a topic's own
        (of_broker({"name": "num.partitions", "value": "3", "is_default": False}),
         of_broker({"name": "num.partitions", "value": "1", "is_default": True})),
        (of_broker({"name": "num.partitions", "value": "3", "is_default": True}),
         of_broker({"name": "num.partitions", "value": "3", "is_default": True})),
    ],
)  # fmt: skip
def test_1_0_tells_no_sources(answer, reads_as):
    assert read(answer, OLD) == reads_as


@pytest.mark.parametrize(
    ("answer", "reads_as"),
    [
        (created(in_creation("retention.ms", "-3600000", FILE)),
         created(in_creation("retention.ms", WEEK, DEFAULT))),
        (created(in_creation("retention.ms", "-1", FILE)),
         created(in_creation("retention.ms", "-1", FILE))),
        (of_topic(row("retention.ms", "-1", DEFAULT)),
         of_topic(row("retention.ms", WEEK, DEFAULT))),
    ],
)  # fmt: skip
def test_hours_below_none_are_none_but_to_who_creates_a_topic(answer, reads_as):
    kept = owner.of(
        MINE | {"log.retention.hours": Setting("-1", False, ((FILE, "-1"),), "168")}, {}
    )
    assert read(answer, kept.without(["num.partitions"])) == reads_as


def test_without_an_owners_choice_nothing_is_changed():
    plain = owner.of({"node.id": Setting("7", False, ((FILE, "7"),), "-1")}, {"group.version": 1})
    assert not plain.needed
    for kafkas, owners, _ in ROWS.values():
        assert read(kafkas, plain) == kafkas
        assert read(owners, plain) == owners


def test_requests_are_no_answers():
    body = {"topics": [{"name": "own", "num_partitions": -1, "replication_factor": -1,
                        "configs": [{"name": "segment.bytes", "value": GIB}]}]}  # fmt: skip
    assert read(body) == body


def test_a_level_that_no_kafka_has_is_not_believed():
    assert owner.of({}, {"kraft.version": 2}).quorum == 0


def test_it_is_stored_with_a_transcript():
    words = Translation(nodes=(0,), owner=OWNER, by_default=frozenset({"own"}))
    assert words.needed
    assert Translation.from_json(words.to_json()) == words
    assert Owner.from_json(OLD.to_json()) == OLD


def test_topics_that_metadata_makes_have_the_owners_number_of_partitions():
    topics = TopicsByDefault()
    for name, count in (("counted", 2), ("free", -1), ("placed", -1)):
        placed = [{"partition_index": 0, "broker_ids": [0]}] if name == "placed" else []
        row = {"name": name, "num_partitions": count, "assignments": placed}
        topics.learn("CreateTopics", 5, {"topics": [row]})
    rows = [{"name": name} for name in ("counted", "made", "placed", "__consumer_offsets", None)]
    topics.learn("Metadata", 4, {"topics": rows, "allow_auto_topic_creation": True})
    topics.learn("Metadata", 4, {"topics": [{"name": "seen"}], "allow_auto_topic_creation": False})
    topics.learn("Metadata", 1, {"topics": None})
    assert topics.names == {"free", "made"}
    topics.count(["made"])
    assert topics.names == {"free"}


def test_what_the_scenarios_cluster_has_as_well_is_nobodys_choice():
    """A claim that sets log.segment.bytes was recorded on a cluster that has it in its file."""
    steps = (Ask("Metadata", 1, {"topics": []}, "ask"),)
    asked = Scenario(steps, config={"log.segment.bytes": QUARTER})
    words = Words(asked, Endpoint((("127.0.0.1", 1),), settings=MINE), NOTHING_TO_DO)
    found = words.translation.owner.settings
    assert "num.partitions" in found
    assert "log.segment.bytes" not in found


@pytest.mark.parametrize("release", ["1.0", "2.8", "3.9", "4.3"])
def test_what_every_cluster_of_the_harness_has_is_no_owners_choice(release):
    named = matrix.release(release)
    added = {*settings.added(named, Shape()), *settings.added(named, Shape(3))}
    ours = {name for name in added if not name.startswith("zookeeper.")}
    assert ours <= owner.EVERYBODYS


def test_a_setting_is_told_with_where_it_is_from():
    config = row("num.partitions", "3", FILE, PARTS_SET, PARTS) | {"read_only": True}
    assert facts._setting(config) == MINE["num.partitions"]
    bare = {"name": "a", "value": "3", "read_only": True, "is_default": False}
    assert facts._setting(bare).written == ((FILE, "3"),)
    assert facts._setting(bare | {"is_default": True}).written == ()


# Whole answers that 4.3.1 gave, with what the owner's file makes of them, and one liar's row each.
RECORDED = {
    ("topics", "configs.all-of-a-topic[v1]", "ask"): lambda body: body["results"][0]["configs"],
    ("topics", "topics.created-topics-can-be-used[v7]", "create"):
        lambda body: [one for topic in body["topics"] for one in topic["configs"]],
}  # fmt: skip


def of_owner(recorded, label, rows_of, *changes):
    """The recorded answer as the owner's broker gives it, but for some settings' rows."""
    hours = THREE_DAYS, FILE if label == "create" else DEFAULT
    file = {"segment.bytes": (QUARTER, FILE), "retention.ms": hours, **dict(changes)}

    def change(body):
        for one in rows_of(body):
            if one["name"] in file and one["config_source"] == DEFAULT:
                one["value"], one["config_source"] = file[one["name"]]

    changed = with_answer(recorded, label, change)
    words = Translation(nodes=(0,), owner=OWNER).to_json()
    return replace(changed, header=replace(changed.header, translation=words))


@pytest.mark.parametrize("place", RECORDED, ids=lambda place: place[1])
def test_the_judge_takes_the_owners_broker_and_no_liar_for_kafka(place):
    (suite, case, label), rows_of = place, RECORDED[place]
    recorded = Store("4.3").transcript(suite, case)
    assert compare(recorded, of_owner(recorded, label, rows_of)) == []
    for lie in (
        ("index.interval.bytes", ("4096", FILE)),  # which the owner has not set
        ("segment.bytes", (QUARTER, DEFAULT)),
        ("segment.bytes", (GIB, DEFAULT)),
        ("segment.bytes", (GIB, FILE)),
        ("retention.ms", (WEEK, DEFAULT)),
        ("retention.ms", (THREE_DAYS, DEFAULT if label == "create" else FILE)),
    ):
        assert compare(recorded, of_owner(recorded, label, rows_of, lie)) != [], lie


@pytest.mark.parametrize(
    ("word", "told", "has"),
    [
        ("fixed-voters", {"finalized": {"kraft.version": 1}}, False),
        ("fixed-voters", {"finalized": {"metadata.version": 30}}, True),
        ("offsets-in-50-partitions", {"internal": {"__consumer_offsets": (7, 3)}}, False),
        ("offsets-in-50-partitions", {"internal": {"__consumer_offsets": (50, 3)}}, True),
        ("offsets-in-50-partitions", {}, True),
    ],
)
def test_claims_about_what_an_owner_has_chosen_otherwise_are_not_run(word, told, has):
    endpoint = Endpoint((("127.0.0.1", 1),), **told)
    assert CAPABILITIES[word](endpoint, {}) is has
