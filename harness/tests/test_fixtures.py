"""Fixtures for anybody's tests: `kafka_cluster`, `kafka_topic`, `kafka_faults`, marks.

Each test here is a project of its own, run by pytest inside pytest.
"""

from __future__ import annotations

import os
import threading

import pytest
from click.testing import CliRunner

from touchstone import Client, KafkaCluster, Rule
from touchstone.harness.cli import broker
from touchstone.kafka_cluster import ClusterSpec, WrongCluster
from touchstone.reference_impl.broker.configs import profiles
from touchstone.reference_impl.broker.personas.releases import RELEASES

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # a run of pytest each, or a cluster
OLDEST, NEWEST = RELEASES[0], RELEASES[-1]
RETAINED = {"retention.ms": 60_000}


@pytest.fixture
def project(pytester):
    """Run a project's tests here; what comes back knows their outcomes and lines."""

    def run(source, *words):
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess(
            "-p", "no:allure_pytest", "-p", "no:cacheprovider", "-W", "error", *words
        )

    return run


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_a_session_has_one_cluster_and_a_test_its_own_topic(project):
    done = project("""
        from touchstone import Client
        seen = []

        def test_orders(kafka_cluster, kafka_topic):
            seen.append((kafka_cluster.bootstrap, kafka_topic))
            assert kafka_cluster.topics == [kafka_topic]
            assert list(kafka_cluster.brokers.values()) == [kafka_cluster.bootstrap]
            with Client(kafka_cluster.bootstrap) as client:
                producer = client.producer()
                producer.send(kafka_topic, b"paid")
                producer.flush()
                consumer = client.consumer([(kafka_topic, 0)], reset="earliest")
                assert [record.value for record in consumer.poll()] == [b"paid"]

        def test_more_orders(kafka_topic, kafka_cluster):
            (first,) = seen
            assert first[0] == kafka_cluster.bootstrap
            assert first[1] != kafka_topic and kafka_cluster.topics == [kafka_topic]
            assert kafka_topic.startswith("test-more-orders-")
    """)
    done.assert_outcomes(passed=2)


def test_a_mark_names_another_cluster_and_equal_ones_are_one(project):
    done = project(
        """
        import pytest
        seen = set()
        trio = pytest.mark.kafka(brokers=3, racks=["a", "b", "c"], release="2.8")

        @trio
        def test_three(kafka_cluster):
            assert len(kafka_cluster.brokers) == 3
            nodes = kafka_cluster.running.cluster.brokers
            assert [nodes[number].rack for number in nodes] == ["a", "b", "c"]
            seen.add(kafka_cluster.bootstrap)

        def test_one(kafka_cluster):
            assert len(kafka_cluster.brokers) == 1

        @trio
        @pytest.mark.parametrize("times", [1, 2])
        def test_three_again(kafka_cluster, times):
            seen.add(kafka_cluster.bootstrap)
            assert len(seen) == 1

        @pytest.mark.kafka(release="2.2")
        class TestOlder:
            def test_outer(self, kafka_cluster):
                assert kafka_cluster.wanted.release == "2.2"

            @pytest.mark.kafka(brokers=2, settings={"message.max.bytes": 2000})
            def test_inner(self, kafka_cluster):
                assert kafka_cluster.wanted.release == "2.2"
                assert len(kafka_cluster.brokers) == 2
                broker = kafka_cluster.running.brokers[0]
                assert broker.number("message.max.bytes", 0) == 2000
        """,
        "-v",
    )
    done.assert_outcomes(passed=6)


def test_a_mark_counts_where_only_a_topic_or_faults_are_asked_for(project):
    done = project("""
        import pytest
        pytestmark = pytest.mark.kafka(brokers=2)

        @pytest.fixture
        def cluster(kafka_cluster):
            return kafka_cluster

        def test_a(kafka_topic, cluster):
            assert len(cluster.brokers) == 2

        def test_b(kafka_faults, cluster):
            assert len(cluster.brokers) == 2
    """)
    done.assert_outcomes(passed=2)


