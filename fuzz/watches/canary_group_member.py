"""A member that heartbeats in time stays in its group, and its commits are kept as they are.

A classic group of one member: what it assigned to itself comes back, each heartbeat is taken, each
commit is fetched as it was made, and a commit in the name of the generation before, or of a
member that the group does not know, is refused.
The requests are of the oldest versions that all releases from 1.0 to 4.3 serve.
"""

from __future__ import annotations

from touchstone.fuzz.watches.topics import create, delete
from touchstone.fuzz.watches.watch import CANARY, Played, Watch, Watched, error_code, name_of
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

GROUP = f"{CANARY}-group"
TOPIC = f"{CANARY}-commits"
SESSION_MS = 30_000
_OTHER_GENERATION = ErrorCode.ILLEGAL_GENERATION
ASSIGNMENT = b"canary: " + bytes(range(64))


def code_of_commit(body: Struct) -> int:
    return int(body["topics"][0]["partitions"][0]["error_code"])


class CanaryGroupMember(Watch):
    every_s = 0.5

    def before(self, target: Watched) -> None:
        self.asker, self.beats = target.asker(), 0
        create(self.asker, TOPIC)
        self.asker.once("FindCoordinator", 1, {"key": GROUP, "key_type": 0})  # creates the topic
        join = {
            "group_id": GROUP, "session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": SESSION_MS,
            "member_id": "", "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": b""}],
        }  # fmt: skip
        joined = self.asker.until("JoinGroup", 2, join, error_code)
        self.trouble = self._joined(joined)

    def _joined(self, joined: Struct) -> str | None:
        if joined["error_code"]:
            return f"JoinGroup of a new member answers {name_of(joined['error_code'])}"
        self.member, self.generation = joined["member_id"], joined["generation_id"]
        share = [{"member_id": self.member, "assignment": ASSIGNMENT}]
        synced = self.asker.ask("SyncGroup", 1, self._own() | {"assignments": share})
        if synced["error_code"] or bytes(synced["assignment"]) != ASSIGNMENT:
            return f"SyncGroup answers {name_of(synced['error_code'])}, {synced['assignment']!r}"
        return None

    def _own(self) -> Struct:
        return {
            "group_id": GROUP, "generation_id": self.generation, "member_id": self.member,
        }  # fmt: skip

    def check(self, now: float) -> str | None:
        if self.trouble:
            return self.trouble
        self.beats += 1
        code = self.asker.ask("Heartbeat", 1, self._own())["error_code"]
        if code:
            return f"heartbeat {self.beats} of a member in time answers {name_of(code)}"
        return self._committed(offset=self.beats, note=f"note {self.beats}")

    def _committed(self, offset: int, note: str) -> str | None:
        for who, member, generation, expected in (
            ("a member", self.member, self.generation, ErrorCode.NONE),
            ("the generation before", self.member, self.generation - 1, _OTHER_GENERATION),
            ("an unknown member", "nobody", self.generation, ErrorCode.UNKNOWN_MEMBER_ID),
        ):
            mine = (offset, note) if expected == ErrorCode.NONE else (0, "")
            code = self._commit(member, generation, *mine)
            if code != expected:
                return f"OffsetCommit of {who} answers {name_of(code)}, not {expected.name}"
        asked = {"group_id": GROUP, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}
        row = self.asker.ask("OffsetFetch", 1, asked)["topics"][0]["partitions"][0]
        told = (row["committed_offset"], row["metadata"], row["error_code"])
        if told != (offset, note, 0):
            return f"committed {(offset, note)}, fetched (offset, metadata, error) {told}"
        return None

    def _commit(self, member: str, generation: int, offset: int, note: str) -> int:
        place = {"partition_index": 0, "committed_offset": offset, "committed_metadata": note}
        body = {
            "group_id": GROUP, "generation_id_or_member_epoch": generation,
            "member_id": member, "retention_time_ms": -1,
            "topics": [{"name": TOPIC, "partitions": [place]}],
        }  # fmt: skip
        return code_of_commit(self.asker.ask("OffsetCommit", 2, body))

    def after(self, now: float, played: Played) -> str | None:
        if not self.trouble:
            self.asker.once("LeaveGroup", 1, {"group_id": GROUP, "member_id": self.member})
        delete(self.asker, TOPIC)
        return self.trouble

    def figures(self) -> str:
        return f"{self.beats} heartbeats and commits"
