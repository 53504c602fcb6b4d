"""Named profiles have what claims want, and a reason names the one that has it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.cli import profile
from touchstone.harness.judgement.verdict import INCONCLUSIVE, UNSUPPORTED
from touchstone.harness.model import advertised, pace, profiles, security_settings
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import answered
from touchstone.harness.model.profiles import PROFILES, UNFIT, StatedProfiles, needs, wanting
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.target import Setting, Shape
from touchstone.harness.run import detection, dry, tally
from touchstone.harness.run.judge import judge_for
from touchstone.harness.tests import small_kafka

# What no profile can have: settings that name an address or a broker, a limit that contradicts
# another one, what a topic is made with, four brokers, and one broker of three without a rack.
LEFT = {
    "advertised.listeners", "broker.id", "reserved.broker.max.id", "max.connections",
    "listener.name.plaintext.max.connections", "default.replication.factor",
    "offsets.topic.segment.bytes", security_settings.JWKS_URL,
}  # fmt: skip
# Each about a value that its profile has otherwise, or that no profile has beside a login.
OF_ONE = {
    "configs.secrets-are-told-by-no-synonym", "quotas.a-default-is-one-rate-for-each",
    "quotas.eight-levels-in-one-order", "rebalance.a-first-phase-is-longer-for-late-comers",
    "rebalance.sessions-may-be-as-long-as-the-limit",
    "rebalance.streams-groups-have-room-for-so-many", "telemetry.the-limit-is-a-setting",
}  # fmt: skip
MOST_LEFT = 27  # claims


def shapes():
    """(claim, release, shape) of every claim's cases on every release that has one."""
    for claim, function in detection.functions().values():
        for release, table in advertised.tables().items():
            seen = set()
            for case in claim.cases(release, table):
                found = None if claim.shape.config else dry.run(function, case, release)
                shape = claim.shape if found is None else found.scenario.shape
                if shape not in seen:
                    seen.add(shape)
                    yield claim, release, shape


@pytest.mark.slow
def test_every_claim_has_a_profile_but_a_few() -> None:
    left = set()
    for claim, release, shape in shapes():
        words = wanting(needs(shape, claim.subject), shape, claim.subject, release)
        if not words.startswith("wants profile ") and claim.id not in OF_ONE:
            left.add(claim.id)
            assert LEFT & shape.settings.keys() or shape.brokers == 4, words
            unfit = UNFIT.keys() & needs(shape, claim.subject)
            assert not unfit or words.endswith(")"), words
    assert len(left) <= MOST_LEFT


# Empty groups would go whenever it is over.
SEEN = {"offsets.retention.check.interval.ms"}


@pytest.mark.slow
def test_what_claims_about_one_broker_wait_for_is_quick() -> None:
    quick = PROFILES["quick"].of("4.3")
    for claim, _, shape in shapes():
        for name, value in shape.config if shape.brokers == 1 else ():
            waits = name in pace.PACE and pace.PACE[name].effect == pace.WAITS
            if waits and name not in {*claim.subject, *SEEN}:
                assert int(quick[name]) <= int(value), f"{claim.id}: {name}"


def test_there_are_few_and_each_says_what_it_is() -> None:
    assert 1 < len(PROFILES) <= 11
    assert all(one.sentence.endswith(".") for one in PROFILES.values())
    assert PROFILES["default"].of("4.3") == {}


def test_a_value_may_be_one_release_s() -> None:
    limits, slots = PROFILES["limits"], "max.incremental.fetch.session.cache.slots"
    assert [limits.of(release).get(slots) for release in ("1.0", "2.8", "4.3")] == [None, "2", "7"]


@pytest.mark.parametrize(
    ("shape", "subject", "missing", "words"),
    [
        (Shape(1, (), {"group.max.size": 8}), ("group.max.size",), {"group.max.size": "8"},
         "wants profile limits (group.max.size=8)"),
        (Shape(1, (), {"group.max.size": 9}), ("group.max.size",), {"group.max.size": "9"},
         "wants settings that no profile has: group.max.size=9"),
        (Shape(1, (), {"max.connections": 10}), (), {"max.connections": "10"},
         "wants settings that no profile has: max.connections=10 (other claims of a profile need "
         "more connections)"),
        (Shape(3, ("a", "b", "c"), {"replica.lag.time.max.ms": 2000}), (),
         {"replica.lag.time.max.ms": "2000"}, "wants profile racks (replica.lag.time.max.ms=2000)"),
        (Shape(1, (), {"offsets.retention.minutes": 1, "offsets.topic.num.partitions": 1}), (),
         {"offsets.retention.minutes": "1"}, "wants profile expiry (offsets.retention.minutes=1)"),
    ],
)  # fmt: skip
def test_a_reason_names_the_profile_that_has_it(shape, subject, missing, words) -> None:
    assert wanting(missing, shape, subject, "4.3") == words


def test_what_is_said_of_a_target_counts_and_what_it_tells_otherwise_is_told() -> None:
    told = StatedProfiles(profiles.named(["limits"]), "4.3")
    tells = {"group.max.size": Setting("2147483647"), "num.partitions": Setting("1", True)}
    assert told.over(tells)["group.max.size"] == Setting("8")
    assert told.over(tells)["num.partitions"] == Setting("1", True)
    (line,) = told.disputed(tells)
    assert "group.max.size=2147483647 where the profile says 8" in line
    assert not StatedProfiles(profiles.named(["quick"]), "4.3").disputed(tells)


