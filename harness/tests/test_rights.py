"""Names that begin with a prefix, and what a user may not do: asked, and one line per right."""

from __future__ import annotations

from functools import partial

import pytest

from touchstone.harness.model import rights
from touchstone.harness.model.placeholders import Bindings, Name, unique
from touchstone.harness.model.rights import CLUSTER, GROUPS, TOPICS, TRANSACTIONS, Right
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.steps import create_topic, describe_configs, metadata
from touchstone.harness.results import summary
from touchstone.harness.results.summary import Report
from touchstone.harness.targets import asked_rights, facts
from touchstone.harness.tests.results.runs import head
from touchstone.harness.tests.spark.made import case_row
from touchstone.reference_impl.broker.security.acls.guards import GUARDS
from touchstone.reference_impl.wire.apis import API

TOPIC = Name("topic")
NOBODY_MAY = Right(rights.UNNAMED, TOPICS)
# Guarded by what they ask about, or for everybody: these list what a user may see.
BY_BODY = {"AddPartitionsToTxn", "AlterConfigs", "DescribeConfigs", "FindCoordinator",
           "IncrementalAlterConfigs", "InitProducerId", "CreateDelegationToken",
           "DescribeDelegationToken", "DescribeCluster", "ListGroups",
           "ListTransactions"}  # fmt: skip


@pytest.mark.parametrize("name", [TOPIC, Name("t", length=20), Name("t", length=249)])
def test_a_name_begins_with_the_prefix_and_keeps_its_length(name):
    text = unique("n", name, 0, "team-")
    assert text.startswith("team-")
    if name.length:
        assert len(text) == name.length
    assert text != unique("m", name, 0, "team-")


def test_a_name_stays_unique_where_the_prefix_is_longer_than_it():
    assert len(unique("n", Name("t", length=12), 0, "a-long-prefix-")) == len("a-long-prefix-") + 10


def test_a_principal_has_the_prefix_behind_its_kind():
    user, principal = Name("alice", token="a"), Name("User:alice", token="a")
    drawn = Bindings("n", 0, prefix="team-")
    assert drawn.resolve(principal) == f"User:{drawn.resolve(user)}"
    assert drawn.resolve(user).startswith("team-alice-")


def test_names_that_a_coordinator_accepts_have_the_prefix_too():
    drawn = Bindings("n", 0, prefix="team-", accepted=lambda text: text[-1] in "abc")
    text = drawn.resolve(Name("group"))
    assert text.startswith("team-") and text[-1] in "abc"


def test_every_guarded_api_has_its_rights():
    names = {API[key].name for key in GUARDS}
    assert names - rights.NEEDS.keys() == BY_BODY


def asking(api, version=1, **body):
    return Scenario((Ask(api, version, body),))


@pytest.mark.parametrize(
    ("scenario", "wanted"),
    [
        (Scenario((create_topic(TOPIC),)), Right("CREATE", TOPICS)),
        (Scenario((describe_configs(TOPIC, version=1),)), Right("DESCRIBE_CONFIGS", TOPICS)),
        (asking("DescribeConfigs", resources=[{"resource_type": 4}]),
         Right("DESCRIBE_CONFIGS", CLUSTER)),
        (asking("IncrementalAlterConfigs", resources=[{"resource_type": 32}]),
         Right("ALTER_CONFIGS", GROUPS)),
        (asking("Fetch", replica_id=2), Right("CLUSTER_ACTION", CLUSTER)),
        (asking("Fetch", replica_id=-1), Right("READ", TOPICS)),
        (asking("Produce", transactional_id=TOPIC), Right("WRITE", TRANSACTIONS)),
        (asking("Produce", transactional_id=None), Right("WRITE", TOPICS)),
        (asking("FindCoordinator", key=TOPIC, key_type=1), Right("DESCRIBE", TRANSACTIONS)),
        (asking("AddPartitionsToTxn", 4), Right("CLUSTER_ACTION", CLUSTER)),
        (asking("Metadata", 9, topics=[], include_cluster_authorized_operations=True),
         Right("ALTER", CLUSTER)),
    ],
)  # fmt: skip
def test_what_a_scenario_needs(scenario, wanted):
    assert wanted in rights.needs(scenario)
    assert rights.lacking(scenario, frozenset({wanted})) == wanted
    others = frozenset({Right("DELETE", GROUPS)})
    assert rights.lacking(scenario, others) is None


