"""The other brokers of a target's cluster, asked only to prepare it.

Cases go to one broker. What they need may have to be asked of another: the controller creates and
deletes topics where there is ZooKeeper, a coordinator says whether groups are served. Topics are
led by the broker that the cases go to, where the cluster's own list says which one that is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from touchstone.fuzz.runner import Address, Link, is_loopback, require_loopback, resolved
from touchstone.reference_impl.wire.schema import Struct

METADATA, FIND_COORDINATOR = 3, 10


def listing(link: Link, *topics: str) -> tuple[dict[int, Address], Struct | None]:
    """(where the cluster says that its brokers are, by id, all that it says of these topics)"""
    answer = link.ask(METADATA, 1, {"topics": [{"name": name} for name in topics]})
    rows = answer["brokers"] if answer else ()
    return {row["node_id"]: (row["host"], row["port"]) for row in rows}, answer


def _others(link: Link, *topics: str) -> tuple[dict[int, Address], Struct | None]:
    """The same; no address where there is one broker: it is at the link, whatever it says."""
    where, answer = listing(link, *topics)
    return (where if len(where) > 1 else {}), answer


def own_id(link: Link) -> int | None:
    """The id of the broker at the link; None where no listed address is the link's."""
    known, _ = listing(link)
    if len(known) == 1:
        return next(iter(known))
    mine = resolved(link.address)
    return next((number for number, at in known.items() if resolved(at) == mine), None)


@contextlib.contextmanager
def at(link: Link, address: Address | None) -> Iterator[Link]:
    """A link to that broker: the present one, if that is the same broker or its address is unknown.

    NotLoopback for an address on another machine, unless the link's own was claimed to be.
    """
    if address is None or resolved(address) in (None, resolved(link.address)):
        yield link
    else:
        require_loopback(address[0], is_mine=not is_loopback(link.address[0]))
        with Link(*address, timeout_s=link.timeout_s) as other:
            yield other


@contextlib.contextmanager
def controller(link: Link) -> Iterator[Link]:
    """A link to the broker that is the controller, or that takes requests to it (KRaft)."""
    where, answer = _others(link)
    with at(link, where.get(answer["controller_id"]) if answer else None) as found:
        yield found


@contextlib.contextmanager
def leader(link: Link, topic: str) -> Iterator[Link]:
    """A link to the broker that leads partition 0 of the topic."""
    where, answer = _others(link, topic)
    rows = [row for each in answer["topics"] for row in each["partitions"]] if answer else []
    first = next((row["leader_id"] for row in rows if row["partition_index"] == 0), -1)
    with at(link, where.get(first)) as found:
        yield found


@contextlib.contextmanager
def coordinator(link: Link, group: str) -> Iterator[Link]:
    """A link to the coordinator of the group; the first question for one makes its topic."""
    answer = link.ask(FIND_COORDINATOR, 1, {"key": group, "key_type": 0})
    where, _ = _others(link)
    number = answer["node_id"] if answer and not answer["error_code"] else -1
    with at(link, where.get(number)) as found:
        yield found
