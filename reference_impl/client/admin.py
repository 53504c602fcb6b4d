"""Topics and their settings: one flow per request, routed as Kafka wants it.

Changes go to the controller and are asked again after NOT_CONTROLLER; DeleteRecords goes to the
leaders; a broker's configs go to that broker. A flow gives the answer's rows by name and raises
KafkaError for the first row with an error, unless `check=False`.
"""

from collections.abc import Mapping, Sequence

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

from .flow import (
    ANY,
    CONTROLLER,
    LATEST_VERSION,
    Answer,
    Ask,
    Flow,
    KafkaError,
    Pause,
    TopicPartition,
    Unreachable,
    named,
    raise_for,
)
from .metadata import NO_ID, STALE, Tries, View, know, persist, refresh

TOPIC, BROKER = 2, 4
_CONTROLLER_ELSEWHERE = frozenset(
    {ErrorCode.NOT_CONTROLLER, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
)


class Admin:
    def __init__(self, view: View, *, timeout_ms: int = 30_000):
        self.view = view
        self.timeout_ms = timeout_ms

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication: int = 1,
        *,
        configs: Mapping[str, str | None] | None = None,
        assignments: Mapping[int, Sequence[int]] | None = None,
        validate_only: bool = False,
        check: bool = True,
    ) -> Flow[Struct]:
        """Create it and, unless only validated, wait until every partition has a leader."""
        given = assignments or {}
        row = {
            "name": name,
            "num_partitions": -1 if given else partitions,
            "replication_factor": -1 if given else replication,
            "assignments": [
                {"partition_index": i, "broker_ids": list(ids)} for i, ids in given.items()
            ],
            "configs": [{"name": k, "value": v} for k, v in (configs or {}).items()],
        }
        body = {"topics": [row], "timeout_ms": self.timeout_ms, "validate_only": validate_only}
        versions = (1 if validate_only else 0, LATEST_VERSION)
        rows = yield from self._change("CreateTopics", body, "topics", check, versions)
        if not validate_only and not rows[name]["error_code"]:
            yield from know(self.view, [name], timeout_ms=self.timeout_ms)
        return rows[name]

    def delete_topics(self, names: Sequence[str], *, check: bool = True) -> Flow[dict[str, Struct]]:
        body = {
            "topic_names": list(names),
            "topics": [{"name": name, "topic_id": NO_ID} for name in names],
            "timeout_ms": self.timeout_ms,
        }
        rows = yield from self._change("DeleteTopics", body, "responses", check)
        for name in names:
            self.view.topics.pop(name, None)
        return rows

    def create_partitions(
        self,
        name: str,
        count: int,
        *,
        assignments: Sequence[Sequence[int]] | None = None,
        check: bool = True,
    ) -> Flow[Struct]:
        given = None if assignments is None else [{"broker_ids": list(a)} for a in assignments]
        row = {"name": name, "count": count, "assignments": given}
        body = {"topics": [row], "timeout_ms": self.timeout_ms, "validate_only": False}
        rows = yield from self._change("CreatePartitions", body, "results", check)
        return rows[name]

    def describe_configs(
        self, type_: int, name: str, keys: Sequence[str] | None = None
    ) -> Flow[dict[str, Struct]]:
        """Settings of a topic or broker by name."""
        resource = {"resource_type": type_, "resource_name": name, "configuration_keys": keys}
        node = int(name) if type_ == BROKER and name else ANY
        ask = Ask(node, "DescribeConfigs", {"resources": [resource]})
        answer = yield from persist(self.view, ask, timeout_ms=self.timeout_ms)
        (result,) = answer["results"]
        raise_for(result["error_code"], result["error_message"], name)
        return {row["name"]: row for row in result["configs"]}

    def delete_records(
        self, before: Mapping[tuple[str, int], int]
    ) -> Flow[dict[TopicPartition, int]]:
        """Delete what lies before these offsets (-1: everything); the new low watermarks."""
        tries = Tries(self.view, self.view.now + self.timeout_ms)
        done: dict[TopicPartition, int] = {}
        while True:
            left = {place: offset for place, offset in before.items() if place not in done}
            if not left:
                return done
            yield from know(self.view, sorted({topic for topic, _ in left}))
            error: KafkaError | Unreachable | None = None
            for outcome in (yield self._delete_asks(left)):
                if not isinstance(outcome, Answer):
                    error = Unreachable(outcome)
                    continue
                for topic in outcome.body["topics"]:
                    for part in topic["partitions"]:
                        place = topic["name"], part["partition_index"]
                        code = part["error_code"]
                        if code and code not in STALE:
                            raise KafkaError(code, about=named(place))
                        if code:
                            error = KafkaError(code, about=named(place))
                        else:
                            done[place] = part["low_watermark"]
            if error is not None:
                if isinstance(error, Unreachable) and error.final:
                    raise error
                yield from tries.again(error)
                yield from refresh(self.view, sorted({topic for topic, _ in left}))

    def _delete_asks(self, left: Mapping[tuple[str, int], int]) -> list[Ask]:
        nodes: dict[int, dict[str, list[Struct]]] = {}
        for (topic, partition), offset in left.items():
            leader = self.view.leader(topic, partition)
            node = leader.leader if leader else -1
            row = {"partition_index": partition, "offset": offset}
            nodes.setdefault(node, {}).setdefault(topic, []).append(row)
        return [
            Ask(
                node,
                "DeleteRecords",
                {
                    "topics": [{"name": n, "partitions": rows} for n, rows in topics.items()],
                    "timeout_ms": self.timeout_ms,
                },
            )
            for node, topics in nodes.items()
        ]

    def list_topics(self, *, internal: bool = False) -> Flow[list[str]]:
        ask = Ask(ANY, "Metadata", {"topics": None}, versions=(1, LATEST_VERSION))
        answer = yield from persist(self.view, ask, timeout_ms=self.timeout_ms)
        return sorted(
            row["name"] for row in answer["topics"] if internal or not row.get("is_internal")
        )

    def _change(
        self,
        api: str,
        body: Struct,
        rows: str,
        check: bool,
        versions: tuple[int, int] = (0, LATEST_VERSION),
    ) -> Flow[dict[str, Struct]]:
        give_up, attempt = self.view.now + self.timeout_ms, 0
        if self.view.controller_id < 0:
            yield from refresh(self.view, [])
        while True:
            ask = Ask(CONTROLLER, api, body, timeout_ms=self.timeout_ms + 5_000, versions=versions)
            answer = yield from persist(self.view, ask, timeout_ms=self.timeout_ms)
            by_name = {row["name"]: row for row in answer[rows]}
            codes = {row["error_code"] for row in by_name.values()}
            wake = self.view.now + self.view.backoff.delay(attempt)
            if not codes & _CONTROLLER_ELSEWHERE or wake >= give_up:
                break
            yield Pause(wake)
            attempt += 1
            yield from refresh(self.view, [])
        if check:
            for name, row in by_name.items():
                raise_for(row["error_code"], row.get("error_message"), name)
        return by_name
