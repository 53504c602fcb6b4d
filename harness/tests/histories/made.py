"""Sound histories of any size from one seed: a perfect log in memory and clients that use it.

It is the opposite of a liar: whatever it makes, no property may find fault with. Clients overlap,
outcomes stay unknown (half of those sends happened), transactions commit and abort, a consumer of
each isolation follows at its own pace, and in the end every partition is read to its end.
"""

from __future__ import annotations

from random import Random

from touchstone.harness.model.history import FORMAT, History, Operation, place

TOPIC = "t"
UNCOMMITTED, COMMITTED = "read_uncommitted", "read_committed"


class Maker:
    """One history in the making. Every line number is drawn from `line`."""

    def __init__(self, seed: int, *, partitions: int = 3, producers: int = 4) -> None:
        self.random = Random(seed)
        self.lines = 1
        self.operations: list[Operation] = []
        # per partition rows of [value, state]; a state is True (shown), False (hidden) or None
        self.logs: list[list[list]] = [[] for _ in range(partitions)]
        self.producers = producers
        self.sent = 0
        self.open: dict[int, dict] = {}  # transactional producer -> its transaction
        self.positions = {
            (f"consumer-{isolation}", index): 0
            for isolation in (UNCOMMITTED, COMMITTED)
            for index in range(partitions)
        }
        self.stored = -1
        self.generation, self.shares = 0, {}  # of group "m": member -> its partitions

    def line(self) -> int:
        self.lines += 1
        return self.lines

    def begin(self, process: str, do: str, **asked) -> Operation:
        made = Operation(len(self.operations) + 1, process, do, asked, self.line())
        self.operations.append(made)
        return made

    def end(self, operation: Operation, outcome: str = "ok", **told) -> None:
        operation.ended, operation.outcome, operation.told = self.line(), outcome, told

    def make(self, count: int) -> History:
        """About `count` operations, then the drains."""
        doings = [self.batch] * 4 + [self.transact] * 6 + [self.poll] * 4 + [self.store] * 3
        doings += [self.rebalance, self.commit_as_member, self.commit_as_member]
        while len(self.operations) < count:
            self.random.choice(doings)()
        for producer in list(self.open):
            self.finish(producer, "abort")
        for isolation in (UNCOMMITTED, COMMITTED):
            for index in range(len(self.logs)):
                self.drain(index, isolation)
        return History({"history": FORMAT, "target": "made"}, self.operations)

    # --- producers ---------------------------------------------------------------------------

    def batch(self) -> None:
        """Some sends of several producers that are all under way at once."""
        sends = []
        for producer in self.random.sample(range(self.producers), 2):
            index = self.random.randrange(len(self.logs))
            sends += [self.send(f"producer-{producer}", index) for _ in range(3)]
        for send in self.random.sample(sends, len(sends)):
            outcome = self.random.choice(("ok",) * 8 + ("unknown",))
            offset = send.told["later"]
            self.end(send, outcome, **({"offset": offset} if outcome == "ok" else {}))
        if self.random.random() < 0.2:
            never = self.begin("producer-0", "send", **self.asked("producer-0", 0))
            self.end(never, "fail", error="MESSAGE_TOO_LARGE")

    def asked(self, process: str, index: int, transaction: str | None = None) -> dict:
        self.sent += 1
        return {
            "topic": TOPIC, "partition": index, "value": f"{process}.{self.sent}", "acks": -1,
            "idempotent": process != "producer-0" or transaction is not None,
            "transaction": transaction,
        }  # fmt: skip

    def send(self, process: str, index: int, transaction: str | None = None) -> Operation:
        made = self.begin(process, "send", **self.asked(process, index, transaction))
        row = [made.asked["value"], None if transaction else True]
        self.logs[index].append(row)
        made.told = {"later": len(self.logs[index]) - 1, "row": row}
        return made

    def transact(self) -> None:
        producer = 100 + self.random.randrange(2)
        if producer in self.open:
            self.finish(producer, self.random.choice(("commit", "commit", "abort")))
            return
        name = f"x{producer}:{self.sent}"
        self.end(self.begin(f"producer-{producer}", "begin", transaction=name))
        rows = []
        for index in self.random.sample(range(len(self.logs)), 2):
            send = self.send(f"producer-{producer}", index, name)
            send.asked["copy_of"] = f"input.{self.sent}"
            later = send.told
            rows.append(later["row"])
            self.end(send, "ok", offset=later["later"])
        self.open[producer] = {"name": name, "rows": rows}

    def finish(self, producer: int, how: str) -> None:
        transaction = self.open.pop(producer)
        asked = self.begin(f"producer-{producer}", how, transaction=transaction["name"])
        for row in transaction["rows"]:
            row[1] = how == "commit"
        for log in self.logs:
            if any(row in log for row in transaction["rows"]):
                log.append([None, False])  # the marker takes an offset
        self.end(asked, self.random.choice(("ok", "ok", "unknown")))

    # --- consumers ---------------------------------------------------------------------------

    def visible(self, index: int, isolation: str, position: int) -> tuple[list, int]:
        """What a fetch at `position` gives, and the position after it."""
        rows, log = [], self.logs[index]
        while position < len(log) and len(rows) < 50:
            value, state = log[position]
            if isolation == COMMITTED and state is None:
                break  # the last stable offset
            if value is not None and (isolation == UNCOMMITTED or state):
                rows.append([position, value])
            position += 1
        return rows, position

    def poll(self) -> None:
        isolation = self.random.choice((UNCOMMITTED, COMMITTED))
        process = f"consumer-{isolation}"
        made = self.begin(process, "poll", isolation=isolation)
        records = {}
        for index in range(len(self.logs)):
            if self.random.random() < 0.7:
                rows, after = self.visible(index, isolation, self.positions[process, index])
                self.positions[process, index] = after
                if rows:
                    records[place(TOPIC, index)] = rows
        self.end(made, "ok", records=records)

    def drain(self, index: int, isolation: str) -> None:
        process = f"drain-{isolation}-{index}"
        made = self.begin(process, "drain", topic=TOPIC, partition=index, isolation=isolation)
        position = 0
        while True:
            rows, after = self.visible(index, isolation, position)
            if after == position:
                break
            position = after
            poll = self.begin(process, "poll", isolation=isolation)
            self.end(poll, "ok", records={place(TOPIC, index): rows})
        self.end(made, "ok", **{"from": 0, "to": position})

    def store(self) -> None:
        where = place(TOPIC, 0)
        if self.random.random() < 0.5:
            self.stored = self.sent
            self.end(self.begin("consumer-x", "store", group="g", offsets={where: self.stored}))
        else:
            asked = self.begin("consumer-x", "recall", group="g")
            self.end(asked, "ok", offsets={where: self.stored})

    def rebalance(self) -> None:
        """Two or three members join at once; one of them may not hear of it."""
        members = [f"member-{number}" for number in range(self.random.choice((2, 3)))]
        joins = [self.begin(each, "join", group="m") for each in members]
        self.generation += 1
        self.shares = {each: [] for each in members}
        for index in range(len(self.logs)):
            self.shares[members[index % len(members)]].append(place(TOPIC, index))
        for number, made in enumerate(self.random.sample(joins, len(joins))):
            if number == 2 and self.random.random() < 0.3:
                self.end(made, "unknown")
                continue
            told = {"member": f"id-{made.process}", "generation": self.generation}
            self.end(made, "ok", **told, partitions=self.shares[made.process])
        if self.random.random() < 0.3:
            self.end(self.begin(members[0], "leave", group="m"))

    def commit_as_member(self) -> None:
        """A member of this generation is heard, one of the last is refused."""
        if self.generation == 0:
            return
        member = self.random.choice(sorted(self.shares))
        late = self.random.random() < 0.4
        asked = self.begin(
            member, "store", group="m", member=f"id-{member}", generation=self.generation - late,
            offsets=dict.fromkeys(self.shares[member], self.sent),
        )  # fmt: skip
        if late:
            self.end(asked, "fail", error="ILLEGAL_GENERATION")
        else:
            self.end(asked)


def history(seed: int, count: int = 400) -> History:
    return Maker(seed).make(count)
