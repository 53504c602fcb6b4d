"""`touchstone age TARGET --seed N`: a real Kafka that has lived, at an address.

What was started a minute ago is not what people have. This starts Kafka, has it live through what
the seed decides (harness/ageing/life.py), and leaves it running, or runs a command against it.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Mapping

import click

from touchstone.harness import exits
from touchstone.harness.ageing import acts
from touchstone.harness.ageing.cluster import AgedCluster
from touchstone.harness.ageing.life import MECHANISMS, Life, planned
from touchstone.harness.model import security_settings
from touchstone.harness.targets import matrix
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.release import Release

KAFKA = "kafka@"
INTERRUPTED = 143
_PASSWORD = 'username="{name}" password="{password}"'
_SCRAM = ("scram.ScramLoginModule", _PASSWORD)
_LOGINS = {  # login modules and their options
    security_settings.PLAIN: ("plain.PlainLoginModule", _PASSWORD),
    security_settings.OAUTHBEARER: (
        "oauthbearer.OAuthBearerLoginModule", 'unsecuredLoginStringClaim_sub="{name}"',
    ),
}  # fmt: skip


def _release(ctx: click.Context, parameter: click.Parameter, word: str) -> Release:
    if not word.startswith(KAFKA):
        raise click.BadParameter(f"{word!r} is not kafka@VERSION: it ages what it has started")
    return matrix.persona(word.removeprefix(KAFKA))


@click.command(
    epilog="In a command {address} is replaced by the address, {secured} by that of the listener "
    "with a login, where there is one, and {config} by the client properties file for that.",
)
@click.argument("release", metavar="TARGET", callback=_release)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--seed", default=0, help="Decides everything that happens.")
@click.option("--brokers", type=click.IntRange(1, 5), help="By default the seed decides, 1 or 3.")
@click.option("--login", type=click.Choice(sorted(MECHANISMS)),
              help="Mechanism of a listener with a login; else the seed decides.")  # fmt: skip
@click.option("--port", default=0, type=click.IntRange(0, 65000), help="Of the first broker.")
@click.option("--dry", is_flag=True, help="Print the plan and start nothing.")
def command(
    release: Release, command: tuple[str, ...], seed: int, brokers: int | None,
    login: str | None, port: int, dry: bool,
) -> None:  # fmt: skip
    """Age a Kafka: start it, have it live, leave it at an address until Ctrl-C.

    TARGET is kafka@VERSION. What happens is printed on stderr, then `ready HOST:PORT` on stdout.
    With `-- COMMAND` that runs against it instead, and then everything ends with its exit code.

    Exit code 0, 3: Kafka cannot be started here, 4: an option is wrong; or COMMAND's.
    """
    try:
        life = planned(release.name, seed, brokers, login)
    except ValueError as wrong:
        raise click.UsageError(f"--login {wrong}") from None
    if dry:
        for line in life.lines():
            click.echo(line)
        return
    find_java()
    cluster = AgedCluster(life, port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))
    try:
        cluster.start()
        acts.live(cluster, _say)
        with acts.load(cluster):
            sys.exit(_serve(cluster, life, command))
    finally:
        cluster.close()


def _serve(cluster: AgedCluster, life: Life, command: tuple[str, ...]) -> int:
    """Have the command, or whoever comes, use it; the exit code."""
    config = cluster.folder / "client.properties"
    config.write_text(client_properties(life), encoding="utf-8")
    words = {"{address}": cluster.bootstrap, "{secured}": cluster.secured, "{config}": str(config)}
    if command:
        return _run([_filled(part, words) for part in command])
    if life.mechanism:
        _say(f"{life.mechanism} at {cluster.secured}; client properties: {config}")
    click.echo(f"ready {cluster.bootstrap}")
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(exits.CONFORMED))
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()
    return exits.CONFORMED


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _run(argv: list[str]) -> int:
    """The command's exit code. It has a process group of its own, so that whoever interrupts this
    one interrupts it once, and it may write what it has.
    """
    running = subprocess.Popen(argv, process_group=0)
    try:
        return running.wait()
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        return running.wait()
    finally:
        running.kill()  # of one that was terminated; harmless for one that has ended


def client_properties(life: Life) -> str:
    """How to use the listener that `secured` names, in the words of a Kafka client's file."""
    if not life.mechanism:
        return "security.protocol=PLAINTEXT\n"
    name, password = next(iter(security_settings.USERS.items()))
    module, user = _LOGINS.get(life.mechanism, _SCRAM)
    words = user.format(name=name, password=password)
    return (
        "security.protocol=SASL_PLAINTEXT\n"
        f"sasl.mechanism={life.mechanism}\n"
        f"sasl.jaas.config=org.apache.kafka.common.security.{module} required {words};\n"
    )


def _say(line: str) -> None:
    click.echo(line, err=True)
