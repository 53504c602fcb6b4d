"""What an admin call brings: a value or an error for each item; how answers are read into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from touchstone.reference_impl.wire.schema import Struct

from ..flow import ClientError, KafkaError, TopicPartition, named

K = TypeVar("K")
V = TypeVar("V")


class Results(dict[K, V | ClientError]):
    """Item -> its value or its error, in the order of the items.

    The error is a KafkaError (TimedOut where time was up with every try answered by an error), or
    Unreachable where nobody answered in time.
    """

    def all(self) -> dict[K, V]:
        """Every value; raises the first error there is."""
        for error in self.errors().values():
            raise error
        return self.succeeded()

    def succeeded(self) -> dict[K, V]:
        return {key: each for key, each in self.items() if not isinstance(each, ClientError)}

    def errors(self) -> dict[K, ClientError]:
        return {key: each for key, each in self.items() if isinstance(each, ClientError)}


def error_in(row: Struct, about: object = "") -> KafkaError | None:
    """The error of a row or of a whole answer, if it has one."""
    code = row.get("error_code", 0)
    return KafkaError(code, row.get("error_message"), str(about)) if code else None


def picked(made: Callable[..., V], row: Struct, **own: Any) -> V:
    """A NamedTuple from the fields of its names; older versions leave out those with defaults."""
    names: tuple[str, ...] = made._fields  # type: ignore[attr-defined]
    return made(**{name: row[name] for name in names if name in row} | own)


def by_topic(places: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Topic -> indexes of partitions, both in the order given."""
    topics: dict[str, list[int]] = {}
    for topic, index in places:
        topics.setdefault(topic, []).append(index)
    return topics


def partition_rows(
    topics: Iterable[Struct],
    *,
    name: str = "name",
    parts: str = "partitions",
    index: str = "partition_index",
) -> Iterator[tuple[TopicPartition, Struct]]:
    """Each partition's row of an answer that lists them by topic."""
    for topic in topics:
        for part in topic[parts]:
            yield (topic[name], part[index]), part


def done_or_error(rows: Iterable[tuple[TopicPartition, Struct]]) -> Mapping[TopicPartition, Any]:
    """None for each partition whose row has no error."""
    return {place: error_in(row, named(place)) for place, row in rows}


def everywhere(error: KafkaError, keys: Iterable[K]) -> dict[K, KafkaError]:
    """An error of the whole answer is the error of each item."""
    return dict.fromkeys(keys, error)