def test_who_only_reads_needs_no_right_of_brokers():
    needed = {*rights.needs(asking("Fetch", replica_id=-1))}
    assert needed == {Right("READ", TOPICS)}


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (Scenario((metadata("a b", version=1),)), "Metadata asks about the name 'a b'"),
        (Scenario((metadata(TOPIC, version=1),)), None),
        (asking("ConsumerGroupHeartbeat", subscribed_topic_names=["x"]), "the name 'x'"),
        (asking("ListTransactions", transactional_id_pattern="t-.*"), "the name 't-.*'"),
        (asking("StreamsGroupHeartbeat", topology={"subtopologies": [{"source_topics": ["in"]}]}),
         "the name 'in'"),
        (asking("StreamsGroupHeartbeat", topology={"subtopologies": [
            {"subtopology_id": "0", "source_topics": [TOPIC],
             "state_changelog_topics": [{"name": "log", "topic_configs": []}]}]}),
         "the name 'log'"),
        (asking("DeleteTopics", topic_names=["x"]), "DeleteTopics asks about the name 'x'"),
        (asking("InitProducerId", transactional_id=""), "InitProducerId asks about the empty name"),
        (asking("JoinGroup", group_id="my-group"), "JoinGroup asks about the name 'my-group'"),
        (asking("JoinGroup", group_id="team-x", member_id="m"), None),
        (asking("FindCoordinator", key="g"), "FindCoordinator asks about the name 'g'"),
        (asking("AlterClientQuotas", entries=[{"ops": [{"key": "k"}]}]), None),
        (asking("DescribeConfigs", resources=[{"resource_type": 2, "resource_name": "t"}]),
         "DescribeConfigs asks about the name 't'"),
        (asking("DescribeConfigs", resources=[{"resource_type": 4, "resource_name": "0"}]), None),
        (asking("Fetch", topics=[{"topic": "__consumer_offsets"}]), "'__consumer_offsets'"),
    ],
)  # fmt: skip
def test_names_that_are_written_out_cannot_have_the_prefix(scenario, reason):
    found = rights.unnamed(scenario, "team-")
    assert (found is None) if reason is None else (reason in found and "'team-'" in found)


def cluster(monkeypatch, **answers):
    """A cluster that answers this, by API."""
    asked = []

    def answer(address, api, version, body, offered, seconds):
        asked.append((api, body))
        return answers.get(api)

    monkeypatch.setattr(facts, "asked", answer)
    return asked_rights.missing(("h", 1), {}, "team-", 1.0), asked


def test_a_user_of_a_prefix_has_no_right_on_the_cluster(monkeypatch):
    missing, asked = cluster(
        monkeypatch,
        ListPartitionReassignments={"error_code": 31},
        DescribeCluster={"cluster_authorized_operations": 0},
        Metadata={"topics": [{"topic_authorized_operations": 0b110111111000, "error_code": 3}]},
        DescribeGroups={"groups": [{"authorized_operations": -(1 << 31), "error_code": 16}]},
    )
    assert missing == {NOBODY_MAY, *(Right(one, CLUSTER) for one in rights.KNOWN[CLUSTER])}
    assert rights.words(missing) == (
        "ALTER, ALTER_CONFIGS, CLUSTER_ACTION, DESCRIBE, DESCRIBE_CONFIGS on the cluster"
    )
    assert "touchstone-rights" in str(asked) and str(asked).count("'touchstone-rights") == 0


