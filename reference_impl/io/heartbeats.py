"""A thread that keeps a member in its group while the application works between two polls.

It runs the core's `keep_alive` whenever that is due and nobody else runs a flow of the client; a
call of the consumer beats by itself. It calls no listener and no callback: those are the
application's and run in its own calls (CONS-42). What it cannot mend the next poll raises.

Source: AbstractCoordinator.HeartbeatThread at 4.3.1; clause CONS-44, KIP-62.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, Protocol

from touchstone.reference_impl.client.flow import Flow
from touchstone.reference_impl.client.security.errors import AuthenticationException

_LEAST_S, _MOST_S = 0.02, 1.0


class FlowRunner(Protocol):
    """`io.client.Client`, as much as is needed here."""

    lock: threading.RLock

    @staticmethod
    def now() -> int: ...

    def run(self, flow: Any) -> Any: ...


class KeptAlive(Protocol):
    """A core that is a member: a `GroupConsumer` or a `ShareConsumer`."""

    group: str

    @property
    def keep_alive_at(self) -> int | None: ...

    def keep_alive(self) -> Flow[None]: ...


class Heartbeats:
    def __init__(self, client: FlowRunner, core: KeptAlive):
        self._client, self._core = client, core
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            name = f"touchstone-heartbeat-{self._core.group}"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Return when the thread has ended."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._pause_s()):
            if not self._client.lock.acquire(blocking=False):
                continue
            try:
                if not self._over.is_set():
                    with suppress(AuthenticationException):  # the next call meets it as well
                        self._client.run(self._core.keep_alive())
            except OSError:
                return  # the client is closed
            finally:
                self._client.lock.release()

    def _pause_s(self) -> float:
        """Until the next heartbeat is due, or somebody has to look whether poll is overdue."""
        due = self._core.keep_alive_at
        wait = _MOST_S if due is None else (due - self._client.now()) / 1000
        return min(_MOST_S, max(_LEAST_S, wait))
