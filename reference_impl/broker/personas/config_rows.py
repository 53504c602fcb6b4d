"""How a table of configs is written, and what one release makes of it.

A row says name, type and default, then what varies:

    message.max.bytes INT 1000012 2.8=1048588 dynamic=2.2+
    advertised.port INT - until=2.8

"-" is no default (null), '""' the empty text; `2.8=X` is the default from 2.8 on; `type@4.3=LIST`
the type from 4.3 on; `since`/`until` bound the releases that have the config; `dynamic` names the
releases that can change it without a restart (`2.2+` or `2.2..3.9`; elsewhere it is read-only);
`sensitive` hides its value; `synonym=NAME` is the broker config a topic config falls back to;
`rule@REL=TEXT` what a value must keep from that release on, spaces written as "_". A line that
begins with two spaces continues the row above it.
"""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.reference_impl.broker.personas.releases import RELEASES

# ConfigDef.Type as DescribeConfigs v3 numbers it (KIP-569).
TYPE_CODES = {
    "BOOLEAN": 1,
    "STRING": 2,
    "INT": 3,
    "SHORT": 4,
    "LONG": 5,
    "DOUBLE": 6,
    "LIST": 7,
    "CLASS": 8,
    "PASSWORD": 9,
}


@dataclass(frozen=True, slots=True)
class ConfigDefinition:
    name: str
    type: str
    default: str | None
    dynamic: bool = False
    sensitive: bool = False
    synonym: str | None = None
    rule: str | None = None

    @property
    def number(self) -> int:
        """The default of a whole-number setting that has one."""
        if self.default is None:
            raise ValueError(f"{self.name} has no default")
        return int(self.default)

    @property
    def type_code(self) -> int:
        return TYPE_CODES[self.type]


def read(table: str, release: str) -> dict[str, ConfigDefinition]:
    """The configs that `release` has, by name, in the table's order (which is by name)."""
    rows = table.strip("\n").replace("\n  ", " ").splitlines()
    found = (_definition(row.split(), RELEASES.index(release)) for row in rows)
    return {config.name: config for config in found if config}


def _definition(words: list[str], at: int) -> ConfigDefinition | None:
    name, kind, default, *rest = words
    values: dict[str, str] = {"type": kind, "default": default}
    marks: dict[str, str] = {}
    for word in rest:
        key, _, value = word.partition("=")
        what, _, since = key.rpartition("@")
        if since in RELEASES:
            if at >= RELEASES.index(since):
                values[what or "default"] = value
        else:
            marks[key] = value
    if at < _place(marks.get("since"), 0) or at > _place(marks.get("until"), len(RELEASES)):
        return None
    return ConfigDefinition(
        name,
        values["type"],
        {"-": None, '""': ""}.get(values["default"], values["default"]),
        dynamic="dynamic" in marks and _within(marks["dynamic"], at),
        sensitive="sensitive" in marks,
        synonym=marks.get("synonym"),
        rule=values["rule"].replace("_", " ") if values.get("rule", "-") != "-" else None,
    )


def _place(release: str | None, otherwise: int) -> int:
    return RELEASES.index(release) if release else otherwise


def _within(span: str, at: int) -> bool:
    if span.endswith("+"):
        return RELEASES.index(span[:-1]) <= at
    low, _, high = span.partition("..")
    return RELEASES.index(low) <= at <= RELEASES.index(high or low)