def test_what_depends_on_a_cluster_is_made_anew_with_it(project):
    done = project("""
        import pytest

        @pytest.fixture(scope="session")
        def address(kafka_cluster):
            return kafka_cluster.bootstrap

        def test_one(address, kafka_cluster):
            assert address == kafka_cluster.bootstrap

        @pytest.mark.kafka(brokers=2)
        def test_two(address, kafka_cluster):
            assert address == kafka_cluster.bootstrap
    """)
    done.assert_outcomes(passed=2)


def test_a_cluster_of_its_own_is_no_other_test_s(project):
    done = project("""
        import pytest
        seen = set()

        @pytest.mark.kafka(shared=False)
        @pytest.mark.parametrize("times", [1, 2])
        def test_own(kafka_cluster, times):
            kafka_cluster.advance(1000)
            seen.add(kafka_cluster)
            assert len(seen) == times

        @pytest.mark.kafka(shared=False)
        def test_third(kafka_cluster):
            assert kafka_cluster not in seen

        def test_shared(kafka_cluster):
            with pytest.raises(RuntimeError, match=r"@pytest.mark.kafka\\(shared=False\\)"):
                kafka_cluster.advance(1000)
    """)
    done.assert_outcomes(passed=4)


def test_faults_are_taken_away_also_when_a_test_fails(project):
    done = project("""
        from touchstone import Rule

        def test_spoiled(kafka_faults, kafka_cluster, kafka_topic):
            kafka_faults.add(Rule(action="drop"))
            assert kafka_cluster.create_topic("made-all-the-same") in kafka_cluster.topics
            assert False

        def test_after(kafka_cluster):
            assert not kafka_cluster.faults
            assert kafka_cluster.topics == ["made-all-the-same"]

        def test_rules_of_the_session_stay(kafka_cluster, kafka_faults):
            kafka_faults.add(Rule(action="delay", ms=1))
    """)
    done.assert_outcomes(passed=2, failed=1)


def test_a_rule_of_somebody_else_stays(project):
    done = project("""
        import pytest
        from touchstone import Rule

        @pytest.fixture(scope="module", autouse=True)
        def slow(kafka_cluster):
            kafka_cluster.faults.add(Rule(action="delay", ms=1))

        def test_one(kafka_faults):
            kafka_faults.add(Rule(action="drop"))

        def test_two(kafka_cluster):
            (only,) = kafka_cluster.faults.standing()
            assert only.rule.action == "delay"
    """)
    done.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("mark", "line"),
    [
        ("broker=3", "no argument 'broker'; there are brokers, racks, release, settings, shared"),
        ("3", "arguments have names: brokers, racks, release, settings, shared"),
        ("brokers=0.5", "brokers: 1 to 100, not 0.5"),
        ("racks='abc'", "racks: a list with the rack of each broker, not 'abc'"),
        ("brokers=3, racks=['a']", "racks: 1 for 3 brokers"),
        ("release='2.7'", "release: one of 1.0, 2.2, 2.8, 3.9, 4.3, not '2.7'"),
        ("settings={'message.max.byte': 1}",
         "settings: Kafka 4.3 has no 'message.max.byte'; did you mean 'message.max.bytes'?"),
        ("settings={'message.max.bytes': 'x'}",
         "settings: Invalid value x for configuration message.max.bytes: Not a number of type INT"),
        ("settings=3", "settings: a dict of broker settings, not 3"),
    ],
)  # fmt: skip
def test_a_wrong_mark_is_one_line(project, mark, line):
    done = project(f"""
        import pytest

        @pytest.mark.kafka({mark})
        def test_a(kafka_cluster):
            pass

        def test_b(kafka_cluster):
            pass
    """)
    done.assert_outcomes(passed=1, errors=1)
    assert f"@pytest.mark.kafka: {line}" in done.outlines


