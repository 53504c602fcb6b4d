"""Plans: which campaigns run one after the other, and for how many seconds each.

One declarative file each beside this one; the frozen corpus is played once and needs no seconds.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from touchstone.fuzz.campaign import BadCampaign, Campaign, campaigns

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Plan:
    name: str
    sentence: str
    seconds: dict[str, float]  # by name of campaign, in the order in which they run


def load(path: Path) -> Plan:
    """Read one plan; raises BadCampaign for a campaign that does not exist."""
    fields = tomllib.loads(path.read_text())
    unknown = fields["seconds"].keys() - campaigns().keys()
    if unknown:
        raise BadCampaign(f"{path}: seconds: no campaign {', '.join(sorted(unknown))}")
    return Plan(path.stem, fields["sentence"], fields["seconds"])


def plans() -> dict[str, Plan]:
    return {path.stem: load(path) for path in sorted(FOLDER.glob("*.toml"))}


def chosen(names: tuple[str, ...]) -> list[tuple[Campaign, float | None]]:
    """The campaigns of these names, and of plans of these names, with the seconds that a plan gives
    each; without a name all campaigns. KeyError for a name that is neither.
    """
    there, planned = campaigns(), plans()
    found: list[tuple[Campaign, float | None]] = []
    for name in names or there:
        if name in planned:
            found += [(there[one], seconds) for one, seconds in planned[name].seconds.items()]
        else:
            found.append((there[name], None))
    return found
