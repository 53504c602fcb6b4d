"""Markdown from values: tables, code, words that must not be read as markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a cell may contain Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell(each) for each in line) + " |" for line in lines)


def code(text: str) -> str:
    """Text in a code span; empty text stays empty."""
    return f"`{text}`" if text else ""


def fenced(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def plain(text: str) -> str:
    """Text that is shown as it stands: nothing in it is HTML or emphasis."""
    return html.escape(text, quote=False).replace("*", "\\*").replace("_", "\\_")


def page(*parts: str) -> str:
    """A page of these parts, with an empty line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"