def test_fifty_clusters_leave_nothing_behind(project):
    threads, files = threading.active_count(), open_files()
    done = project("""
        import pytest

        @pytest.mark.kafka(shared=False)
        @pytest.mark.parametrize("number", range(48))
        def test_a(kafka_cluster, kafka_topic, number):
            pass

        @pytest.mark.kafka(brokers=3)
        def test_b(kafka_cluster, kafka_topic):
            pass

        def test_c(kafka_cluster, kafka_topic):
            pass
    """)
    done.assert_outcomes(passed=50)
    assert (threading.active_count(), open_files()) == (threads, files)


def test_a_project_s_own_fixture_and_marks_stay_its_own(project):
    done = project("""
        import pytest

        @pytest.fixture
        def kafka_cluster():
            return "mine"

        @pytest.mark.kafka("slow", anything=1)
        def test_a(kafka_cluster):
            assert kafka_cluster == "mine"

        @pytest.mark.kafka
        def test_b():
            pass
    """)
    done.assert_outcomes(passed=2)


def test_who_asks_for_no_cluster_imports_nothing_of_it(pytester):
    pytester.makepyfile("""
        import sys

        def test_a():
            assert "touchstone.fixtures" in sys.modules
            assert not [name for name in sys.modules if name.startswith("touchstone.ref")]
            assert "touchstone.kafka_cluster" not in sys.modules
    """)
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1)


# --- time ----------------------------------------------------------------------------------------


@pytest.fixture(params=[1, 3])
def own(request):
    with KafkaCluster(ClusterSpec(brokers=request.param, shared=False)) as cluster:
        yield cluster


def earliest(client, topic):
    part = {"partition_index": 0, "timestamp": -2, "current_leader_epoch": -1}
    body = {"topics": [{"name": topic, "partitions": [part]}], "replica_id": -1}
    leader = client.view.topics[topic].partitions[0].leader
    (row,) = client.ask("ListOffsets", body | {"isolation_level": 0}, node=leader)["topics"]
    return row["partitions"][0]["offset"]


def test_records_are_retained_until_their_time_is_over(own):
    topic = own.create_topic("kept", settings=RETAINED)
    with Client(own.bootstrap) as client:
        producer = client.producer()
        producer.send(topic, b"a")
        producer.flush()
        own.advance(50_000)
        assert earliest(client, topic) == 0
        own.advance(400_000)  # and five minutes until somebody looks
        assert earliest(client, topic) == 1


def test_time_goes_forward_only():
    with (
        KafkaCluster(ClusterSpec(shared=False)) as cluster,
        pytest.raises(ValueError, match="-1 ms"),
    ):
        cluster.advance(-1)


@pytest.mark.parametrize("release", RELEASES)
def test_the_profile_test_has_settings_that_the_release_takes(release):
    ClusterSpec(release=release, settings=profiles.settings("test", release, 3))
    with pytest.raises(ValueError, match="no profile 'nosuch'; there is test"):
        profiles.settings("nosuch", release, 1)


def test_the_command_takes_the_profile_and_settings_over_it(monkeypatch):
    built = []
    monkeypatch.setattr(broker, "build", lambda *arguments: built.append(arguments[5]) or 1 / 0)
    words = ["--profile", "test", "--config", "offsets.topic.num.partitions=7"]
    CliRunner().invoke(broker.command, words)
    assert built == [profiles.settings("test", NEWEST, 1) | {"offsets.topic.num.partitions": "7"}]


def test_a_setting_of_another_release_is_refused():
    with pytest.raises(WrongCluster, match=r"Kafka 4.3 has no 'zookeeper.session.timeout.ms'"):
        ClusterSpec(settings={"zookeeper.session.timeout.ms": 1})


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
def test_a_topic_that_kafka_refuses_is_refused_with_its_words(release):
    with KafkaCluster(ClusterSpec(release=release)) as cluster:
        assert cluster.create_topic("a", partitions=2) == "a"
        with pytest.raises(ValueError, match="topic a: TOPIC_ALREADY_EXISTS: Topic 'a' already"):
            cluster.create_topic("a")
        cluster.faults.add(Rule(action="drop"))
        cluster.delete_topic("a")
        cluster.delete_topic("a")
        assert cluster.topics == []
