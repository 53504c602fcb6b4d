"""After SIGTERM and after SIGKILL everything acknowledged is still there.

Records and a commit are made before the campaign and after it; then the broker is ended, politely
and at once, started again each time, and asked for them. It comes last of all watches, for what
others look at does not live through it.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.fuzz.watches.canary_group_member import code_of_commit
from touchstone.fuzz.watches.canary_records import Acknowledged
from touchstone.fuzz.watches.readers import ours
from touchstone.fuzz.watches.topics import create, delete, ends
from touchstone.fuzz.watches.watch import CANARY, NotWatched, Played, Watch, Watched, Wrong, name_of
from touchstone.harness.model.target import Node, StartFailed
from touchstone.reference_impl.wire.schema import Struct

TOPIC = f"{CANARY}-restart"
GROUP = f"{CANARY}-restart-group"
BATCHES = 10


class Restart(Watch):
    def before(self, target: Watched) -> None:
        if len(target.endpoint.nodes) != 1:
            raise NotWatched("it is not one broker that can be ended and started from here")
        self.target, self.asker = target, target.asker()
        self.node: Node = next(iter(target.endpoint.nodes.values()))
        create(self.asker, TOPIC)
        self.asker.once("FindCoordinator", 1, {"key": GROUP, "key_type": 0})
        self.acknowledged = Acknowledged(self.asker, TOPIC)
        self.restarts = 0
        self._produce()

    def _produce(self) -> None:
        for _ in range(BATCHES):
            complaint = self.acknowledged.produce()
            if complaint:
                raise Wrong(complaint)

    def after(self, now: float, played: Played) -> str | None:
        self.asker.close()  # a broker ends a connection that was idle for ten minutes
        ways: tuple[tuple[str, Callable[[], None]], ...] = (
            ("SIGTERM", self.node.stop), ("SIGKILL", self.node.kill),
        )  # fmt: skip
        for signal, end in ways:
            self._produce()
            offset = len(self.acknowledged.sent)
            self._commit(offset)
            self.asker.close()
            end()
            try:
                self.node.start()
            except StartFailed as failed:
                return f"after {signal} it does not start: {str(failed).splitlines()[0]}"
            self.restarts += 1
            complaint = self._read_back(offset)
            if complaint:
                return f"after {signal}: {complaint}"
        delete(self.asker, TOPIC)
        return None

    def _commit(self, offset: int) -> None:
        """Outside any generation, as a consumer does that assigns its partitions itself."""
        place = {"partition_index": 0, "committed_offset": offset, "committed_metadata": "kept"}
        body = {
            "group_id": GROUP, "generation_id_or_member_epoch": -1, "member_id": "",
            "retention_time_ms": -1, "topics": [{"name": TOPIC, "partitions": [place]}],
        }  # fmt: skip
        code = code_of_commit(self.asker.until("OffsetCommit", 2, body, code_of_commit))
        if code:
            raise Wrong(f"OffsetCommit answers {name_of(code)}")

    def _read_back(self, offset: int) -> str | None:
        _, end = ends(self.asker, TOPIC, 0)
        complaint = self.acknowledged.complaint(
            "our client", ours(self.target.bootstrap, TOPIC, end)
        )
        if complaint:
            return complaint
        asked = {"group_id": GROUP, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}
        found = _place(self.asker.until("OffsetFetch", 1, asked, lambda a: _place(a)["error_code"]))
        told = (found["committed_offset"], found["metadata"])
        return None if told == (offset, "kept") else f"committed {offset}, fetched {told}"

    def figures(self) -> str:
        return f"{self.restarts} restarts, {len(self.acknowledged.offsets)} records read back"


def _place(answer: Struct) -> Struct:
    found: Struct = answer["topics"][0]["partitions"][0]
    return found
