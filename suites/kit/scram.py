"""Users of SCRAM that a case makes, and an exchange of such a user."""

from __future__ import annotations

from typing import Any

from touchstone.harness.model.placeholders import Ref, Scram
from touchstone.harness.model.sasl_messages import salted_password
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.security_settings import SCRAM
from touchstone.suites.kit.security import authenticate, handshake

PASSWORD, OTHER = "right", "wrong"
SALT = b"salt for a password"
FEWEST, MORE = 4096, 8192
WITH_USERS = "2.8+"  # releases with AlterUserScramCredentials


def scram_user(
    user: Any,
    mechanism: str,
    password: str = PASSWORD,
    iterations: int = FEWEST,
    name: str = "user",
) -> list[Any]:
    """Have this user made, and wait until the broker knows it."""
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
    return [made, Until(_told(user, f"{name} is known"), told, "contains", held)]


def until_unknown(user: Any, name: str) -> Until:
    """Wait until the broker does not know the user any more."""
    return Until(_told(user, name), "results[0].credential_infos", "len ==", 0)


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