def test_who_may_not_describe_the_cluster_is_believed_what_he_may_do_to_it(monkeypatch):
    """Kafka gives no bits without DESCRIBE on the cluster."""
    refused = {"error_code": 31}
    missing, _ = cluster(
        monkeypatch,
        ListPartitionReassignments=refused, ElectLeaders=refused,
        IncrementalAlterConfigs={"responses": [{"error_code": 0}]},
        DescribeConfigs={"results": [{"error_code": 0, "configs": []}]},
        DescribeCluster={"cluster_authorized_operations": 0},
    )  # fmt: skip
    assert rights.words(missing) == "ALTER, CLUSTER_ACTION, DESCRIBE on the cluster"


def test_an_authorizer_fails_at_what_has_no_name_whoever_asks(monkeypatch):
    monkeypatch.setattr(facts, "asked", lambda *asked: None)
    asks = partial(asked_rights.missing, ("h", 1), {}, "", 1.0)
    missing = asks(guarded=True)
    assert missing == {NOBODY_MAY} and asks() == frozenset() and not rights.words(missing)
    of = [asking("ShareAcknowledge", topics=[{"topic_id": one}]) for one in (bytes(16), "$topic")]
    found = [rights.lacking(one, missing) for one in of]
    assert found == [NOBODY_MAY, None]
    assert str(NOBODY_MAY) == "no ShareAcknowledge by an unknown id on topics"


def test_bits_are_not_believed_where_nothing_is_refused(monkeypatch):
    told = {"DescribeCluster": {"cluster_authorized_operations": 0}, "EndTxn": {"error_code": 49}}
    assert cluster(monkeypatch, **told)[0] == frozenset()


def test_a_right_that_only_a_trial_shows_is_missing(monkeypatch):
    refused = {"responses": [{"error_code": 29}]}
    missing, asked = cluster(
        monkeypatch, IncrementalAlterConfigs=refused, EndTxn={"error_code": 53}
    )
    assert missing == {
        Right("ALTER_CONFIGS", TOPICS), Right("ALTER_CONFIGS", CLUSTER),
        Right("WRITE", TRANSACTIONS), NOBODY_MAY,
    }  # fmt: skip
    changing = [body for api, body in asked if api in ("CreateTopics", "IncrementalAlterConfigs")]
    assert all(body["validate_only"] for body in changing) and len(changing) > 1


@pytest.mark.parametrize(("of_three", "lacks"), [(0, True), (38, False), (44, False)])
def test_topics_of_one_replica_may_be_against_a_policy(monkeypatch, of_three, lacks):
    def answer(address, api, version, body, offered, seconds):
        if api != "CreateTopics":
            return None
        assert body["validate_only"]
        one = body["topics"][0]["replication_factor"] == 1
        return {"topics": [{"error_code": 44 if one else of_three}]}

    monkeypatch.setattr(facts, "asked", answer)
    missing = asked_rights.missing(("h", 1), {}, "", 1.0)
    assert missing == ({Right(rights.ONE_REPLICA, TOPICS)} if lacks else frozenset())
    scenario = Scenario((create_topic(TOPIC),))
    assert (str(rights.lacking(scenario, missing)) == "no CREATE with 1 replica on topics") == lacks


def test_one_line_per_right_says_what_it_takes_away():
    reason = "out of scope: no ALTER_CONFIGS on topics"
    policy = "out of scope: no CREATE with 1 replica on topics"
    rows = [
        case_row("topics.a[v4]", "C", "T"),
        *(case_row(f"topics.b[v{n}]", "I", "T", claim="topics.b", reason=reason) for n in (0, 1)),
        case_row("topics.c[v0]", "I", "T", claim="topics.c", reason=reason),
        case_row("topics.d[v0]", "I", "T", claim="topics.d", reason=policy),
    ]
    lines = summary.lines(Report(head(), rows))
    assert "no ALTER_CONFIGS on topics: 2 claims not run (3 cases)" in lines
    assert "no CREATE with 1 replica on topics: 1 claim not run (1 case)" in lines
    assert any("4 ask for settings, brokers or rights that it does not have" in x for x in lines)
