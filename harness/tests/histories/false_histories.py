"""One lie for each property: a sound history made unsound in exactly the way the property names.

A lie changes what clients were told, as a broker with that defect would have; it never touches the
order of events. `FALSE_HISTORIES[name](history, random)` does it in place.
"""

from __future__ import annotations

from random import Random

from touchstone.harness.model.history import FORMAT, History, Operation, place
from touchstone.harness.tests.histories.made import COMMITTED, UNCOMMITTED


def polls(history: History, isolation: str | None = None) -> list[Operation]:
    return [
        each
        for each in history.of("poll")
        if each.told.get("records") and isolation in (None, each.asked["isolation"])
    ]


def given(history: History) -> list[list]:
    """What each poll gave of each partition, where that was anything."""
    return [rows for poll in polls(history) for rows in poll.told["records"].values() if rows]


def acknowledged(history: History) -> list[Operation]:
    """Sends outside transactions whose offset is known."""
    return [
        each
        for each in history.of("send")
        if each.outcome == "ok" and not each.asked["transaction"]
    ]


def drop(history: History, value: str, where: list[Operation]) -> None:
    for poll in where:
        for name, rows in poll.told["records"].items():
            poll.told["records"][name] = [row for row in rows if row[1] != value]


def lost_write(history: History, random: Random) -> None:
    drop(history, random.choice(acknowledged(history)).asked["value"], polls(history))


def vanished_read(history: History, random: Random) -> None:
    read = {
        row[1]
        for poll in polls(history)
        if poll.process.startswith("consumer")
        for rows in poll.told["records"].values()
        for row in rows
    }
    value = random.choice(sorted(read))
    drop(history, value, [poll for poll in polls(history) if poll.process.startswith("drain")])


def duplicate(history: History, random: Random) -> None:
    send = random.choice([s for s in acknowledged(history) if s.asked["idempotent"]])
    name = place(send.asked["topic"], send.asked["partition"])
    for isolation in (UNCOMMITTED, COMMITTED):
        last = [poll for poll in polls(history, isolation) if poll.told["records"].get(name)][-1]
        rows = last.told["records"][name]
        rows.append([rows[-1][0] + 1, send.asked["value"]])


def reordered(history: History, random: Random) -> None:
    """Two records change places everywhere, so that only their order is wrong."""
    sends = acknowledged(history)
    pairs = [
        (one, two)
        for one in sends[:40]
        for two in sends
        if one.before(two) and one.asked["partition"] == two.asked["partition"]
    ]
    one, two = random.choice(pairs)
    one.told["offset"], two.told["offset"] = two.told["offset"], one.told["offset"]
    other = {one.asked["value"]: two.asked["value"], two.asked["value"]: one.asked["value"]}
    for poll in polls(history):
        for rows in poll.told["records"].values():
            for row in rows:
                row[1] = other.get(row[1], row[1])


def inconsistent_offset(history: History, random: Random) -> None:
    send = random.choice(acknowledged(history))
    send.told["offset"] += 1


def non_monotonic_poll(history: History, random: Random) -> None:
    rows = random.choice(given(history))
    rows.append(list(rows[-1]))


def skipped(history: History, random: Random) -> None:
    """One consumer is not given what another one of the same isolation is."""
    found = [
        rows
        for poll in polls(history)
        if poll.process.startswith("consumer")
        for rows in poll.told["records"].values()
        if len(rows) > 2
    ]
    del random.choice(found)[1]


def aborted_read(history: History, random: Random) -> None:
    """The first committed reader to come by is given a record that was aborted."""
    aborted = {each.asked["transaction"] for each in history.of("abort")}
    chances = []
    for send in history.of("send"):
        name = place(send.asked["topic"], send.asked["partition"])
        for poll in polls(history, COMMITTED) if send.asked["transaction"] in aborted else ():
            rows = poll.told["records"].get(name)
            if rows and rows[0][0] < send.told["offset"] < rows[-1][0]:
                chances.append((rows, send))
    rows, send = random.choice(chances)
    rows.append([send.told["offset"], send.asked["value"]])
    rows.sort()


def torn_transaction(history: History, random: Random) -> None:
    done = {e.asked["transaction"] for e in history.of("commit") if e.outcome == "ok"}
    send = random.choice([s for s in history.of("send") if s.asked["transaction"] in done])
    drop(history, send.asked["value"], polls(history, COMMITTED))


def copied_twice(history: History, random: Random) -> None:
    """Two committed transactions say that they copied the same input."""
    done = {e.asked["transaction"] for e in history.of("commit") if e.outcome == "ok"}
    sends = [s for s in history.of("send") if s.asked["transaction"] in done]
    one = random.choice(sends)
    others = [s for s in sends if s.asked["transaction"] != one.asked["transaction"]]
    random.choice(others).asked["copy_of"] = one.asked["copy_of"]


def phantom(history: History, random: Random) -> None:
    rows = random.choice(given(history))
    random.choice(rows)[1] = "nobody.1"


def stale_commit(history: History, random: Random) -> None:
    recalls = [each for each in history.of("recall") if each.told["offsets"]["t-0"] > 0]
    random.choice(recalls).told["offsets"]["t-0"] = -1


def position_lost(history: History, random: Random) -> None:
    poll = random.choice(polls(history))
    poll.outcome, poll.told = "fail", {"error": "OFFSET_OUT_OF_RANGE", "positions": {"t-0": 9}}


def joins(history: History) -> list[Operation]:
    return [each for each in history.of("join") if each.outcome == "ok"]


def owned_twice(history: History, random: Random) -> None:
    """One member is given what another one of its generation has."""
    pairs = [
        (one, two)
        for one in joins(history)
        for two in joins(history)
        if one is not two and one.told["generation"] == two.told["generation"]
    ]
    one, two = random.choice(pairs)
    two.told["partitions"] = [*two.told["partitions"], one.told["partitions"][0]]


def generation_fell(history: History, random: Random) -> None:
    later = [each for each in joins(history) if each.told["generation"] > 1]
    random.choice(later).told["generation"] = 0


def outdated_commit(history: History, random: Random) -> None:
    """A commit of the last generation is taken."""
    late = [each for each in history.of("store") if each.told.get("error") == "ILLEGAL_GENERATION"]
    one = random.choice(late)
    one.outcome, one.told = "ok", {}


FALSE_HISTORIES = {
    lie.__name__.replace("_", "-"): lie
    for lie in (
        aborted_read, copied_twice, duplicate, generation_fell, inconsistent_offset, lost_write,
        non_monotonic_poll, outdated_commit, owned_twice, phantom, position_lost, reordered,
        skipped, stale_commit, torn_transaction, vanished_read,
    )
}  # fmt: skip


def empty() -> History:
    return History({"history": FORMAT}, [])
