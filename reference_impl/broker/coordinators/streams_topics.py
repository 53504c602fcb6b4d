"""A broker makes the internal topics that a streams group's topology needs.

The coordinator says which are missing; the broker that answers asks the controller for them and
does not wait: the member's next heartbeat finds them. What the controller refused is not asked
again for two heartbeats' time, and the members are told why.

Sources: KIP-1071; AutoTopicCreationManager.createStreamsInternalTopics@4.3.1; observed on
4.3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.control.topic_outcomes import UNSET, NewTopic
from touchstone.reference_impl.group.streams.status import MISSING_INTERNAL, Status
from touchstone.reference_impl.group.streams.topology import InternalTopic
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

_TIMEOUT_MS = 30_000  # request.timeout.ms by default
_MOST = 1000  # refusals that are remembered
_SHOWN = 3  # refusals that a member is told


class _Refusal(NamedTuple):
    why: str
    until: int  # ms, exclusive


class StreamsTopics:
    """The internal topics that one broker asked for, and what it was refused."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._refused: dict[str, _Refusal] = {}  # by topic, the oldest first
        self._asked: set[str] = set()

    def make(
        self, topics: Sequence[InternalTopic], client: str, now: int, *, patience_ms: int
    ) -> None:
        """Ask for these topics after this request, as `client`; a refusal counts so long."""
        self._forget(now)
        wanted = [t for t in topics if t.name not in self._refused and t.name not in self._asked]
        if not wanted or not self._broker.cluster.reachable(self._broker.id):
            return
        self._asked |= {topic.name for topic in wanted}

        def ask(at: int) -> None:
            outcomes = self._broker.room(TopicChanges).create_topics(
                [_new(topic) for topic in wanted],
                timeout=_TIMEOUT_MS,
                validate_only=False,
                client=client,
            )
            for outcome in outcomes:
                if outcome.code and outcome.name is not None:
                    why = outcome.message or ErrorCode(outcome.code).name
                    self._refused.pop(outcome.name, None)
                    self._refused[outcome.name] = _Refusal(why, at + patience_ms)
            self._asked -= {topic.name for topic in wanted}

        self._broker.soon(("streams topics", *(topic.name for topic in wanted)), ask)

    def explained(
        self, statuses: Sequence[Status], topics: Sequence[InternalTopic], now: int
    ) -> list[Status]:
        """The statuses, where topics are missing with what the controller said of them."""
        self._forget(now)
        why = [f"{t.name} ({self._refused[t.name].why})" for t in topics if t.name in self._refused]
        if not why:
            return list(statuses)
        more = f" and {len(why) - _SHOWN} more" if len(why) > _SHOWN else ""
        told = f"; Creation failed: {', '.join(why[:_SHOWN])}{more}."
        return [
            Status(status.code, status.detail + told) if status.code == MISSING_INTERNAL else status
            for status in statuses
        ]

    def _forget(self, now: int) -> None:
        kept = [(name, each) for name, each in self._refused.items() if each.until > now]
        self._refused = dict(kept[-_MOST:])


def _new(topic: InternalTopic) -> NewTopic:
    configs = tuple((key, value) for key, value in topic.configs)
    return NewTopic(topic.name, topic.partitions, topic.replication or UNSET, (), configs)
