"""How many cases of a campaign a second: the door for `touchstone bench fuzz`.

    python -m touchstone.fuzz.speed '{"campaign": "valid", "seconds": 5, "address": "HOST:PORT"}'

Without an address the reference broker runs in process. Also: "release", "fresh" (a connection for
each case), "coverage", "jobs", "seed", "warm" (cases that do not count). Prints the rate and
nothing of what was found.
"""

from __future__ import annotations

import json
import sys

from touchstone.fuzz.campaign import campaigns
from touchstone.fuzz.generator import Pair, harmless, pairs_of
from touchstone.fuzz.jobs import play_jobs
from touchstone.fuzz.runner import Link, require_loopback
from touchstone.fuzz.share import Share, Where
from touchstone.harness.model import advertised

API_VERSIONS = 18


def pairs_on(link: Link, release: str) -> list[Pair]:
    """What a broker serves and what does it no harm. Raises ConnectionError."""
    answer = link.ask(API_VERSIONS, 0, {})
    if answer is None:
        raise ConnectionError("the target does not say what it serves")
    listed = {
        row["api_key"]: (row["min_version"], row["max_version"]) for row in answer["api_keys"]
    }
    return harmless(pairs_of({key: advertised.served(release, key, listed) for key in listed}))


def main(asked: str) -> None:
    wanted = json.loads(asked)
    address = None
    if wanted.get("address"):
        host, _, port = wanted["address"].rpartition(":")
        require_loopback(host, is_mine=False)
        address = host, int(port)
    where = Where(address, wanted.get("release", "4.3"), fresh=wanted.get("fresh", False))
    campaign = campaigns()[wanted["campaign"]]
    with where.link() as link:
        pairs = pairs_on(link, where.release)
    share = Share(
        campaign,
        campaign.own(pairs),
        where,
        wanted.get("seed", 1),
        None,
        wanted["seconds"],
        coverage=wanted.get("coverage", False),
        warm=wanted.get("warm", 0),
    )
    played = play_jobs(share, wanted.get("jobs", 1), str)
    if played.gone:
        raise ConnectionError(played.gone)
    print(played.rate)


if __name__ == "__main__":
    main(sys.argv[1])
