"""Users of SCRAM that a case makes, and an exchange of such a user."""

from __future__ import annotations

from typing import Any

from touchstone.harness.model.case import Case
from touchstone.harness.model.expect import fits
from touchstone.harness.model.placeholders import Ref, Scram
from touchstone.harness.model.sasl_messages import salted_password
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.security_settings import SCRAM
from touchstone.harness.model.steps import SET, a_topic, incremental_alter_configs, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import coded
from touchstone.suites.kit.security import authenticate, handshake

PASSWORD, OTHER = "right", "wrong"
SALT = b"salt for a password"
FEWEST, MORE = 4096, 8192
WITH_USERS = "2.8+"  # releases with AlterUserScramCredentials
FROM_ZOOKEEPER = "2.8"  # of these, the one whose brokers hear of users from ZooKeeper


def scram_user(
    case: Case[Any],
    user: Any,
    mechanism: str,
    password: str = PASSWORD,
    iterations: int = FEWEST,
    name: str = "user",
) -> list[Any]:
    """Have this user made, and wait until the broker goes by it."""
    row = {
        "name": user,
        "mechanism": 1 + SCRAM.index(mechanism),
        "iterations": iterations,
        "salt": SALT,
        "salted_password": salted_password(mechanism, password, SALT, iterations),
    }
    body = {"deletions": [], "upsertions": [row]}
    made = Ask("AlterUserScramCredentials", 0, body, name)
    told = "results[0].credential_infos"
    held = {"mechanism": row["mechanism"], "iterations": iterations}
    known = Until(_told(user, f"{name} is known"), told, "contains", held)
    return [made, known, _heard(case, name)]


def no_scram_user(case: Case[Any], user: Any, mechanism: str, version: int, name: str) -> list[Any]:
    """Have this user's credential deleted, and wait until the broker does not go by it."""
    row = {"name": user, "mechanism": 1 + SCRAM.index(mechanism)}
    body = {"deletions": [row], "upsertions": []}
    gone = Until(_told(user, f"{name} is told"), "results[0].credential_infos", "len ==", 0)
    return [Ask("AlterUserScramCredentials", version, body, name), gone, _heard(case, name)]


def _heard(case: Case[Any], name: str) -> list[Any]:
    """Wait until a broker of 2.8 has heard of an altered user.

    DescribeUserScramCredentials asks ZooKeeper there, not what the broker goes by. It hears of what
    was altered one after another, users and topics alike (DynamicConfigManager at 2.8.2), so it has
    heard of the user when a later change of a topic is felt.
    """
    if not fits(case.release, FROM_ZOOKEEPER):
        return []
    topic = case.topic(f"after-{name}")
    none_fits = [("max.message.bytes", SET, "1")]
    path = "responses[0].partition_responses[0].error_code"
    refused = produce(topic, 0, coded(b"x"), name=f"{name} is heard of")
    return [
        a_topic(topic),
        incremental_alter_configs(topic, none_fits, version=0, name=f"after {name}"),
        Until(refused, path, "==", ErrorCode.MESSAGE_TOO_LARGE),
    ]


def _told(user: Any, name: str) -> Ask:
    return Ask("DescribeUserScramCredentials", 0, {"users": [{"name": user}]}, name)


def all_messages(
    connection: str,
    mechanism: str,
    user: Any,
    password: Any = PASSWORD,
    *,
    version: int = 0,
    extensions: str = "",
    nonce: str | None = None,
    name: str = "proof",
) -> list[Any]:
    """All that is said; the broker's first message is `NAME challenge`."""
    challenge = f"{name} challenge"
    first = Scram("first", mechanism, user, extensions=extensions)
    final = Scram(
        "final", mechanism, user, password, Ref(challenge, "auth_bytes"), extensions, nonce
    )
    return [
        handshake(connection, mechanism, name=f"{name} handshake"),
        authenticate(connection, first, version=version, name=challenge),
        authenticate(connection, final, version=version, name=name),
    ]
