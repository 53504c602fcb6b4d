"""The conversation that deletes what a run's cases made (`leftovers`).

It is a generator of requests that is sent their answers, so it can be tried without a socket. It
needs no API: what the target cannot delete, or refuses to, is told by name and reason. A thing that
is not there any more is as good as deleted.

Members leave before their group is deleted, for Kafka deletes only empty groups.

Pure. Sources: the schemas of the requests; GroupCoordinator and GroupCoordinatorService at 1.0.2 to
4.3.1 (which groups are deleted, and by which errors others are refused).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.model.target import Address, Versions
from touchstone.harness.run.leftovers import (
    ACL,
    ACL_FIELDS,
    DELETE,
    GROUPS,
    HEARTBEATS,
    QUOTA,
    SETTING,
    TOPIC,
    USER,
    Made,
    Thing,
    entity_word,
)
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode, name_of
from touchstone.reference_impl.wire.schema import Struct

GONE = -1  # the epoch by which a member of the newer protocols leaves
AT_ONCE = 100  # names in one request
# Topics in one request: before KRaft a controller does nothing else while it deletes them, and
# other cases wait for it.
TOPICS_AT_ONCE = 20
TIMEOUT_MS = 10_000
NO_ANSWER = "no answer"
FOR_EVER = "Kafka has no request that deletes them; they expire"
NOBODY = ("Dead", "")  # states of a group that does not exist
NO_MEMBERS = (*NOBODY, "Empty")
ALL_TOPICS = 2  # the first version of OffsetFetch that tells all topics
NOT_THERE = frozenset(
    {
        ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.RESOURCE_NOT_FOUND,
    }
)  # fmt: skip
_ACL_FILTER = (
    "resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter",
    "host_filter", "operation", "permission_type",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the conversation; `to` is a broker's address, None for any broker."""

    api: str
    version: int
    body: Mapping[str, Any]
    to: Address | None = None


Left = dict[Thing, str]  # what is still there, and why
Talk = Generator[Request, Any, Any]


