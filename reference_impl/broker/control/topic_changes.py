"""A controller creates, grows and deletes topics, by ZooKeeper's rules or by KRaft's.

The two modes differ in the order of checks, in their messages, in who places replicas and in what
a timeout of zero means, so each has its own file of whole sentences instead of branches in common
ones. `TopicChanges` picks. Handlers of CreateTopics, DeleteTopics and CreatePartitions turn
`Outcome`s into answers; auto-creation and internal topics come in by `auto_create`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from touchstone.reference_impl.broker.control import kraft_topics, zookeeper_topics
from touchstone.reference_impl.broker.control.mutation_quotas import Permit, unbounded
from touchstone.reference_impl.broker.control.topic_outcomes import Growth, NewTopic, Outcome

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


class TopicRules(Protocol):
    """What `kraft_topics` and `zookeeper_topics` both answer."""

    def create_topics(
        self,
        broker: Broker,
        topics: Sequence[NewTopic],
        *,
        timeout: int,
        validate_only: bool,
        client: str,
        permit: Permit,
    ) -> list[Outcome]: ...

    def delete_topics(
        self,
        broker: Broker,
        rows: Sequence[tuple[str | None, bytes]],
        *,
        timeout: int,
        version: int,
        permit: Permit,
    ) -> list[Outcome]: ...

    def create_partitions(
        self,
        broker: Broker,
        rows: Sequence[Growth],
        *,
        timeout: int,
        validate_only: bool,
        permit: Permit,
    ) -> list[Outcome]: ...


class TopicChanges:
    """Creates, grows and deletes topics by the rules of the release's controller."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._rules: TopicRules = kraft_topics if broker.persona.kraft else zookeeper_topics

    def create_topics(
        self,
        topics: Sequence[NewTopic],
        *,
        timeout: int,
        validate_only: bool,
        client: str,
        permit: Permit = unbounded,
    ) -> list[Outcome]:
        """`client` is whose it is; `timeout` is in ms; `permit` is asked for each topic that could
        be made (`mutation_quotas`).
        """
        return self._rules.create_topics(
            self._broker,
            topics,
            timeout=timeout,
            validate_only=validate_only,
            client=client,
            permit=permit,
        )

    def delete_topics(
        self,
        rows: Sequence[tuple[str | None, bytes]],
        *,
        timeout: int,
        version: int,
        permit: Permit = unbounded,
    ) -> list[Outcome]:
        """Topics by name or by id."""
        return self._rules.delete_topics(
            self._broker, rows, timeout=timeout, version=version, permit=permit
        )

    def create_partitions(
        self,
        asked: Sequence[Growth],
        *,
        timeout: int,
        validate_only: bool,
        permit: Permit = unbounded,
    ) -> list[Outcome]:
        return self._rules.create_partitions(
            self._broker, asked, timeout=timeout, validate_only=validate_only, permit=permit
        )
