"""The commands, one file each; and how their help lists names: whole, so that one can copy them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module

import click

AS_IT_STANDS = "\b\n"  # click's word for a paragraph that it must not wrap again
WIDTH = 76


def listed(title: str, names: Iterable[str]) -> str:
    """An epilog in which no name is broken at a hyphen."""
    text = f"{title}: {', '.join(names)}."
    return AS_IT_STANDS + textwrap.fill(text, WIDTH, break_on_hyphens=False)


def explained(title: str, sentences: Mapping[str, str]) -> str:
    """An epilog with a line or two for each name."""
    rows = (
        textwrap.fill(f"{name}: {sentence}", WIDTH, initial_indent="  ", subsequent_indent=" " * 6)
        for name, sentence in sentences.items()
    )
    return AS_IT_STANDS + "\n".join((f"{title}:", *rows))


class ListsSwitches(click.Command):
    """Its help ends with the planted defects; they are loaded for the help, not for the command."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        module = import_module("touchstone.reference_impl.broker.faults.switches")
        self.epilog = listed("Switches", sorted(module.SWITCHES))
        super().format_epilog(ctx, formatter)
