"""The `touchstone` command.

A command's module is imported only when that command is run: `touchstone broker` must serve within
milliseconds and has no business importing Spark, Docker or pytest. Each entry of COMMANDS names a
click command as "module:attribute"; adding a command is one row here and one file.
"""

from __future__ import annotations

import importlib

import click

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (where the click command lives, one line for `touchstone --help`)
    "broker": ("harness.cli.broker:command", "Serve the reference broker until SIGTERM or SIGINT."),
    "judge": ("harness.cli.judge:command", "Judge stored transcripts again, without any broker."),
    "diff": ("harness.cli.diff:command", "Show where two transcripts differ, field by field."),
    "replay": ("harness.cli.replay:command", "Send a stored case to a target and judge it again."),
    "smoke": ("harness.cli.smoke:command", "Tell in seconds whether a target can be judged."),
    "coverage": ("harness.cli.coverage:command", "Which clauses and API versions have claims."),
    "profile": ("harness.cli.profile:command", "Settings of a cluster for claims that want them."),
    "record": ("harness.cli.record:command", "Keep real Kafka's answers, for `recorded@V`."),
    "history": ("harness.cli.history:command", "Hold a history of many clients against promises."),
    "nemesis": ("harness.cli.nemesis:command", "Harm a cluster under load and judge what it kept."),
    "sim": ("harness.cli.sim:command", "Simulate a cluster under faults, seed by seed."),
    "fuzz": ("fuzz.__main__:command", "Run fuzz campaigns against a target."),
    "join": ("harness.cli.join:command", "Make parts of a run (--shard) into whole result files."),
    "pin": ("harness.cli.pin:command", "Write a run's differences as accepted divergences."),
    "compare": ("harness.cli.compare:command", "Show targets side by side, by suite and cause."),
    "report": ("harness.cli.report:command", "Aggregate result files with Spark into a dashboard."),
    "bench": ("harness.bench.__main__:command", "Measure against peers, side by side, in one run."),
}


class LazyGroup(click.Group):
    """A click group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(package_name="kafka-touchstone", prog_name="touchstone")
def main() -> None:
    """Kafka's behaviour as named claims, proved on real Apache Kafka, run on any broker."""


if __name__ == "__main__":
    main()
