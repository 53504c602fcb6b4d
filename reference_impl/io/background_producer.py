"""A producer whose requests are made by a thread of its own, as Java's are (PROD-09).

`send` returns at once, or when there is metadata and memory; linger, retries and timeouts go on
whatever the application does meanwhile. Callbacks and interceptors are called by that thread and
hold nothing up but it. Everything that decides is the same core that runs without a thread: one
lock is held while it decides, and none while sockets are waited for or callbacks run.

Any thread may call any method. There is no transactional one: its calls wait for answers anyhow.

Sources: KafkaProducer, Sender, ProducerBatch.completeFutureAndFireCallbacks at 4.3.1.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.reference_impl.client.configs.definitions import NEWEST
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.interceptors import acknowledge
from touchstone.reference_impl.client.metrics.client_metrics import MetricName
from touchstone.reference_impl.client.producer import Delivery, SerializationError
from touchstone.reference_impl.io.client import Client

_IDLE_MS = 60_000  # no look is later than this; whoever has something to do wakes the thread
_FOREVER_MS = 1 << 31


class TimedOut(ClientError):
    """Somebody did not want to wait any longer; the record may still be delivered."""


class BackgroundProducer:
    """`config` and `options` are those of `Client.producer`; times are in ms."""

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        config: Mapping[str, Any] | None = None,
        *,
        client_id: str = "touchstone",
        **options: Any,
    ) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._client = Client(
            bootstrap, config, client_id=client_id, release=options.get("release", NEWEST)
        )
        self._client.guard = self._lock
        try:
            self.core = self._client.producer(config, **options).core
        except Exception:
            self._client.close()
            raise
        self._untold: deque[Delivery] = deque()  # done, and their callbacks not called yet
        self._calling: Delivery | None = None
        self.core._tell = self._untold.extend
        self._notified = False
        self._close_ms: int | None = None
        self._thread = threading.Thread(
            target=self._run, name=f"kafka-producer-network-thread | {client_id}", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> BackgroundProducer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, topic: str, value: Any, **options: Any) -> Delivery:
        """Queue a record, as `Producer.send`; waits for metadata and memory (max.block.ms)."""
        with self._changed:
            self._client.view.now = self._client.now()
            delivery: Delivery = self.core.send(topic, value, **options)
            if self.core.wakes_sender() or self.core.waits:
                self._wake()
            if threading.current_thread() is not self._thread:
                self._changed.wait_for(lambda: not self.core.in_line(delivery))
            if isinstance(delivery.error, SerializationError):
                raise delivery.error
            return delivery

    def wait_for(self, delivery: Delivery, timeout_ms: int | None = None) -> Delivery:
        """The record when it is done and its callback has returned (PROD-47).

        Raises its error, or TimedOut.
        """
        seconds = None if timeout_ms is None else timeout_ms / 1000
        with self._changed:
            if not self._changed.wait_for(lambda: self._told(delivery), seconds):
                raise TimedOut(f"{delivery.topic}: not done after {timeout_ms} ms")
        return delivery.result()

    def metrics(self) -> Mapping[MetricName, float]:
        """Java's metrics of this producer, by group, name and tags."""
        with self._lock:
            return self._client.metrics()

    def flush(self) -> None:
        """Until every record that was sent is done and its callback has returned."""
        with self._changed:
            self.core.urge(True)
            self._wake()
            self._changed.wait_for(lambda: self._idle() or not self._thread.is_alive())
            self.core.urge(False)

    def close(self, timeout_ms: int = _FOREVER_MS) -> None:
        """Deliver what is queued for at most so long and fail the rest; 0 from a callback."""
        own = threading.current_thread() is self._thread
        with self._lock:
            self._close_ms = 0 if own else timeout_ms
            self._wake()
        if not own:
            self._thread.join()

    # --- the thread ----------------------------------------------------------------------------

    def _wake(self) -> None:
        if not self._notified:
            self._notified = True
            self._client.interrupt()

    def _run(self) -> None:
        while self._close_ms is None:
            with self._lock:
                self._notified = False
                self._client.view.now = now = self._client.now()
                until = self.core.next_wake() if self.core.pending else now + _IDLE_MS
            self._client.run(self.core.step(until))
            self._call_back()
        self._client.run(self.core.close(self._close_ms))
        self._call_back()
        self._client.close()

    def _call_back(self) -> None:
        """Call what was put off; then whoever waits may look."""
        while self._untold:
            with self._lock:
                self._calling = self._untold.popleft()
            acknowledge(self.core.interceptors, self._calling)
            self._calling = None
        with self._changed:
            self._changed.notify_all()

    def _told(self, delivery: Delivery) -> bool:
        waiting = (*self._untold, self._calling) if delivery.done else ()
        return delivery.done and all(each is not delivery for each in waiting)

    def _idle(self) -> bool:
        return not (self.core.pending or self._untold or self._calling)
