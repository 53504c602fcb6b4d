"""The `touchstone` command.

A command's module is imported only when that command is run: `touchstone broker` must serve within
milliseconds and has no business importing Spark, Docker or pytest. Each entry of COMMANDS names a
click command of this package as "module:attribute"; adding a command is one row here and one file.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from touchstone.harness import exits

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (where the click command lives, one line for `touchstone --help`)
    "broker": ("harness.cli.broker:command", "Serve the reference broker until SIGTERM or SIGINT."),
    "judge": ("harness.cli.judge:command", "Judge stored transcripts again, without any broker."),
    "diff": ("harness.cli.diff:command", "Show where two transcripts differ, field by field."),
    "replay": ("harness.cli.replay:command", "Send a stored case to a target and judge it again."),
    "smoke": ("harness.cli.smoke:command", "Tell in seconds whether a target can be judged."),
    "square": (
        "harness.cli.square:command",
        "Run two clients on two brokers and name the suspect.",
    ),
    "coverage": ("harness.cli.coverage:command", "Tell which clauses and versions have claims."),
    "explain": ("harness.cli.explain:command", "Show a claim: text, evidence, cases, steps."),
    "profile": ("harness.cli.profile:command", "Print the settings that claims want of a cluster."),
    "record": ("harness.cli.record:command", "Keep real Kafka's answers, for `recorded@V`."),
    "history": ("harness.cli.history:command", "Hold a history of many clients against promises."),
    "nemesis": ("harness.cli.nemesis:command", "Harm a cluster under load and judge what it kept."),
    "soak": ("harness.cli.soak:command", "Have our client work for an hour under faults."),
    "age": ("harness.cli.age:command", "Start a Kafka that has lived, for any other command."),
    "sim": ("harness.cli.sim:command", "Simulate a cluster under faults, seed by seed."),
    "fuzz": ("fuzz.__main__:command", "Run fuzz campaigns against a target."),
    "join": ("harness.cli.join:command", "Make parts of a run (--shard) into whole result files."),
    "causes": ("harness.cli.causes:command", "Tell the causes of a run's differences, or as JSON."),
    "mutate": ("harness.cli.mutate:command", "Plant small defects by rule; name the unseen."),
    "pin": ("harness.cli.pin:command", "Write a run's differences as accepted divergences."),
    "compare": ("harness.cli.compare:command", "Show targets side by side, by suite and cause."),
    "releases": ("harness.cli.releases:command", "Tell what changed between two releases."),
    "bisect": ("harness.cli.bisect:command", "Name the version of Kafka that changed an answer."),
    "verify": ("harness.cli.verify:command", "Refuse a cut, mixed or unexplained result."),
    "report": ("harness.cli.report:command", "Aggregate result files with Spark into a dashboard."),
    "bench": ("harness.bench.__main__:command", "Measure against peers, side by side, in one run."),
}


def variable(command: str, option: click.Option) -> str:
    """The variable that stands for an option, spelled as the option is. click's own would be
    spelled as the argument of the function, which nobody sees, and TOUCHSTONE_VERSION would be
    `touchstone --version`.
    """
    spelled = max(option.opts, key=len).lstrip("-")
    return f"TOUCHSTONE_{command}_{spelled}".replace("-", "_").upper()


def _say_where(error: click.BadParameter) -> None:
    """A value from the environment is not looked for on the command line."""
    ctx, one = error.ctx, error.param
    if ctx is None or not isinstance(one, click.Option) or one.name is None:
        return
    if ctx.get_parameter_source(one.name) is ParameterSource.ENVIRONMENT:
        error.param_hint = f"{one.get_error_hint(ctx)} (the variable {one.envvar})"


def _name(words: Sequence[str]) -> str:
    """Return the command that these words call, as its errors begin."""
    command = next((word for word in words if word in COMMANDS), None)
    return f"touchstone {command}" if command else "touchstone"


class LazyGroup(click.Group):
    """A click group whose commands are imported when they are asked for, and whose errors come to
    the exit codes of `touchstone.harness.exits`.
    """

    def main(
        self, args: Sequence[str] | None = None, *options: Any, standalone_mode: bool = True,
        **more: Any,
    ) -> Any:  # fmt: skip
        run = partial(super().main, args, *options, standalone_mode=False, **more)
        if not standalone_mode:
            return run()
        sys.exit(exits.guarded(partial(_name, sys.argv[1:] if args is None else args), run))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in COMMANDS and word[:1].isalnum():
            names = importlib.import_module("touchstone.harness.names")
            ctx.fail(f"no command {word!r}{names.did_you_mean(word, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            _say_where(error)
            raise
        except BrokenPipeError as error:  # which click would make exit code 1
            raise exits.Unheard from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        found: click.Command = getattr(importlib.import_module(f"touchstone.{module}"), attribute)
        for one in found.params:
            if isinstance(one, click.Option):
                one.envvar = variable(name, one)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(package_name="kafka-touchstone", prog_name="touchstone")
def main() -> None:
    """Kafka's behaviour as named claims, proved on real Apache Kafka, run on any broker.

    Every option can be given as an environment variable: `broker --release` is
    TOUCHSTONE_BROKER_RELEASE.
    """


if __name__ == "__main__":
    main()
