"""A made-up coordinator of one group with one member, or of one transactional id."""

from typing import Any

from touchstone.reference_impl.client import assignors
from touchstone.reference_impl.client.flow import Ask, Failed

from .scripted import metadata, topic

_CODE = {"error_code": 0}
_END = {"offset": 0, "timestamp": -1}


class Coordinating:
    """Answers by `plan[api]`, error codes and "closed" one after another, then with success."""

    def __init__(self, *topics: dict, generation: int = 0, **plan: list[Any]):
        self.topics = topics or (topic("t", 0, 0),)
        self.plan = {api: list(codes) for api, codes in plan.items()}
        self.generation = generation
        self.leads = True
        self.share: list[tuple[str, int]] | None = None
        self.offsets: dict[tuple[str, int], int] = {}
        self.commits: list[dict] = []
        self.given: dict[str, bytes] = {}

    def __call__(self, ask: Ask) -> dict[str, Any] | Failed:
        told = self.plan.get(ask.api) or [0]
        code = told.pop(0)
        if isinstance(code, str):
            return Failed(ask, code, "planned")
        return getattr(self, f"_{ask.api}")(ask.body, code)

    def _Metadata(self, body, code):
        return metadata(*self.topics)

    def _FindCoordinator(self, body, code):
        row = {"error_code": code, "node_id": 1, "host": "h", "port": 9001}
        return {"coordinators": [{"key": body["key"], "error_message": None, **row}]}

    def _JoinGroup(self, body, code):
        named = "named" if code == 79 else body["member_id"] or "member"
        if code:
            return {"error_code": code, "member_id": named}
        self.generation += 1
        protocol = body["protocols"][0]
        row = {"member_id": named, "metadata": protocol["metadata"]}
        return {
            "error_code": 0,
            "generation_id": self.generation,
            "protocol_type": "consumer",
            "protocol_name": protocol["name"],
            "leader": named if self.leads else "another",
            "member_id": named,
            "members": [row] if self.leads else [],
        }

    def _SyncGroup(self, body, code):
        rows = {row["member_id"]: row["assignment"] for row in body["assignments"]}
        self.given = rows
        share = rows.get(body["member_id"], b"")
        if self.share is not None:
            share = assignors.assignment(self.share)
        return {"error_code": code, "protocol_type": "consumer", "assignment": share}

    def _Heartbeat(self, body, code):
        return {"error_code": code}

    def _LeaveGroup(self, body, code):
        return {"error_code": code, "members": []}

    def _OffsetCommit(self, body, code):
        if not code:
            self.commits.append(body)
        return self._rows(body["topics"], lambda place: {"error_code": code})

    def _OffsetFetch(self, body, code):
        def row(place):
            offset = self.offsets.get(place, -1)
            return {"error_code": code, "committed_offset": offset, "metadata": ""}

        topics = [
            {**each, "partitions": [{"partition_index": i} for i in each["partition_indexes"]]}
            for each in body["topics"]
        ]
        return {"groups": [{"group_id": body["group_id"], **_CODE, **self._rows(topics, row)}]}

    def _ListOffsets(self, body, code):
        return self._rows(body["topics"], lambda place: _END | {"error_code": code})

    def _Fetch(self, body, code):
        rows = [
            {
                "topic": each["topic"],
                "partitions": [
                    {
                        "partition_index": part["partition"],
                        "error_code": code,
                        "high_watermark": 0,
                        "records": b"",
                    }
                    for part in each["partitions"]
                ],
            }
            for each in body["topics"]
        ]
        return {"error_code": 0, "responses": rows}

    @staticmethod
    def _rows(topics, row):
        return {
            "topics": [
                {
                    "name": each["name"],
                    "partitions": [
                        {"partition_index": part["partition_index"]}
                        | row((each["name"], part["partition_index"]))
                        for part in each["partitions"]
                    ],
                }
                for each in topics
            ]
        }
