"""Names that ZooKeeper refuses, as 1.0.2, 2.2.1 and 2.8.2 answered them."""

import pytest

from touchstone.reference_impl.broker.control.zookeeper_paths import refusal
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.tests.broker.one_broker import OneBroker

ZOOKEEPER = ["1.0", "2.2", "2.8"]
AT = len("/brokers/topics/")


def invalid(name: str, reason: str, at: int) -> str:
    return f'Invalid path string "/brokers/topics/{name}" caused by {reason} @{at}'


@pytest.mark.parametrize(
    ("name", "reason", "at"),
    [
        (".", "relative paths not allowed", AT),
        ("..", "relative paths not allowed", AT + 1),
        ("a/./b", "relative paths not allowed", AT + 2),
        ("a/..", "relative paths not allowed", AT + 3),
        ("/a", "empty node name specified", AT),
        ("a//b", "empty node name specified", AT + 2),
        ("\0", "null character not allowed", AT),
    ],
)
def test_what_is_said_of_a_path(name, reason, at):
    for release in ZOOKEEPER:
        assert refusal(f"/brokers/topics/{name}", persona(release)) == invalid(name, reason, at)


@pytest.mark.parametrize("name", ["", "a/"])
def test_a_path_does_not_end_with_a_slash(name):
    said = refusal(f"/brokers/topics/{name}", persona("1.0"))
    assert said == "Path must not end with / character"


@pytest.mark.parametrize("name", ["a/b", "a/.b", "a..b", "...", "b d", "\ud7ff", "\uffef", "\xa0"])
def test_what_may_be_a_node(name):
    for release in ZOOKEEPER:
        assert refusal(f"/brokers/topics/{name}", persona(release)) is None


@pytest.mark.parametrize("name", ["\x01", "\x80", "\ue000", "\ufffd", "😀"])
def test_a_character_that_no_path_has(name):
    assert refusal(f"/brokers/topics/{name}", persona("1.0")) == invalid(
        name, "invalid charater", AT
    )
    for release in ("2.2", "2.8"):
        said = refusal(f"/brokers/topics/{name}", persona(release))
        assert said == invalid(name, "invalid character", AT)


@pytest.mark.parametrize("name", ["\x1f", "\x7f", "\x9f", "\uf8ff", "\ufff0", "\uffff"])
def test_the_client_of_1_0_takes_the_ends_of_its_ranges(name):
    said = [refusal(f"/brokers/topics/{name}", persona(release)) for release in ("1.0", "2.2")]
    assert said == [None, invalid(name, "invalid character", AT)]


def grown(release: str, *names: str, core: OneBroker | None = None) -> list[tuple]:
    core = core or OneBroker(release)
    core.topic("t")
    body = {
        "topics": [{"name": name, "count": 3, "assignments": None} for name in names],
        "timeout_ms": 3000,
        "validate_only": False,
    }
    answer = core.ask("CreatePartitions", 0, body)
    return [(row["name"], row["error_code"], row["error_message"]) for row in answer["results"]]


def test_a_name_that_no_node_has_ends_the_whole_of_create_partitions():
    said = invalid(".", "relative paths not allowed", AT)
    for release in ("1.0", "2.2"):
        assert grown(release, "t", ".", "b", "b") == [(name, -1, said) for name in ("t", ".", "b")]
    assert grown("2.8", "t", ".", "b", "b") == [(name, -1, None) for name in ("t", ".", "b", "b")]
    assert grown("3.9", "t", ".") == [("t", 0, None), (".", 3, grown("3.9", ".")[0][2])]


@pytest.mark.parametrize("release", ZOOKEEPER)
def test_the_topics_before_it_have_grown(release):
    core = OneBroker(release)
    for name in ("before", "twice", "behind"):
        core.topic(name)
    grown(release, "before", "twice", ".", "behind", "twice", core=core)
    sizes = {name: len(topic.partitions) for name, topic in core.cluster.topics.items()}
    assert sizes == {"before": 3, "twice": 1, "behind": 1, "t": 1}


def test_one_that_came_twice_is_not_looked_for():
    for release in ZOOKEEPER:
        assert [row[1] for row in grown(release, "", "", "t")][0] == 0
