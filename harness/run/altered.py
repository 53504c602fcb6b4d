"""What a case altered of a cluster's own settings, and the requests that put it back.

Somebody else's brokers keep the settings that they had. What a case left behind is found by looking
before and after, so that it does not matter how it was altered: legacy AlterConfigs replaces all
settings of a broker, also those that nobody named. A secret value is told by nobody, so one that
is gone stays gone, and is named.

Pure. Sources: ConfigResource.Type, DescribeConfigsResponse.ConfigSource at 1.1.0 to 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from touchstone.harness.model.scenario import Ask, Scenario, Send, asked
from touchstone.reference_impl.wire.schema import Struct

BROKER, LOGGER = 4, 8
ALTERING = ("AlterConfigs", "IncrementalAlterConfigs")
# Where a setting comes from: one broker's own, the default of all brokers, a logger's level.
OWN_SOURCES = frozenset({2, 3, 6})
SET, DELETE = 0, 1
SECRET = "(secret)"

Resource = tuple[int, str]  # kind and name
State = Mapping[Resource, Mapping[str, str]]


def resources(scenario: Scenario) -> list[Resource]:
    """The brokers whose settings or log levels a scenario alters, in its words; "" is all."""
    rows = [
        row
        for step in map(asked, scenario.steps)
        if isinstance(step, Ask | Send) and step.api in ALTERING
        for row in step.body.get("resources") or ()
    ]
    found = {(row.get("resource_type"), str(row.get("resource_name"))) for row in rows}
    return sorted(one for one in found if one[0] in (BROKER, LOGGER))


def own(answer: Any) -> State:
    """The settings that were set on these resources themselves, as DescribeConfigs tells them."""
    return {
        (row["resource_type"], row["resource_name"]): {
            one["name"]: SECRET if one["is_sensitive"] else one["value"]
            for one in row["configs"] or ()
            if one.get("config_source") in _sources(row)
        }
        for row in answer["results"]
        if not row["error_code"]
    }


def _sources(row: Mapping[str, Any]) -> frozenset[int]:
    """A named broker inherits the defaults of all, which are not its own."""
    inherits = row["resource_type"] == BROKER and row["resource_name"] != ""
    return OWN_SOURCES - {3} if inherits else OWN_SOURCES


def changes(before: State, after: State) -> dict[Resource, dict[str, str | None]]:
    """Resource -> the settings that bring it back: their values, None where there was none."""
    found: dict[Resource, dict[str, str | None]] = {}
    for resource, now in after.items():
        was = before.get(resource)
        if was is None:
            continue
        back: dict[str, str | None] = {n: v for n, v in was.items() if now.get(n) != v}
        if resource[0] != LOGGER:  # a logger that is new was loaded meanwhile, and not by a case
            back |= dict.fromkeys(name for name in now if name not in was)
        if back:
            found[resource] = back
    return found


def lost(back: Mapping[str, str | None]) -> list[str]:
    """Settings that cannot be put back, for nobody can read what they were."""
    return sorted(name for name, value in back.items() if value == SECRET)


def increments(resource: Resource, back: Mapping[str, str | None]) -> Struct:
    """A body of IncrementalAlterConfigs."""
    rows = [
        {"name": name, "config_operation": DELETE if value is None else SET, "value": value}
        for name, value in sorted(back.items())
        if value != SECRET
    ]
    return _body(resource, rows)


def whole(resource: Resource, was: Mapping[str, str]) -> Struct:
    """A body of AlterConfigs, which replaces everything."""
    rows = [{"name": n, "value": value} for n, value in sorted(was.items()) if value != SECRET]
    return _body(resource, rows)


def _body(resource: Resource, rows: Iterable[Mapping[str, Any]]) -> Struct:
    kind, name = resource
    one = {"resource_type": kind, "resource_name": name, "configs": list(rows)}
    return {"resources": [one], "validate_only": False}
