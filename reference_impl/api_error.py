"""An API error is raised with the code that answers the request.

Coordinators, sessions and controllers all raise it, so that a handler need not know which of them
refused; what an answer makes of a refusal is the handler's.
"""

from __future__ import annotations


class ApiError(Exception):
    """`code` and `message` go into the answer as they are; a null message is None."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = int(code)
        self.message = message
