"""The walk of admin requests: who is asked, what is asked again, and each item's own end."""

import pytest

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.flow import Failed, KafkaError, TimedOut, Unreachable
from touchstone.reference_impl.wire.errors import ErrorCode as E

from ..scripted import Runner, metadata, topic, view


def runner(script, *topics):
    seen = view(*topics)
    return Runner(seen, script), Admin(seen, timeout_ms=5_000)


def deleted(ask, **codes):
    rows = [{"name": n, "error_code": codes.get(n, 0)} for n in ask.body["topic_names"]]
    return {"responses": rows}


def test_one_bad_item_spoils_no_other():
    run, admin = runner(lambda ask: deleted(ask, b=E.UNKNOWN_TOPIC_OR_PARTITION), topic("t", 0))
    results = run.run(admin.delete_topics(["a", "b", "c"]))
    assert list(results) == ["a", "b", "c"]
    assert results.succeeded() == {"a": None, "c": None}
    assert results.errors()["b"].code == E.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(KafkaError, match="b: UNKNOWN_TOPIC_OR_PARTITION"):
        results.all()


def test_another_controller_is_asked_for_what_is_left():
    """NOT_CONTROLLER for one item: metadata is renewed, and only that item is asked again."""
    said = iter([{"b": E.NOT_CONTROLLER}, {}])

    def script(ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 0), controller=1)
        return deleted(ask, **next(said))

    run, admin = runner(script, topic("t", 0))
    run.run(admin.delete_topics(["a", "b"])).all()
    assert [ask.body["topic_names"] for ask in run.asked("DeleteTopics")] == [["a", "b"], ["b"]]
    assert len(run.asked("Metadata")) == 1
    assert run.view.controller_id == 1


def test_leaders_are_asked_at_once_and_a_moved_partition_alone_again():
    moved = iter([E.NOT_LEADER_OR_FOLLOWER, 0])

    def script(ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 1, 1, epoch=1))
        rows = [
            {
                "partition_index": part["partition_index"],
                "error_code": next(moved) if part["partition_index"] == 0 else 0,
                "low_watermark": part["offset"],
            }
            for part in ask.body["topics"][0]["partitions"]
        ]
        return {"topics": [{"name": "t", "partitions": rows}]}

    run, admin = runner(script, topic("t", 0, 1))
    results = run.run(admin.delete_records({("t", 0): 5, ("t", 1): 7}))
    assert results.all() == {("t", 0): 5, ("t", 1): 7}
    assert [ask.node for ask in run.asked("DeleteRecords")] == [0, 1, 1]


def test_a_coordinator_that_moved_is_looked_up_again():
    codes = iter([E.NOT_COORDINATOR, E.COORDINATOR_LOAD_IN_PROGRESS, 0])
    nodes = iter([0, 1])

    def script(ask):
        if ask.api == "FindCoordinator":
            row = {"error_code": 0, "node_id": next(nodes), "host": "h", "port": 1}
            return {"coordinators": [{"key": "g", **row}]}
        return {"results": [{"group_id": "g", "error_code": next(codes)}]}

    run, admin = runner(script, topic("t", 0))
    assert run.run(admin.delete_groups(["g"])).all() == {"g": None}
    asked = [ask.node for ask in run.asked("DeleteGroups")]
    assert asked == [0, 1, 1], "who loads is the right one, and is only waited for"


def test_what_nobody_answers_in_time_has_its_last_error():
    run, admin = runner(lambda ask: Failed(ask, "refused", "nobody"), topic("t", 0))
    results = run.run(admin.delete_topics(["a"]))
    assert isinstance(results["a"], Unreachable)
    assert sum(run.pauses) <= 5_000


def test_what_is_refused_until_time_is_up_has_timed_out():
    """Of Kafka's TimeoutException the last error is the cause."""

    def script(ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 0), controller=0)
        return deleted(ask, a=E.NOT_CONTROLLER)

    run, admin = runner(script, topic("t", 0))
    results = run.run(admin.delete_topics(["a"]))
    assert isinstance(results["a"], TimedOut)
    assert results["a"].code == E.REQUEST_TIMED_OUT
    assert results["a"].__cause__.code == E.NOT_CONTROLLER


def test_what_no_broker_knows_is_not_asked_twice():
    run, admin = runner(lambda ask: Failed(ask, "unsupported", "too old"), topic("t", 0))
    results = run.run(admin.create_acls([]))
    assert results == {}
    with pytest.raises(Unreachable, match="DescribeClientQuotas: unsupported"):
        run.run(admin.describe_client_quotas())
    assert len(run.asks) == 1


def test_an_item_that_the_answer_leaves_out_is_an_error():
    run, admin = runner(lambda ask: {"responses": []}, topic("t", 0))
    results = run.run(admin.delete_topics(["a"]))
    assert results["a"].code == E.UNKNOWN_SERVER_ERROR


def test_a_topic_that_is_refused_is_the_error_of_its_partitions():
    def script(ask):
        if ask.api == "Metadata":
            return metadata(topic("secret", error=E.TOPIC_AUTHORIZATION_FAILED))
        rows = [{"partition_index": 0, "error_code": 0, "low_watermark": 1}]
        return {"topics": [{"name": "t", "partitions": rows}]}

    run, admin = runner(script, topic("t", 0))
    results = run.run(admin.delete_records({("secret", 0): 1, ("t", 0): 1}))
    assert results["secret", 0].code == E.TOPIC_AUTHORIZATION_FAILED
    assert results["t", 0] == 1
