"""The frozen corpus against a target: its topics made fresh, every case played, signatures out.

Frozen bytes name their topics, so two runs of the corpus use the same ones; a partition remembers
producers and offsets, so each run deletes and makes them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from touchstone.fuzz import neighbours
from touchstone.fuzz.cases import Case, reviewed_differences
from touchstone.fuzz.outcome import signature
from touchstone.fuzz.runner import ASK_TIMEOUT_S, Link

METADATA, CREATE, DELETE, LIST_OFFSETS = 3, 19, 20, 2
HEARTBEAT, INIT_PRODUCER_ID, NO_SUCH_MEMBER = 12, 22, 25
GROUP_KEYS = {8, 9, 11, 12, 13, 14, 15, 16, 42, 47}
TRIES = 400
AFTER_DELETION = 50
"""Rests: with ZooKeeper a topic is unlisted before its deletion is over, and one that is made again
in between is deleted halfway (seen on 1.0.2)."""


class NotPrepared(ConnectionError):
    """The target did not create or delete a topic that a case needs, or has no coordinator. Whoever
    plays cases takes it for gone, as one that no longer accepts: a broker whose controller has
    ended still listens.
    """


def play_corpus(
    link: Link, cases: Iterable[Case], *, fresh: bool = True, tell: Callable[[str], object] = str
) -> dict[str, str]:
    """Signature by case name. Raises NotPrepared, and ConnectionError when the target is gone."""
    cases = list(cases)
    prepare(link, cases, fresh=fresh)
    seen = {}
    for case in cases:
        outcome = link.play(case.segments, probe=case.probe, timeout_s=ASK_TIMEOUT_S)
        seen[case.name] = signature(case.key, case.version, outcome)
        tell(f"{case.name}: {seen[case.name]}")
    return seen


def prepare(link: Link, cases: list[Case], *, fresh: bool = True) -> None:
    """Every topic of these cases, empty and served."""
    wanted = {topic: case.compacted for case in cases for topic in case.topics}
    if fresh:
        delete_topics(link, sorted(wanted))
    create_topics(link, wanted)
    if any(case.key in GROUP_KEYS for case in cases):
        wait_until(lambda: serves_groups(link), "no group coordinator", link)
    if any(case.key == INIT_PRODUCER_ID for case in cases):
        wait_until(lambda: has_producer_ids(link), "no producer ids", link)


def serves_groups(link: Link) -> bool:
    """Whether groups are served: the first question for one creates __consumer_offsets."""
    ghost = {"group_id": "fz-group-0", "generation_id": 1, "member_id": "ghost"}
    with neighbours.coordinator(link, "fz-group-0") as asked:
        answer = asked.ask(HEARTBEAT, 0, ghost)
    return answer is not None and answer["error_code"] == NO_SUCH_MEMBER


def has_producer_ids(link: Link) -> bool:
    """Whether producer ids are given: in KRaft the first question has a broker ask for some."""
    body = {"transactional_id": None, "transaction_timeout_ms": 1000}
    answer = link.ask(INIT_PRODUCER_ID, 0, body)
    return answer is not None and answer["error_code"] == 0


def create_topics(link: Link, wanted: dict[str, bool]) -> None:
    """Topics with one partition, on the broker at the link; True: compacted."""
    if not wanted:
        return
    here = neighbours.own_id(link)
    place = [] if here is None else [{"partition_index": 0, "broker_ids": [here]}]
    one = -1 if place else 1
    topics = [
        {
            "name": name, "num_partitions": one, "replication_factor": one, "assignments": place,
            "configs": [{"name": "cleanup.policy", "value": "compact"}] if compacted else [],
        }
        for name, compacted in wanted.items()
    ]  # fmt: skip

    def there() -> bool:
        # Again and again: a topic being deleted still exists for a while after it is not listed.
        with neighbours.controller(link) as asked:
            asked.ask(CREATE, 2, {"topics": topics, "timeout_ms": 5000, "validate_only": False})
        here = led_here(link, list(wanted))  # one question for all that are placed here
        return all(has_leader(link, name) for name in wanted if name not in here)

    wait_until(there, "topics were not created", link)


def delete_topics(link: Link, names: list[str], *, rests: int = AFTER_DELETION) -> None:
    """Until they are unlisted, and `rests` rests longer."""
    names = sorted(set(names) & listed_topics(link))
    if not names:
        return
    with neighbours.controller(link) as asked:
        asked.ask(DELETE, 1, {"topic_names": names, "timeout_ms": 5000})
    wait_until(lambda: not set(names) & listed_topics(link), "topics were not deleted", link)
    for _ in range(rests):
        link.rest()


def listed_topics(link: Link) -> set[str]:
    """The topics the target has."""
    answer = link.ask(METADATA, 1, {"topics": None})
    return {row["name"] for row in answer["topics"]} if answer else set()


def has_leader(link: Link, name: str) -> bool:
    """Whether partition 0 has a leader that answers: Metadata alone speaks too early."""
    with neighbours.leader(link, name) as asked:
        return name in led_here(asked, [name])


def led_here(link: Link, names: Sequence[str]) -> set[str]:
    """Of these topics those whose partition 0 the broker at the link leads, by its own answer."""
    row = {"partition_index": 0, "timestamp": -1}
    body = {"replica_id": -1, "topics": [{"name": one, "partitions": [row]} for one in names]}
    answer = link.ask(LIST_OFFSETS, 1, body)
    return {
        topic["name"]
        for topic in (answer["topics"] if answer else ())
        if topic["partitions"][0]["error_code"] == 0
    }


def wait_until(done: Callable[[], bool], sentence: str, link: Link) -> None:
    for _ in range(TRIES):
        if done():
            return
        link.rest()
    raise NotPrepared(sentence)


def differences(release: str, seen: dict[str, str], recorded: dict[str, str]) -> list[str]:
    """Cases whose signature is not the recorded one and that have no review, as sentences."""
    reviewed = {
        name for row in reviewed_differences() if release in row.releases for name in row.cases
    }
    return [
        f"{name}: {seen[name]!r}, real Kafka {release}: {recorded[name]!r}"
        for name in sorted(seen)
        if name in recorded and seen[name] != recorded[name] and name not in reviewed
    ]
