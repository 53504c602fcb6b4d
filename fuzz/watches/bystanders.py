"""Topics and groups that no case names are still there, with what was committed.

Two topics, the first and the last by name (a slip often takes either end of a list), and a group
without members that holds an offset of each. It is quick to look, so little was played between the
last look that was good and the first that was not: `culprits` finds the case among that.
"""

from __future__ import annotations

from touchstone.fuzz.watches.topics import create, delete, listed
from touchstone.fuzz.watches.watch import CANARY, Played, Watch, Watched, name_of

TOPICS = (f"{CANARY}-0-bystander", f"{CANARY}-zz-bystander")
GROUP = f"{CANARY}-bystander"
COMMITTED = 42


class Bystanders(Watch):
    every_s = 0.5
    repeats = True

    def before(self, target: Watched) -> None:
        self.asker, self.looks = target.asker(), 0
        for topic in TOPICS:
            create(self.asker, topic)
        self.asker.once("FindCoordinator", 1, {"key": GROUP, "key_type": 0})  # creates the topic
        row = {"partition_index": 0, "committed_offset": COMMITTED, "committed_metadata": ""}
        commit = {
            "group_id": GROUP, "generation_id_or_member_epoch": -1, "member_id": "",
            "retention_time_ms": -1,
            "topics": [{"name": topic, "partitions": [row]} for topic in TOPICS],
        }  # fmt: skip
        told = self.asker.until(
            "OffsetCommit", 2, commit, lambda body: body["topics"][0]["partitions"][0]["error_code"]
        )
        code = told["topics"][0]["partitions"][0]["error_code"]
        self.trouble = f"OffsetCommit answers {name_of(code)}" if code else self._wrong()

    def check(self, now: float) -> str | None:
        self.looks += 1
        return self.trouble or self._wrong()

    def _wrong(self) -> str | None:
        there = listed(self.asker)
        gone = [topic for topic in TOPICS if topic not in there]
        if gone:
            return f"no case named topic {gone[0]}, and it is gone"
        rows = [{"name": topic, "partition_indexes": [0]} for topic in TOPICS]
        told = self.asker.ask("OffsetFetch", 1, {"group_id": GROUP, "topics": rows})
        for topic in told["topics"]:
            row = topic["partitions"][0]
            if row["committed_offset"] != COMMITTED:
                return (
                    f"no case named group {GROUP}, and its offset of {topic['name']} is "
                    f"{row['committed_offset']} ({name_of(row['error_code'])}), not {COMMITTED}"
                )
        return None

    def after(self, now: float, played: Played) -> str | None:
        complaint = self.check(now)
        for topic in TOPICS:
            delete(self.asker, topic)
        return complaint

    def figures(self) -> str:
        return f"{self.looks} looks at {len(TOPICS)} topics and a group"
