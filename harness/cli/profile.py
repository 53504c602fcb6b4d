"""`touchstone profile NAME`: the settings of a named cluster, as one starts a broker with them.

A claim that wants settings is judged on somebody else's cluster only if that has them. A profile
gathers those of many claims; this prints one in the spelling that a properties file, a command line
or Kafka's container takes, and `pytest suites/ --target T --profile NAME` then says that it is so.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Mapping

import click

from touchstone.harness.model import profiles
from touchstone.harness.model.profiles import PROFILES, Profile
from touchstone.harness.targets import matrix
from touchstone.harness.targets.settings import login_modules, text

WIDTH = 100


@click.command()
@click.argument("name", required=False)
@click.option("--release", default="latest", metavar="V", help="Of Kafka, as 4.3.")
@click.option(
    "--format", "spelling", default="properties",
    type=click.Choice(["properties", "arguments", "environment"]),
    help="A properties file, arguments of kafka-server-start.sh, or a container's environment.",
)  # fmt: skip
def command(name: str | None, release: str, spelling: str) -> None:
    """Print the settings of a profile, or without NAME what each profile is.

    Start your broker with them, and say so: pytest --pyargs touchstone.suites --target T --profile
    NAME. Exit code 0, or 4 where there is no such profile or release.
    """
    if name is None:
        for profile in PROFILES.values():
            click.echo(f"{profile.name:<16}{profile.sentence}")
        return
    (found,) = profiles.named([name])
    short = matrix.release(release).name
    for line in heading(found, short):
        click.echo(line, err=spelling != "properties")
    for line in SPELLINGS[spelling](found.heeded(short)):
        click.echo(line)


def heading(profile: Profile, release: str) -> list[str]:
    """What the settings alone do not say: how many brokers, which racks, what a release lacks."""
    lines = [f"# {profile.name}: {profile.sentence}"]
    if profile.racks:
        racks = "; ".join(f"broker.rack={rack}" for rack in profile.racks)
        lines.append(f"# One broker each with {racks}")
    if users := login_modules(matrix.release(release), profile.of(release)):
        lines.append("# -Djava.security.auth.login.config of its JVM names a file:")
        lines += [f"# {line}" for line in users.splitlines()]
    if unknown := profile.unknown(release):
        text_ = f"Kafka {release} does not know {', '.join(unknown)}"
        lines += textwrap.wrap(text_, WIDTH, initial_indent="# ", subsequent_indent="# ")
    return lines


def properties(settings: Mapping[str, str]) -> list[str]:
    return text(dict(settings)).splitlines()


def arguments(settings: Mapping[str, str]) -> list[str]:
    """As kafka-server-start.sh takes them behind the name of the file; one line."""
    words = [word for name, v in settings.items() for word in ("--override", f"{name}={v}")]
    return [shlex.join(words)] if words else []


def environment(settings: Mapping[str, str]) -> list[str]:
    """As the image apache/kafka takes them: a dot is "_", "_" is "__" and "-" is "___"."""
    return [f"{variable(name)}={value}" for name, value in settings.items()]


def variable(name: str) -> str:
    spelled = name.replace("_", "__").replace("-", "___").replace(".", "_")
    return f"KAFKA_{spelled.upper()}"


SPELLINGS: dict[str, Callable[[Mapping[str, str]], list[str]]] = {
    "properties": properties, "arguments": arguments, "environment": environment,
}  # fmt: skip
