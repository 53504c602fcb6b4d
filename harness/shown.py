"""How text that a target sent is shown: on a terminal, in HTML, in Markdown. One function for each.

A broker chooses its messages, and names of topics, hosts, racks and groups. Kept raw (rows and
bundles have them as they came), they must not move a cursor, begin a line or a heading, or load a
picture where somebody reads them. What is escaped once stays as it is when it is escaped again, so
each writer of an output may do it, whoever else has.
"""

from __future__ import annotations

import html as _html
import re
from typing import Any

LATER = "  | "  # how the second line of a text and those behind it begin
_MARKS = re.compile(r"([\\`*\[\]<|~]|(?<!\w)_|_(?!\w))")
# GitHub makes links of addresses, and notifies who is mentioned; a comment within ends the word.
_LINKS = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[a-z])|(?<=(?<!\w)@)(?=\w)|(?<=#)(?=\d)", re.IGNORECASE
)
_BLOCK = re.compile(r"^(\s*)([#>+=-]|\d+(?=[.)]))")


def line(text: str) -> str:
    """The text as one line of a terminal: what is no printable character becomes its escape, so do
    the beginnings of what GitHub takes for a command.
    """
    if not text.isprintable():
        text = "".join(map(_printable, text))
    if text.lstrip().startswith("::"):
        text = text.replace("::", ":\\:", 1)
    return text.replace("##[", "##\\[")


def block(text: str) -> str:
    """The same of a text whose lines are worth seeing: each but the first is marked as another's.

    One that is marked already is not marked again.
    """
    first, *rest = text.split("\n")
    marked = (line(one.removeprefix(LATER)) for one in rest)
    return "\n".join([line(first), *(f"{LATER}{one}" for one in marked)])


def html(text: str) -> str:
    """The text as one line of HTML, in an element or an attribute."""
    return _html.escape(line(text))


def markdown(text: str) -> str:
    """The text as Markdown that shows it as it is: on a line, in a list, in a table."""
    text = _MARKS.sub(r"\\\1", " ".join(line(text).split()))
    text = _BLOCK.sub(lambda at: f"{at[1]}{_ended(at[2])}", text.replace("&", "&amp;"))
    return _LINKS.sub("<!-- -->", text)


def code(text: str) -> str:
    """The text as code within a line of Markdown, outside tables."""
    shown = line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if fence != "`" else ""
    return f"{fence}{space}{shown}{space}{fence}"


def listing(lines: list[str]) -> str:
    """These lines as a block of text in Markdown."""
    shown = [line(one) for one in lines]
    longest = max((len(ticks) for one in shown for ticks in re.findall("`+", one)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *shown, fence])


def everything(value: Any) -> Any:
    """The same structure with each of its texts, names included, as one line."""
    if isinstance(value, str):
        return line(value)
    if isinstance(value, dict):
        return {everything(name): everything(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [everything(one) for one in value]
    return value


def _printable(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")


def _ended(mark: str) -> str:
    """What would begin a heading, a list or a quote: a number is ended by what stands behind it."""
    return f"{mark}<!-- -->" if mark.isdigit() else f"\\{mark}"
