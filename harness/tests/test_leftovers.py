"""What a case made is read off its transcript, and deleted by a conversation without a socket."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.run import clearing
from touchstone.harness.run.clearing import FOR_EVER, NO_ANSWER, Clearing
from touchstone.harness.run.leftovers import (
    GROUP,
    GROUPS,
    QUOTA,
    SETTING,
    TOPIC,
    TRANSACTION,
    Made,
    made_by,
)
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

NAMES = {"topic": "topic-abc", "group": "group-abc", "user": "user-abc"}
EVERYTHING = dict.fromkeys(range(100), (0, 20))


def seen(*exchanges):
    """A transcript of (api, version, request, answer), an answer may be missing."""
    events = []
    for step, (api, version, request, answer) in enumerate(exchanges):
        key = by_name(api).key
        raw = headers.encode_request(key, version, step, "c", request)
        events.append(Event(0, "a", "sent", step, raw=raw, api=key, version=version))
        if answer is not None:
            raw = headers.encode_response(key, version, step, answer)
            events.append(Event(0, "a", "received", step, raw=raw, api=key, version=version))
    header = Header("t", "live", tuple(f"s{n}" for n in range(len(exchanges))), names=NAMES)
    return Transcript(header, tuple(events))


def created(name, code=0, version=2, **body):
    asked = {"topics": [{"name": name, "num_partitions": 1}], "timeout_ms": 1} | body
    return "CreateTopics", version, asked, {"topics": [{"name": name, "error_code": code}]}


def joined(group, api="ConsumerGroupHeartbeat"):
    return api, 0, {"group_id": group, "member_id": "m", "member_epoch": 0}, None


def limited(name, code, **op):
    op = {"key": "producer_byte_rate", "value": 1.0, "remove": False} | op
    entity = [{"entity_type": "user", "entity_name": name}]
    answer = {"entries": [{"error_code": code, "entity": entity}]}
    entries = [{"entity": entity, "ops": [op]}]
    return "AlterClientQuotas", 0, {"entries": entries}, None if code is None else answer


def altered(kind, name, operation=0):
    row = {"name": "x", "config_operation": operation, "value": "1"}
    resource = {"resource_type": kind, "resource_name": name, "configs": [row]}
    return "IncrementalAlterConfigs", 0, {"resources": [resource]}, None


def test_every_name_may_be_a_topics():
    made = made_by(seen())
    assert made.topics == set(NAMES.values())
    assert not made.created and not made.groups


@pytest.mark.parametrize(
    ("exchange", "topics"),
    [
        (created("topic-abc"), {"topic-abc"}),
        (created("topic-abc", code=36), set()),
        (created("topic-abc", validate_only=True), set()),
        (created("__consumer_offsets"), set()),
    ],
)
def test_a_topic_is_made_when_the_target_says_so(exchange, topics):
    assert made_by(seen(exchange)).created == topics


def test_what_has_a_fixed_name_may_be_shared():
    made = made_by(seen(created("a b"), joined("group-abc"), joined("my-group")))
    assert made.fixed == {"a b"} and not made.created
    assert made.groups == {"group-abc": {"ConsumerGroupHeartbeat"}}
    assert made.fixed_groups == {"my-group"}


def test_what_was_created_until_it_existed_was_created():
    transcript = seen(created("a b", code=36))
    assert not made_by(transcript).fixed
    events = tuple(replace(event, tries=2) for event in transcript.events)
    assert made_by(Transcript(transcript.header, events)).fixed == {"a b"}


def test_members_are_those_that_were_given_an_id():
    answer = {
        "error_code": 79, "generation_id": -1, "protocol_name": "", "leader": "", "members": [],
        "member_id": "m-1",
    }  # fmt: skip
    asked = {
        "group_id": "group-abc", "session_timeout_ms": 1, "rebalance_timeout_ms": 1,
        "member_id": "", "protocol_type": "consumer", "protocols": [],
    }  # fmt: skip
    made = made_by(seen(("JoinGroup", 4, asked, answer), ("JoinGroup", 4, asked, None)))
    assert made.members == {"group-abc": {"m-1"}}


def test_a_transactional_id_is_made_when_it_has_a_producer():
    def asked(name, code):
        answer = {"error_code": code, "producer_id": 1, "producer_epoch": 0}
        return "InitProducerId", 0, {"transactional_id": name}, answer

    assert made_by(seen(asked("user-abc", 0))).transactions == {"user-abc"}
    assert not made_by(seen(asked("user-abc", 51), asked(None, 0))).transactions


@pytest.mark.parametrize(
    ("exchange", "kept"),
    [
        (limited("user-abc", 0), True),
        (limited("user-abc", 42), False),
        (limited("user-abc", None), True),  # no answer, but the name is ours
        (limited("somebody", None), False),
        (limited("somebody", 0), True),  # it was granted, so the value is ours
        (limited("user-abc", 0, remove=True), False),
    ],
)
def test_a_quota_is_made_by_what_sets_it(exchange, kept):
    assert bool(made_by(seen(exchange)).quotas) == kept


@pytest.mark.parametrize(
    ("exchange", "kept"),
    [
        (altered(GROUP, "group-abc"), True),
        (altered(16, "group-abc"), True),
        (altered(GROUP, "group-abc", operation=1), False),
        (altered(GROUP, "my-group"), False),
        (altered(4, "1"), False),  # a broker's: `altered` puts it back
        (altered(2, "topic-abc"), False),  # a topic's go with it
    ],
)
def test_settings_are_made_by_name(exchange, kept):
    assert bool(made_by(seen(exchange)).settings) == kept


def test_a_user_is_made_when_the_target_says_so():
    row = {
        "name": "user-abc", "mechanism": 1, "iterations": 4096, "salt": b"s",
        "salted_password": b"p",
    }  # fmt: skip

    def asked(code):
        body = {"deletions": [], "upsertions": [row]}
        answer = {"results": [{"user": "user-abc", "error_code": code}]}
        return "AlterUserScramCredentials", 0, body, answer

    assert made_by(seen(asked(0))).users == {("user-abc", 1)}
    assert not made_by(seen(asked(93))).users


def test_what_cannot_be_read_made_nothing():
    key = by_name("CreateTopics").key
    event = Event(0, "a", "sent", 0, raw=b"\x00", api=key, version=2, framed=False)
    found = seen()
    assert not made_by(Transcript(found.header, (event,))).created


# the conversation


def held(one, answers):
    """The requests of a conversation that is answered by API; an answer may be a function."""
    asked, talk = [], one.talk()
    try:
        request = next(talk)
        while True:
            asked.append(request)
            answer = answers.get(request.api)
            request = talk.send(answer(request.body) if callable(answer) else answer)
    except StopIteration:
        return asked


def deletes(codes=None):
    def answer(body):
        names = body.get("topic_names") or [row["name"] for row in body["topics"]]
        return {"responses": [{"name": n, "error_code": (codes or {}).get(n, 0)} for n in names]}

    return answer


def groups(code=0):
    return lambda body: {
        "results": [{"group_id": n, "error_code": code} for n in body["groups_names"]]
    }


def described(*members):
    return lambda body: {
        "groups": [
            {"group_id": name, "group_state": "Stable", "members": list(members)}
            for name in body.get("groups") or body["group_ids"]
        ]
    }


def test_nothing_made_is_nothing_asked():
    assert held(Clearing(Made(), EVERYTHING), {}) == []


def test_topics_go_in_batches():
    names = {f"t{n:03}" for n in range(50)}
    one = Clearing(Made(topics=names, created=names), EVERYTHING)
    asked = held(one, {"DeleteTopics": deletes({"t007": 73, "t008": 3})})
    assert [len(request.body["topics"]) for request in asked] == [20, 20, 10]
    assert one.left == {(TOPIC, "t007"): "TOPIC_DELETION_DISABLED"}


def test_of_a_name_that_may_be_a_topics_nobody_tells():
    made = Made(topics={"maybe", "sure"}, created={"sure"})
    one = Clearing(made, EVERYTHING)
    held(one, {"DeleteTopics": deletes({"maybe": 73, "sure": 73})})
    assert one.left.keys() == {(TOPIC, "sure")}
    one = Clearing(made, {})
    assert held(one, {}) == []
    assert one.left == {(TOPIC, "sure"): "the target has no DeleteTopics"}
    one = Clearing(made, EVERYTHING)
    held(one, {})
    assert one.left == {(TOPIC, "sure"): NO_ANSWER}


@pytest.mark.parametrize(("high", "field"), [(1, "topic_names"), (5, "topic_names"), (6, "topics")])
def test_a_request_is_of_the_newest_version_that_is_offered(high, field):
    made = Made(topics={"t"})
    (asked,) = held(Clearing(made, {20: (0, high)}), {"DeleteTopics": deletes()})
    assert asked.version == high and field in asked.body


def test_a_classic_member_leaves_before_its_group_is_deleted():
    made = Made(groups={"g": {"JoinGroup"}})
    answers = {"DescribeGroups": described({"member_id": "m"}), "DeleteGroups": groups()}
    one = Clearing(made, EVERYTHING)
    asked = held(one, answers)
    assert [request.api for request in asked] == ["DescribeGroups", "LeaveGroup", "DeleteGroups"]
    assert asked[1].body["members"][0]["member_id"] == "m"
    assert not one.left
    old = held(Clearing(made, EVERYTHING | {13: (0, 2)}), answers)
    assert old[1].body == {"group_id": "g", "member_id": "m"}


def test_who_got_an_id_and_never_came_back_leaves_too():
    def waiting(body):
        rows = [{"group_id": "g", "group_state": "PreparingRebalance", "members": []}]
        return {"groups": rows}

    made = Made(groups={"g": {"JoinGroup"}}, members={"g": {"m-1"}})
    answers = {"DescribeGroups": waiting, "DeleteGroups": groups()}
    asked = held(Clearing(made, EVERYTHING), answers)
    assert asked[1].body["members"][0]["member_id"] == "m-1"


@pytest.mark.parametrize(
    ("state", "topics", "deleted"),
    [("Empty", [], True), ("Empty", [{"name": "orders"}], False), ("Stable", [], False)],
)
def test_a_group_that_may_be_somebodys_goes_only_when_nothing_is_in_it(state, topics, deleted):
    row = {"group_id": "my-group", "group_state": state, "members": []}
    answers = {
        "DescribeGroups": {"groups": [row]}, "DeleteGroups": groups(),
        "OffsetFetch": {"error_code": 0, "topics": topics},
    }  # fmt: skip
    one = Clearing(Made(fixed_groups={"my-group"}), EVERYTHING)
    asked = [request.api for request in held(one, answers)]
    assert ("DeleteGroups" in asked) == deleted and not one.left


@pytest.mark.parametrize("protocol", ["Consumer", "Share", "Streams"])
def test_members_of_newer_groups_leave_by_heartbeat(protocol):
    beat, describe = f"{protocol}GroupHeartbeat", f"{protocol}GroupDescribe"
    made = Made(groups={"g": {beat}, "other": {"OffsetCommit"}})
    static = {"member_id": "m", "instance_id": "i"}
    answers = {describe: described(static), "DeleteGroups": groups()}
    asked = held(Clearing(made, EVERYTHING), answers)
    (told,) = [request for request in asked if request.api == describe]
    (left,) = [request for request in asked if request.api == beat]
    assert told.body == {"group_ids": ["g"]}
    assert left.body == {
        "group_id": "g", "member_id": "m", "member_epoch": -1, "instance_id": "i"
    }  # fmt: skip


def test_a_group_that_stays_is_told_with_its_error():
    one = Clearing(Made(groups={"g": set(), "h": set()}), EVERYTHING)
    held(one, {"DeleteGroups": groups(68)})
    assert clearing.leftover_lines(one.left) == ["2 groups (NON_EMPTY_GROUP)"]


def test_before_groups_could_be_deleted_those_that_live_are_told():
    def states(body):
        return {
            "groups": [
                {"group_id": name, "group_state": "Dead" if name == "h" else "Empty", "members": []}
                for name in body["groups"]
            ]
        }

    offered = {15: (0, 1), 13: (0, 1)}
    one = Clearing(Made(groups={"g": set(), "h": set()}), offered)
    held(one, {"DescribeGroups": states})
    assert one.left == {(GROUPS, "g"): "the target has no DeleteGroups"}


def test_who_is_asked_where_there_are_several_brokers():
    brokers = [{"node_id": n, "host": "h", "port": n} for n in (1, 2)]
    answers = {
        "Metadata": {"brokers": brokers, "controller_id": 2}, "DeleteTopics": deletes(),
        "FindCoordinator": {"error_code": 0, "host": "c", "port": 9}, "DeleteGroups": groups(),
    }  # fmt: skip
    made = Made(topics={"t"}, groups={"g": set()})
    asked = {r.api: r.to for r in held(Clearing(made, EVERYTHING, several=True), answers)}
    assert asked["DeleteTopics"] == ("h", 2)
    assert asked["DescribeGroups"] == asked["DeleteGroups"] == ("c", 9)


def test_quotas_users_settings_and_acls():
    made = Made(
        quotas={(("user", "u"), ("client-id", None)): {"b", "a"}}, users={("u", 1), ("v", 2)},
        settings={(GROUP, "g"): {"x"}}, acls={(2, "t", 3, "User:u", "*", 3, 3)},
    )  # fmt: skip
    one = Clearing(made, EVERYTHING)
    asked = held(one, {"IncrementalAlterConfigs": {"responses": [
        {"resource_name": "g", "error_code": 29}]}})  # fmt: skip
    bodies = {request.api: request.body for request in asked}
    (entry,) = bodies["AlterClientQuotas"]["entries"]
    assert [op["key"] for op in entry["ops"]] == ["a", "b"] and entry["ops"][0]["remove"]
    assert len([1 for request in asked if request.api == "AlterUserScramCredentials"]) == 2
    assert bodies["DeleteAcls"]["filters"][0]["resource_name_filter"] == "t"
    assert one.left[SETTING, "g"] == "TOPIC_AUTHORIZATION_FAILED"
    assert one.left[QUOTA, "user u, client-id default"] == NO_ANSWER
    for request in asked:  # what is asked can be said
        headers.encode_request(by_name(request.api).key, request.version, 0, "c", request.body)


def test_what_is_left_is_counted_by_reason():
    left = {(TOPIC, "a"): "x", (TOPIC, "b"): "x", (TRANSACTION, "c"): FOR_EVER}
    assert clearing.leftover_lines(left) == ["2 topics (x)", f"1 transactional id ({FOR_EVER})"]


def test_things_are_added_and_chosen():
    made = Made(topics={"a"}, created={"a"}, groups={"g": {"JoinGroup"}})
    made.add(Made(topics={"b"}, groups={"g": {"OffsetCommit"}}, users={("u", 1)}))
    assert made.groups == {"g": {"JoinGroup", "OffsetCommit"}} and made.topics == {"a", "b"}
    assert made.things() == {(TOPIC, "a"), (GROUPS, "g"), ("SCRAM user", "u")}
    assert made.only({(TOPIC, "a")}) == Made(topics={"a"}, created={"a"})
    assert not made.only(set())
