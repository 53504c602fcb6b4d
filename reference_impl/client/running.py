"""How whoever runs a flow goes on with it: the half of both clients that knows no sockets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .flow import Ask, ClientError, Failed, Flow, Inbox, NetworkPoll, Outcome, Pause


def resume(
    flow: Flow[Any], given: Sequence[Outcome] | None, inbox: Inbox | None = None
) -> list[Ask] | Pause | NetworkPoll:
    """What the flow wants next, after these outcomes of its last wish (None: it begins).

    Nobody who is not believed gets anywhere by trying again, so an outcome of that kind, here or in
    the inbox of a poll, is raised where the flow waits: the call fails at once, as Java's does
    (`Metadata.fatalError`). A flow may be ended there at any time, so its core stays usable.
    """
    refused = refusal(given or ()) or (_raised_once(inbox) if inbox else None)
    if refused is not None:
        return flow.throw(refused)
    return next(flow) if given is None else flow.send(list(given))


def refusal(outcomes: Iterable[Outcome]) -> Exception | None:
    """Why we, or the broker, are not believed, if that is what came of one of these."""
    for each in outcomes:
        if isinstance(each, Failed) and each.error is not None:
            return each.error
    return None


@contextmanager
def put_off(has_something: bool) -> Iterator[None]:
    """Leave it to the next call to fail, where this one has something to return."""
    try:
        yield
    except ClientError:
        if not has_something:
            raise


def _raised_once(inbox: Inbox) -> Exception | None:
    """The outcomes stay, for their owner to count, but the next call does not fail for them."""
    found = refusal(inbox)
    if found is not None:
        kept = [replace(each, error=None) if isinstance(each, Failed) else each for each in inbox]
        inbox.clear()
        inbox.extend(kept)
    return found
