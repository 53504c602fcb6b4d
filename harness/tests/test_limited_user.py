"""A user of the reference broker who may only touch what begins with `team-`, judged as he is."""

from __future__ import annotations

import pytest

from touchstone.harness.driver.brokers import Question
from touchstone.harness.judgement.verdict import CONFORMS, INCONCLUSIVE
from touchstone.harness.model import profiles
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import answered
from touchstone.harness.model.rights import CLUSTER, KNOWN, TOPICS, Right
from touchstone.harness.model.scenario import Ask, Name, Scenario
from touchstone.harness.model.security_settings import SASL_LISTENER, USERS
from touchstone.harness.model.steps import a_topic, metadata
from touchstone.harness.model.target import Shape
from touchstone.harness.model.translation import partition_of
from touchstone.harness.run.judge import judge_for
from touchstone.harness.targets import parse
from touchstone.reference_impl.cluster.acls import Operation, PatternType, Permission, ResourceType

ADMIN = f"\0admin\0{USERS['admin']}".encode()
ALL = {"topics": None, "allow_auto_topic_creation": False}
KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
TOPIC = Name("topic")


def acl(kind, operation=Operation.ALL, permission=Permission.ALLOW):
    return {
        "resource_type": kind, "resource_name": "team-", "operation": operation,
        "resource_pattern_type": PatternType.PREFIXED, "principal": "User:ANONYMOUS", "host": "*",
        "permission_type": permission,
    }  # fmt: skip


@pytest.fixture
def admin():
    """A connection of a super user, beside whom User:ANONYMOUS may touch what is called `team-`."""
    target = parse("reference@4.3")
    wanted = profiles.PROFILES["authorizer"].subjects("4.3") | {"super.users": "User:admin"}
    endpoint = target.start(Shape(1, config=wanted))
    with Question(endpoint.listeners[SASL_LISTENER][0], 5.0) as line:
        line.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})
        line.ask("SaslAuthenticate", 2, {"auth_bytes": ADMIN})
        line.ask("CreateAcls", 3, {"creations": [acl(kind) for kind in KINDS]})
        yield line, "{}:{}".format(*endpoint.bootstrap[0])
    target.stop()


def judged(word, scenario, prefix="team-"):
    made = Claim("demo.case", "It is.", ("TOPIC-11",), "MUST", "demo", "demo.test")
    judge = judge_for(word, "none", nonce="n", prefix=prefix)
    told = judge.quicken([made])
    label = scenario.labels[-1]
    found = judge.judgement(CaseId(made, None, {}), scenario, answered(label))
    return told, found, judge.close()


def test_what_he_may_do_is_judged_and_what_he_made_is_gone(admin):
    line, word = admin
    scenario = Scenario((a_topic(TOPIC), metadata(TOPIC, version=4, name="seen")))
    told, found, left = judged(word, scenario)
    operations = ", ".join(sorted(KNOWN[CLUSTER]))
    assert told[0] == f"its user has not the rights {operations} on the cluster"
    assert found.verdict.kind == CONFORMS, found.verdict
    assert found.target.answers["seen"]["topics"][0]["error_code"] == 0
    assert found.target.header.names["topic"].startswith("team-topic-")
    rows = line.ask("Metadata", 4, ALL)["topics"]
    assert [row["name"] for row in rows if not row["is_internal"]] == [] and left == []


def test_who_may_set_a_pace_has_groups_of_one_partition(admin):
    """Settings are set before the first case: names of the prefix are asked about before that."""
    line, word = admin
    rows = [acl(ResourceType.CLUSTER, one) for one in (Operation.ALTER_CONFIGS,
                                                       Operation.DESCRIBE_CONFIGS)]  # fmt: skip
    of_cluster = {"resource_name": "kafka-cluster", "resource_pattern_type": PatternType.LITERAL}
    line.ask("CreateAcls", 3, {"creations": [row | of_cluster for row in rows]})
    names = [Name("group"), Name("other"), Name("none")]
    describe = Ask("DescribeGroups", 4, {"groups": names, "include_authorized_operations": False})
    told, found, _ = judged(word, Scenario((describe,)))
    drawn = found.target.header.names.values()
    assert len({partition_of(one, 50) for one in drawn}) == 1 and len(drawn) == 3
    assert told[0] == "its user has not the rights ALTER, CLUSTER_ACTION, DESCRIBE on the cluster"


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (Scenario((Ask("DescribeQuorum", 0, {"topics": []}),)), "no DESCRIBE on the cluster"),
        (
            Scenario((metadata("a b", version=4),)),
            "Metadata asks about the name 'a b', which cannot",
        ),
    ],
)
def test_what_he_may_not_do_is_out_of_scope(admin, scenario, reason):
    verdict = judged(admin[1], scenario)[1].verdict
    assert verdict.kind == INCONCLUSIVE and verdict.reason.startswith(f"out of scope: {reason}")


def test_a_right_that_is_denied_is_missing(admin):
    line, word = admin
    deny = acl(ResourceType.TOPIC, Operation.ALTER_CONFIGS, Permission.DENY)
    line.ask("CreateAcls", 3, {"creations": [deny]})
    missing = parse(word).missing_rights("team-")
    assert Right("ALTER_CONFIGS", TOPICS) in missing and Right("CREATE", TOPICS) not in missing


def test_who_may_everything_lacks_nothing():
    target = parse("reference@4.3")
    endpoint = target.start(Shape())
    assert parse("{}:{}".format(*endpoint.bootstrap[0])).missing_rights("") == frozenset()
    target.stop()