class Clearing:
    """Deletes what was made, on a target that offers these versions; `left` is what it could not.

    `several`: the cluster has more than one broker, so that it matters who is asked.
    """

    def __init__(self, made: Made, offered: Versions, *, several: bool = False) -> None:
        self.made, self.offered, self.several = made, offered, several
        self.left: Left = {}

    def talk(self) -> Talk:
        """The requests, one by one; each is sent its decoded answer, or None when there is none."""
        controller = (yield from self._controller()) if self.several else None
        yield from self._settings()
        yield from self._quotas()
        yield from self._users(controller)
        yield from self._acls()
        yield from self._topics(controller)
        yield from self._groups()

    def _version(self, api: str, most: int) -> int | None:
        """The highest version up to this that is offered; None when there is none."""
        low, high = self.offered.get(by_name(api).key, (0, -1))
        best = min(high, most)
        return best if low <= best else None

    def _stay(self, kind: str, names: Iterable[str], why: str) -> None:
        for name in names:  # of a name that only may be a topic's nobody knows whether it exists
            if kind != TOPIC or name in self.made.created:
                self.left[kind, name] = why

    def _refused(self, kind: str, rows: Iterable[tuple[str | None, int]]) -> None:
        for name, code in rows:
            if code not in NOT_THERE and name is not None:
                self._stay(kind, [name], name_of(code))

    def _all_at_once(
        self, kind: str, api: str, most: int, found: Iterable[Any], body: Any, told: Any,
        to: Address | None = None, name: Any = str, at_once: int = AT_ONCE,
    ) -> Talk:  # fmt: skip
        """Batches of one kind of thing: a request's body of them, its answer's (name, code)."""
        found = sorted(found, key=repr)
        version = self._version(api, most)
        if version is None:
            return self._stay(kind, map(name, found), f"the target has no {api}")
        for batch in _batches(found, at_once):
            answer = yield Request(api, version, body(batch, version), to)
            if answer is None:
                self._stay(kind, map(name, batch), NO_ANSWER)
            else:
                self._refused(kind, told(batch, answer))
        return None

    def _controller(self) -> Talk:
        version = self._version("Metadata", 8)
        if not version:  # the first version tells no controller
            return None
        answer = yield Request("Metadata", version, {"topics": []})
        rows = () if answer is None else answer["brokers"]
        at = {row["node_id"]: (row["host"], row["port"]) for row in rows}
        return at.get((answer or {}).get("controller_id"))

    # what is neither topic nor group

    def _settings(self) -> Talk:
        def body(owners: list[Any], _: int) -> Struct:
            rows = [_unset(owner, self.made.settings[owner]) for owner in owners]
            return {"resources": rows, "validate_only": False}

        def told(_: Any, answer: Any) -> Iterator[tuple[str, int]]:
            return ((row["resource_name"], row["error_code"]) for row in answer["responses"])

        yield from self._all_at_once(
            SETTING, "IncrementalAlterConfigs", 1, self.made.settings, body, told,
            name=lambda owner: owner[1],
        )  # fmt: skip

    def _quotas(self) -> Talk:
        def body(entities: list[Any], _: int) -> Struct:
            rows = [_unlimited(entity, self.made.quotas[entity]) for entity in entities]
            return {"entries": rows, "validate_only": False}

        def told(entities: list[Any], answer: Any) -> Iterator[tuple[str, int]]:
            codes = (row["error_code"] for row in answer["entries"])
            return zip(map(entity_word, entities), codes, strict=False)

        yield from self._all_at_once(
            QUOTA, "AlterClientQuotas", 1, self.made.quotas, body, told, name=entity_word
        )

    def _users(self, controller: Address | None) -> Talk:
        def body(users: list[tuple[str, int]], _: int) -> Struct:
            rows = [{"name": name, "mechanism": mechanism} for name, mechanism in users]
            return {"deletions": rows, "upsertions": []}

        def told(_: Any, answer: Any) -> Iterator[tuple[str, int]]:
            return ((row["user"], row["error_code"]) for row in answer["results"])

        for mechanism in sorted({mechanism for _, mechanism in self.made.users}):
            users = {one for one in self.made.users if one[1] == mechanism}
            yield from self._all_at_once(
                USER, "AlterUserScramCredentials", 0, users, body, told, controller,
                name=lambda user: user[0],
            )  # fmt: skip

    def _acls(self) -> Talk:
        def body(acls: list[tuple[Any, ...]], version: int) -> Struct:
            filters = [dict(zip(_ACL_FILTER, one, strict=True)) for one in acls]
            if version == 0:  # which knows no patterns
                filters = [{k: v for k, v in f.items() if "pattern" not in k} for f in filters]
            return {"filters": filters}

        def told(acls: list[tuple[Any, ...]], answer: Any) -> Iterator[tuple[str, int]]:
            codes = (row["error_code"] for row in answer["filter_results"])
            return zip((one[name_at] for one in acls), codes, strict=False)

        name_at = ACL_FIELDS.index("resource_name")
        yield from self._all_at_once(
            ACL, "DeleteAcls", 3, self.made.acls, body, told, name=lambda one: one[name_at]
        )

    # topics

    def _topics(self, controller: Address | None) -> Talk:
        def body(names: list[str], version: int) -> Struct:
            rows = {"topics": [{"name": name} for name in names]}
            return (rows if version >= 6 else {"topic_names": names}) | {"timeout_ms": TIMEOUT_MS}

        def told(_: Any, answer: Any) -> Iterator[tuple[str, int]]:
            return ((row["name"], row["error_code"]) for row in answer["responses"])

        yield from self._all_at_once(
            TOPIC, "DeleteTopics", 6, self.made.topics, body, told, controller,
            at_once=TOPICS_AT_ONCE,
        )  # fmt: skip

    # groups

    def _groups(self) -> Talk:
        at: dict[Address | None, list[str]] = {}
        for name in sorted(self.made.groups):
            at.setdefault((yield from self._coordinator(name)), []).append(name)
        for name in sorted(self.made.fixed_groups):
            yield from self._deleted_if_empty(name, (yield from self._coordinator(name)))
        for address, found in at.items():
            for names in _batches(found):
                yield from self._classic_members_leave(names, address)
                yield from self._members_leave(names, address)
                yield from self._deleted(names, address)

    def _coordinator(self, group: str) -> Talk:
        version = self._version("FindCoordinator", 2)
        if not self.several or version is None:
            return None
        answer = yield Request("FindCoordinator", version, {"key": group, "key_type": 0})
        if answer is None or answer["error_code"]:
            return None
        return answer["host"], answer["port"]

    def _classic_members_leave(self, names: list[str], to: Address | None) -> Talk:
        described, leaving = self._version("DescribeGroups", 5), self._version("LeaveGroup", 5)
        if described is None or leaving is None:
            return
        answer = yield Request("DescribeGroups", described, {"groups": names}, to)
        for group, member in (*_members(answer), *self._pending(answer)):
            who = {"member_id": member["member_id"]}
            row = who | {"group_instance_id": member.get("group_instance_id")}
            body = who if leaving < 3 else {"members": [row]}
            yield Request("LeaveGroup", leaving, {"group_id": group} | body, to)

    def _pending(self, answer: Any) -> Iterator[tuple[str, Any]]:
        """Members that got an id and never came back with it, which keep a group from being empty
        and are told by no request.
        """
        for row in () if answer is None else answer["groups"]:
            if not row["members"] and row["group_state"] not in NO_MEMBERS:
                for member in sorted(self.made.members.get(row["group_id"], ())):
                    yield row["group_id"], {"member_id": member}

    def _members_leave(self, names: list[str], to: Address | None) -> Talk:
        """Members of the newer protocols, which DescribeGroups does not know."""
        for beat in HEARTBEATS:
            describe = beat.replace("Heartbeat", "Describe")
            described, leaving = self._version(describe, 1), self._version(beat, 1)
            joined = [name for name in names if beat in self.made.groups[name]]
            if not joined or described is None or leaving is None:
                continue
            answer = yield Request(describe, described, {"group_ids": joined}, to)
            for group, member in _members(answer):
                body = {"group_id": group, "member_id": member["member_id"], "member_epoch": GONE}
                static = {"instance_id": member["instance_id"]} if "instance_id" in member else {}
                yield Request(beat, leaving, body | static, to)

    def _deleted(self, names: list[str], to: Address | None) -> Talk:
        version = self._version("DeleteGroups", 2)
        if version is None:
            there = yield from self._alive(names, to)
            return self._stay(GROUPS, there, "the target has no DeleteGroups")
        answer = yield Request("DeleteGroups", version, {"groups_names": names}, to)
        if answer is None:
            return self._stay(GROUPS, names, NO_ANSWER)
        rows = ((row["group_id"], row["error_code"]) for row in answer["results"])
        return self._refused(GROUPS, rows)

    def _deleted_if_empty(self, name: str, to: Address | None) -> Talk:
        """A group of a fixed name, which may be somebody else's: only when nothing is in it."""
        fetch, delete = self._version("OffsetFetch", 7), self._version("DeleteGroups", 2)
        if fetch is None or fetch < ALL_TOPICS or delete is None:
            return
        if name not in (yield from self._alive([name], to, states=("Empty",))):
            return
        answer = yield Request("OffsetFetch", fetch, {"group_id": name, "topics": None}, to)
        if answer is not None and not answer["error_code"] and not answer["topics"]:
            yield Request("DeleteGroups", delete, {"groups_names": [name]}, to)

    def _alive(self, names: list[str], to: Address | None, states: tuple[str, ...] = ()) -> Talk:
        """Those of these groups that are there, or are in one of these states."""
        version = self._version("DescribeGroups", 5)
        if version is None:
            return []
        answer = yield Request("DescribeGroups", version, {"groups": names}, to)
        rows = () if answer is None else answer["groups"]
        return [
            row["group_id"]
            for row in rows
            if (row["group_state"] in states if states else row["group_state"] not in NOBODY)
        ]


def leftover_lines(left: Left) -> list[str]:
    """What is still there by kind and reason, the commonest first."""
    counted = Counter((kind, why) for (kind, _), why in left.items())
    return [
        f"{count} {kind}{'s' if count > 1 else ''} ({why})"
        for (kind, why), count in counted.most_common()
    ]


def _batches(found: list[Any], at_once: int = AT_ONCE) -> Iterator[list[Any]]:
    for start in range(0, len(found), at_once):
        yield found[start : start + at_once]


def _members(answer: Any) -> Iterator[tuple[str, Any]]:
    """(group, member) of every member that a description tells."""
    for row in () if answer is None else answer["groups"]:
        for member in row["members"] or ():
            yield row["group_id"], member


def _unset(owner: tuple[int, str], keys: Iterable[str]) -> Struct:
    rows = [{"name": key, "config_operation": DELETE, "value": None} for key in sorted(keys)]
    return {"resource_type": owner[0], "resource_name": owner[1], "configs": rows}


def _unlimited(entity: Any, keys: Iterable[str]) -> Struct:
    return {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity],
        "ops": [{"key": key, "value": 0.0, "remove": True} for key in sorted(keys)],
    }
