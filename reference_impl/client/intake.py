"""From an application's record to a batch: what `send` does once a topic is known (PROD-13).

Key and value are serialized, a partition is chosen, headers are frozen, the size is checked, and
the record joins the last batch of its partition or a new one. Nothing here waits.

Source: KafkaProducer.doSend at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.reference_impl.wire.errors import ErrorCode

from .accumulator import Accumulator
from .flow import KafkaError
from .interceptors import ProducerRecord
from .metadata import Topic, View
from .partitioner import Choices, Partitioner, Sticky, for_key, worth_weighing
from .producer_batch import Delivery, upper_bound
from .serializers import serialize, serializer_of


@dataclass(frozen=True, slots=True)
class Rules:
    """How records become bytes and find their partition; `configs` is what serializers are told."""

    max_request_size: int = 1 << 20
    key_serializer: Any = None
    value_serializer: Any = None
    partitioner: Any = None
    ignore_keys: bool = False
    adaptive: bool = True
    availability_timeout_ms: int = 0
    configs: Mapping[str, Any] | None = None


class Intake:
    def __init__(
        self,
        view: View,
        accumulator: Accumulator,
        rules: Rules,
        randrange: Callable[[int], int],
    ):
        self.view = view
        self.accumulator = accumulator
        self.rules = rules
        accumulator.availability_timeout_ms = rules.availability_timeout_ms
        own = rules.partitioner
        self.partitioner: Partitioner | None = own() if isinstance(own, type) else own
        self.for_key = for_key
        self.filled = 0  # batches, since somebody looked
        self.woke = False  # a batch is full or new, which wakes Java's sender (PROD-26)
        configs = rules.configs or {}
        self._key_serializer = serializer_of(rules.key_serializer, configs, is_key=True)
        self._value_serializer = serializer_of(rules.value_serializer, configs, is_key=False)
        plain = (None, bytes)
        self._plain = rules.key_serializer in plain and rules.value_serializer in plain
        self._sticky = Sticky(randrange, accumulator.batch_size)
        self._most = min(rules.max_request_size, accumulator.memory.total)
        self._choices: dict[str, tuple[int, Choices]] = {}

    def knows(self, record: ProducerRecord) -> bool:
        """Whether the topic is known, and has the partition that the record asks for."""
        known = self.view.topics.get(record.topic)
        if known is None or not known.partitions:
            return False
        return record.partition is None or record.partition in known.partitions

    def take(self, record: ProducerRecord, delivery: Delivery) -> bool:
        """Queue it, or fail it for its size; False where there is no memory for it.

        Raises SerializationError, or what a serializer or partitioner raises.
        """
        topic = record.topic
        key, value = record.key, record.value
        if not (self._plain and _is_bytes(key) and _is_bytes(value)):
            key = serialize(self._key_serializer, topic, record.headers, key, "key")
            value = serialize(self._value_serializer, topic, record.headers, value, "value")
        known = self.view.topics[topic]
        partition = self._partition(record, key, value, known)
        choices = None
        if partition is None:
            choices = self.choices(known)
            partition = self._sticky.current(topic, choices)
        delivery.partition, delivery.key, delivery.value = partition, key, value
        delivery.headers = tuple(record.headers)
        bound = upper_bound(key, value, delivery.headers)
        if bound > self._most:
            delivery.fail(self._too_large(bound, topic))
            return True
        appended = self.accumulator.append((topic, partition), delivery, self.view.now, bound)
        if appended is None:
            return False
        if appended.new_batch or appended.full:
            self.woke = True
            # once a batch: that the one before is full shows when the next one begins
            self.filled += appended.new_batch and appended.full
        if choices is not None:
            among = choices
            self._sticky.took(
                topic,
                appended.taken,
                among,
                lambda: self._loads(topic, among),
                lambda: self.accumulator.last_is_full((topic, delivery.partition or 0)),
            )
        return True

    def choices(self, known: Topic) -> Choices:
        version, found = self._choices.get(known.name, (-1, None))
        if found is None or version != self.view.version:
            parts = known.partitions
            led = [index for index, part in parts.items() if part.leader >= 0]
            found = Choices(list(parts), led)
            self._choices[known.name] = (self.view.version, found)
        return found

    def _partition(
        self, record: ProducerRecord, key: bytes | None, value: bytes | None, known: Topic
    ) -> int | None:
        """The partition of a record, None where the one in favour takes it."""
        if record.partition is not None:
            return record.partition
        if self.partitioner is not None:
            found = self.partitioner.partition(
                record.topic, record.key, key, record.value, value, self.choices(known)
            )
            if found < 0:
                raise ValueError(
                    f"The partitioner generated an invalid partition number: {found}."
                    " Partition number should always be non-negative."
                )
            return found
        if key is not None and not self.rules.ignore_keys:
            return self.for_key(key, len(known.partitions))
        return None

    def _loads(self, topic: str, choices: Choices) -> Sequence[tuple[int, int]] | None:
        if not self.rules.adaptive:
            return None
        loads = self.accumulator.loads(self.view, topic, choices.available)
        return loads if worth_weighing(loads, len(choices.all)) else None

    def _too_large(self, size: int, topic: str) -> KafkaError:
        """KafkaProducer.ensureValidRecordSize (PROD-23)."""
        most = self.rules.max_request_size
        why = f"The message is {size} bytes when serialized which is larger than"
        if size > most:
            why += f" {most}, which is the value of the max.request.size configuration."
        else:
            why += (
                " the total memory buffer you have configured with the buffer.memory configuration."
            )
        return KafkaError(ErrorCode.MESSAGE_TOO_LARGE, why, topic)


def _is_bytes(value: Any) -> bool:
    return value is None or type(value) is bytes
