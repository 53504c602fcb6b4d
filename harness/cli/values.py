"""Kinds of values that options have, each checked before its command begins any work."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click

from touchstone.harness.writable import why_not


class Finite(click.FloatRange):
    """A number within bounds. click takes NaN for one: it is above no bound, and below none."""

    name = "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found: float = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is no finite number", param, ctx)
        return found


class Output(click.Path):
    """A file, or a folder, that the command is going to write."""

    def __init__(self, *, folder: bool) -> None:
        super().__init__(path_type=Path)
        self.folder = folder
        self.name = "directory" if folder else "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if reason := why_not(path, folder=self.folder):
            self.fail(f"{str(path)!r} cannot be written: {reason}", param, ctx)
        return path


SECONDS, PERCENT = Finite(min=0, min_open=True), Finite(0, 100)
FOLDER, FILE = Output(folder=True), Output(folder=False)


def pairs(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Read each K=V; the callback of an option that may be repeated."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not k=v")
        found[name.strip()] = value
    return found
