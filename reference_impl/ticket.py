"""A ticket stands for an answer that a coordinator gives now or later.

Coordinators give them instead of calling back, so that who asked decides how to wait: a handler
makes a `Wait` of one, another coordinator hands the answer on with `then`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

A = TypeVar("A")  # what a ticket is for


class Ticket(Generic[A]):
    """An answer that is there now or will be; `watch` is called once when it comes."""

    __slots__ = ("answer", "watch")

    def __init__(self, answer: A | None = None) -> None:
        self.answer = answer
        self.watch: Callable[[], None] | None = None

    def then(self, call: Callable[[A], None]) -> None:
        """Hand the answer on, now or once it comes."""

        def come() -> None:
            if self.answer is not None:
                call(self.answer)

        self.watch = come
        come()

    def give(self, answer: A) -> None:
        if self.answer is None:
            self.answer = answer
            if self.watch is not None:
                self.watch()
