"""`touchstone bench [NAME ...] [--peer NAME ...]`: side-by-side figures of one run.

A bench is a file of this folder with a `run(options)` that yields figures; its name is the file's
with hyphens, its line in `--list` the first of its docstring. Adding one is adding a file. A bench
that fails or cannot run is named with its reason and does not take the others with it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import click

from touchstone.harness import bench, exits
from touchstone.harness.bench.contest import STORES, Figure, Options
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FILE
from touchstone.harness.names import did_you_mean
from touchstone.harness.run.tally import worst
from touchstone.harness.targets import parse
from touchstone.reference_impl.broker.personas import RELEASES

INTERRUPTED = 128 + signal.SIGTERM
COLUMNS = ("bench", "what", "ours", "peer", "theirs", "unit", "ratio")
DEFAULT = ("startup", "memory", "codec", "producer-perf", "consumer-perf", "latency")


def benches() -> dict[str, ModuleType]:
    """Every bench of this folder by its name."""
    found = {}
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name != "__main__":
            loaded = importlib.import_module(f"{bench.__name__}.{module.name}")
            if hasattr(loaded, "run"):
                found[module.name.replace("_", "-")] = loaded
    return found


def table(figures: list[Figure]) -> str:
    """Aligned columns; numbers with separators, right-aligned."""
    rows = [COLUMNS] + [tuple(_cell(figure, column) for column in COLUMNS) for figure in figures]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    right = {"ours", "theirs", "ratio"}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, cell, width in zip(COLUMNS, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _cell(figure: Figure, column: str) -> str:
    value = getattr(figure, column)
    if value is None:
        return "-"
    if column == "ratio":
        return f"{value:.2f}x"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def conditions() -> dict[str, object]:
    """What a reader needs to compare two files of figures."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parent,
    ).stdout.strip()  # fmt: skip
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit or None,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 2),
    }


@click.command("bench")
@click.argument("names", nargs=-1, metavar="[NAME ...]")
@click.option("--peer", "peers", multiple=True, help="A target to stand beside; default kafka@4.3.")
@click.option("--rounds", default=2, type=click.IntRange(1), help="Turns of each; the best counts.")
@click.option("--records", default=2_000_000, type=click.IntRange(1_000), help="Of the perf tools.")
@click.option(
    "--release", default="4.3", type=click.Choice(RELEASES), help="The persona of our broker."
)
@click.option(
    "--brokers", multiple=True, type=click.IntRange(1, 9), help="Size of cluster; default 1."
)
@click.option(
    "--store", "stores", multiple=True, type=click.Choice(STORES), help="Of our log; default both."
)
@logs_in
@click.option("--out", default="results/bench.json", type=FILE)
@click.option("--list", "only_list", is_flag=True, help="Name the benches and stop.")
def command(
    names: tuple[str, ...], peers: tuple[str, ...], rounds: int, records: int, release: str,
    brokers: tuple[int, ...], stores: tuple[str, ...], out: Path, only_list: bool,
) -> None:  # fmt: skip
    """Measure against peers, side by side, in one run.

    Without NAME: startup, memory, codec, producer-perf, consumer-perf and latency.

    Exit code 0: measured, 2: a bench failed, 3: one could not be run; the others' figures are kept.
    """
    known = benches()
    if only_list:
        for name, module in known.items():
            click.echo(f"{name:16}{(module.__doc__ or '').splitlines()[0]}")
        return
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise click.UsageError(f"no bench {name!r}{hint}; there are {', '.join(known)}")
    for word in peers:
        parse(word)
    options = Options(
        peers or Options().peers, rounds, records, release, brokers or (1,), stores or STORES
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))  # no broker is left behind
    at = conditions()
    figures, failures, codes = measure({name: known[name] for name in names or DEFAULT}, options)
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = [figure.row() for figure in figures]
    report = {**at, "figures": rows, "failures": failures}
    out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    click.echo(table(figures))
    click.echo(f"written to {out}")
    for name, reason in failures.items():
        click.echo(f"{name} failed: {reason}", err=True)
    raise SystemExit(worst(codes))


def measure(
    chosen: dict[str, ModuleType], options: Options
) -> tuple[list[Figure], dict[str, str], list[int]]:
    """Figures of all, why some are missing, and the exit codes of all benches."""
    codes = [exits.CONFORMED]
    figures: list[Figure] = []
    failures: dict[str, str] = {}
    for name, module in chosen.items():
        options.say(name)
        try:
            for figure in module.run(options):
                figures.append(figure)
        except Exception as failed:  # whatever a bench does, the others' figures are kept
            code = exits.code_of(failed)
            named = f"{type(failed).__name__}: " if code == exits.BROKE else ""
            failures[name] = named + exits.sentence(failed)
            codes.append(code)
    return figures, failures, codes


if __name__ == "__main__":
    command()
