"""A run as a badge: an SVG of our own, and the JSON that a badge server's `endpoint` reads. Pure.

A badge says what was judged and how it came out, and never more: a run that judged nothing is grey,
one that the harness broke is not green, and cases that nobody could judge are not counted as good.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.harness.judgement import wording
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES
from touchstone.harness.results.summary import Report
from touchstone.harness.shown import html as escape

GREEN, YELLOW, RED, GREY = "#2e7d32", "#a66f00", "#b3261e", "#5f6368"
LABEL_COLOUR = "#3c4043"
LETTER, PADDING, HEIGHT = 6.6, 12, 20  # pixels; the letter is that of the text at 11 pixels
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" \
aria-label="{title}">
<title>{title}</title>
<clipPath id="r"><rect width="{width}" height="{height}" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="{height}" fill="{label_colour}"/>
<rect x="{left}" width="{right}" height="{height}" fill="{colour}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{label_at}" y="14" textLength="{label_length}">{label}</text>
<text x="{message_at}" y="14" textLength="{message_length}">{message}</text>
</g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class Badge:
    """Two words and a colour."""

    label: str
    message: str
    colour: str


def of(reports: Sequence[Report]) -> Badge:
    """What a run came to, over all its targets."""
    rows = [row for report in reports for row in report.rows]
    counted = Counter(row["verdict"] for row in rows)
    judged = counted[CONFORMS] + counted[DIVERGES]
    releases = {report.header["release"] for report in reports}
    label = f"Kafka {releases.pop()}" if len(releases) == 1 and None not in releases else "Kafka"
    if counted[BROKEN]:
        return Badge(label, "harness broke", GREY)
    if not judged:
        return Badge(label, "nothing judged", GREY)
    fresh, light = (
        sum(map(len, found))
        for found in ([one.fresh for one in reports], [one.light for one in reports])
    )
    told = f"{counted[CONFORMS]:,} of {judged:,} conform"
    cut = any(report.cut for report in reports)
    told = f"incomplete, {told}" if cut else told
    if fresh or light:
        words = wording.counted(fresh, "cause") if fresh else wording.counted(light, "light cause")
        return Badge(label, f"{told}, {words}", RED)
    known = counted[DIVERGES] or any(report.surprises for report in reports)
    return Badge(label, told, YELLOW if known or cut else GREEN)


def svg(badge: Badge) -> str:
    """The badge as a picture that needs no font and no network."""
    label_length, message_length = (len(text) * LETTER for text in (badge.label, badge.message))
    left, right = label_length + PADDING, message_length + PADDING
    numbers = {
        "width": left + right, "height": HEIGHT, "left": left, "right": right,
        "label_at": left / 2, "message_at": left + right / 2,
        "label_length": label_length, "message_length": message_length,
    }  # fmt: skip
    return _SVG.format(
        **{name: f"{number:g}" for name, number in numbers.items()},
        title=escape(f"{badge.label}: {badge.message}"), label=escape(badge.label),
        message=escape(badge.message), colour=badge.colour, label_colour=LABEL_COLOUR,
    )  # fmt: skip


def endpoint(badge: Badge) -> str:
    """The badge as JSON for a badge server (schemaVersion 1 of its `endpoint`)."""
    told = {
        "schemaVersion": 1, "label": badge.label, "message": badge.message,
        "color": badge.colour.removeprefix("#"),
    }  # fmt: skip
    return json.dumps(told) + "\n"