@pytest.mark.parametrize(
    ("names", "config", "judged"),
    [
        ([], {}, True),
        (["quick"], {}, True),
        (["limits"], {}, False),
        (["limits"], {"group.max.size": 8}, False),  # shared: no claim of this shape is about it
        (["limits"], {"group.share.max.size": 1}, True),
        (["quick", "limits"], {"offsets.retention.minutes": 1}, False),
        (["expiry", "limits"], {"offsets.retention.minutes": 1}, True),
    ],
)
def test_a_profile_apart_is_for_the_claims_that_want_it(names, config, judged) -> None:
    told = StatedProfiles(profiles.named(names), "4.3")
    assert (told.against(Shape(1, (), config), ()) is None) == judged


def test_where_connections_are_few_every_case_is_alone() -> None:
    assert StatedProfiles(profiles.named(["restricted"]), "4.3").alone(Shape(), ())
    assert not StatedProfiles(profiles.named(["limits"]), "4.3").alone(Shape(), ())
    assert StatedProfiles(profiles.named(["limits"]), "4.3").alone(
        Shape(1, (), {"num.io.threads": 1}), ()
    )


def test_the_summary_has_one_line_for_each_profile() -> None:
    reason = "out of scope: wants profile {} ({}=1)"
    rows = [
        {"claim": f"topics.c{n // 2}", "verdict": "INCONCLUSIVE",
         "reason": reason.format("expiry" if n else "racks", n)}
        for n in range(5)
    ]  # fmt: skip
    lines = tally.not_run(rows, planned=5, deselected=0)
    assert [line.partition(" not run: they want ")[::2][0] for line in lines] == [
        "4 cases of 3 claims", "1 case of 1 claim",
    ]  # fmt: skip
    assert "touchstone profile expiry" in lines[0] and "--profile racks" in lines[1]


@pytest.mark.parametrize(
    ("spelling", "line"),
    [
        ("properties", "group.max.size=8"),
        ("arguments", "--override group.max.size=8"),
        ("environment", "KAFKA_GROUP_MAX_SIZE=8"),
    ],
)
def test_a_profile_is_printed_as_brokers_are_started(spelling, line) -> None:
    done = CliRunner().invoke(profile.command, ["limits", "--format", spelling])
    assert done.exit_code == 0 and line in done.stdout
    assert ("#" in done.stdout) == (spelling == "properties")


def test_what_a_release_does_not_know_is_named_and_not_printed_as_a_setting() -> None:
    old = CliRunner().invoke(profile.command, ["expiry", "--release", "2.8"]).stdout
    told = " ".join(line.removeprefix("# ") for line in old.splitlines() if line.startswith("#"))
    assert "Kafka 2.8 does not know" in told and "producer.id.expiration.ms," in told
    assert "producer.id.expiration.ms=" not in old and "offsets.retention.minutes=1" in old
    new = CliRunner().invoke(profile.command, ["expiry", "--release", "4.3"]).stdout
    assert "producer.id.expiration.ms=1000" in new and "does not know" not in new


def test_environment_variables_are_spelled_as_the_image_reads_them() -> None:
    assert profile.variable("a.b_c-d") == "KAFKA_A_B__C___D"


def test_racks_are_told_beside_the_settings() -> None:
    done = CliRunner().invoke(profile.command, ["racks", "--release", "2.8"])
    assert "broker.rack=a; broker.rack=b; broker.rack=c" in done.stdout
    assert "zookeeper.session.timeout.ms=30000" in done.stdout


@pytest.mark.parametrize("words", [["nosuch"], ["limits", "--release", "7.7"]])
def test_what_there_is_not_is_said(words) -> None:
    assert CliRunner().invoke(main, ["profile", *words]).exit_code == 4


def test_all_profiles_are_listed() -> None:
    done = CliRunner().invoke(profile.command, [])
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(PROFILES)


def test_a_profile_is_said_only_of_what_somebody_else_runs() -> None:
    with pytest.raises(ValueError, match="gets the settings of each claim"):
        judge_of("reference@4.3", ["limits"])
    with pytest.raises(ValueError, match="no profile 'nosuch'; there are default, quick"):
        judge_of("127.0.0.1:9", ["nosuch"])
    assert judge_of("127.0.0.1:9", ["limits"]).told.settings["group.max.size"] == "8"


def test_what_a_profile_switches_off_is_out_of_scope_and_asks_nothing() -> None:
    asked = []

    def without_topics(key, version, answer):
        asked.append(key)
        if key == small_kafka.API_VERSIONS:
            rows = answer["api_keys"]
            answer["api_keys"] = [r for r in rows if r["api_key"] != small_kafka.CREATE_TOPICS]
        return None if key == small_kafka.CREATE_TOPICS else answer

    made = Claim("demo.topics", "It is.", ("T-1",), "MUST", "demo", "demo.test", "CreateTopics")
    steps = (Ask("CreateTopics", 5, {}, name="create"),)
    with small_kafka.small_kafka(twist=without_topics) as server:
        judge = judge_of(small_kafka.word(server), ["restricted"])
        asked.clear()
        case, scenario = CaseId(made, 5, {}), Scenario(steps)
        apart = judge.judgement(case, scenario, answered("create")).verdict
        assert asked == []
        judge.told = profiles.NO_PROFILES
        assert judge.judgement(case, scenario, answered("create")).verdict.kind == UNSUPPORTED
        judge.close()
    assert (apart.kind, apart.reason) == (
        INCONCLUSIVE,
        "out of scope: profile restricted is judged by the claims that want its settings",
    )


def judge_of(word, names):
    return judge_for(word, "recorded@4.3", nonce="n", having=names)
