"""What is asked of delegation tokens, right and wrong (see `conversations`).

Ids and hmacs are of chance, so tokens stand here by names, and times by their distance from now.

    python -m touchstone.reference_impl.tests.security.token_requests RELEASE \\
        PLAIN_PORT SASL_PORT SHORT_PORT > recorded/tokens-RELEASE.json
"""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.tests.security import conversations
from touchstone.reference_impl.tests.security.conversations import (
    CLOSED,
    PLAINTEXT,
    SASL,
    SHORT,
    NewWire,
    Peer,
    SocketWire,
    handshake,
    scram,
    whoever,
    written,
)

KEY = "delegation.token.secret.key"
SETTINGS = conversations.SETTINGS | {KEY: "secret"}
OLDEST, NEWEST = {"4.3": 1}, {"2.2": 1, "2.8": 2}
PASSWORDS = {"alice": "alice-secret", "admin": "admin-secret", "bob": 'b=b,"x'}
DAY_MS = 86_400_000
NEAR_MS = 60_000  # what a slow machine may take
SCRAM_KINDS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


class Asking:
    """Peers by user, and the tokens that they were given."""

    def __init__(self, new_wire: NewWire, release: str) -> None:
        self._new_wire, self.release = new_wire, release
        self.version = NEWEST.get(release, 3)
        self._peers: dict[str, Peer] = {}
        self.tokens: dict[str, dict[str, Any]] = {}

    def peer(self, user: str) -> Peer:
        if user not in self._peers:
            if user.startswith("token "):
                raise LookupError(f"{user} was not let in")
            listener = PLAINTEXT if user == "nobody" else SASL
            made = Peer(self._new_wire(listener), self.release, {})
            if user != "nobody":
                handshake()(made)
                made.authenticate(f"\0{user}\0{PASSWORDS[user]}".encode())
            self._peers[user] = made
        return self._peers[user]

    def create(
        self, name: str, user: str = "alice", renewers: tuple[str, ...] = (), ms: int = -1,
        version: int | None = None, kind: str = "User", owner: str | None = None,
    ) -> Any:  # fmt: skip
        version = self.version if version is None else version
        body = {
            "renewers": [{"principal_type": kind, "principal_name": one} for one in renewers],
            "max_lifetime_ms": ms,
            "owner_principal_type": None if owner is None else "User",
            "owner_principal_name": owner,
        }
        answer = self.peer(user).ask("CreateDelegationToken", version, body)
        self.tokens[name] = answer
        if not answer["error_code"]:
            self._until_told(name, answer["expiry_timestamp_ms"])
        issued = answer["issue_timestamp_ms"]
        return {
            **{key: value for key, value in answer.items() if "principal" in key},
            "error_code": answer["error_code"],
            "issued": issued > 0 or issued,
            "expires": answer["expiry_timestamp_ms"] - issued,
            "ends": answer["max_timestamp_ms"] - issued,
            "id": len(answer["token_id"]),
            "hmac": len(answer["hmac"]),
        }

    def renew(self, name: str, ms: int = -1, user: str = "alice") -> Any:
        body = {"hmac": self._hmac(name), "renew_period_ms": ms}
        return self._expiry("RenewDelegationToken", user, body, name)

    def expire(self, name: str, ms: int = -1, user: str = "alice") -> Any:
        body = {"hmac": self._hmac(name), "expiry_time_period_ms": ms}
        return self._expiry("ExpireDelegationToken", user, body, name)

    def _hmac(self, name: str) -> bytes:
        return bytes(self.tokens[name]["hmac"]) if name in self.tokens else b"nobody's"

    def _expiry(self, api: str, user: str, body: dict[str, Any], name: str) -> Any:
        answer = self.peer(user).ask(api, min(self.version, 2), body)
        if answer["expiry_timestamp_ms"] <= 0:
            return [answer["error_code"], answer["expiry_timestamp_ms"]]
        gone = api.startswith("Expire") and body["expiry_time_period_ms"] < 0
        self._until_told(name, None if gone else answer["expiry_timestamp_ms"])
        left = answer["expiry_timestamp_ms"] - self.tokens[name]["issue_timestamp_ms"]
        return [answer["error_code"], _near(left)]

    def _until_told(self, name: str, expires: int | None) -> None:
        """A KRaft broker hears of it from the metadata log."""
        for _ in range(100):
            body: dict[str, Any] = {"owners": None}
            rows = self.peer("alice").ask("DescribeDelegationToken", self.version, body)["tokens"]
            told = {row["token_id"]: row["expiry_timestamp"] for row in rows}
            if told.get(self.tokens[name]["token_id"]) == expires:
                return
            self.wait(100)
        raise TimeoutError(f"nobody tells of {name}")

    def describe(self, owners: list[str] | None, user: str = "alice") -> Any:
        named = None if owners is None else [
            {"principal_type": "User", "principal_name": one} for one in owners
        ]  # fmt: skip
        answer = self.peer(user).ask("DescribeDelegationToken", self.version, {"owners": named})
        ids = {token["token_id"]: name for name, token in self.tokens.items()}
        rows = [
            {
                "name": ids.get(row["token_id"], "?"),
                "owner": row["principal_name"],
                "renewers": [each["principal_name"] for each in row["renewers"]],
                "own": row["hmac"] == self.tokens[ids[row["token_id"]]]["hmac"],
            }
            for row in answer["tokens"]
        ]
        return [answer["error_code"], sorted(rows, key=lambda row: row["name"])]

    def log_in(
        self,
        name: str,
        kind: str = "SCRAM-SHA-256",
        more: str = ",tokenauth=true",
        wrong: bool = False,
    ) -> Any:
        token = self.tokens[name]
        password = "wrong" if wrong else b64encode(bytes(token["hmac"])).decode()
        made = Peer(self._new_wire(SASL), self.release, {})
        handshake(kind)(made)
        answer = scram(kind, token["token_id"], password, extensions=more)(made)
        if not isinstance(answer, list):
            return answer if answer == CLOSED else answer["error_code"]
        seen = answer[-1]
        if seen["error_code"]:
            return [seen["error_code"]]
        self._peers[f"token {name}"] = made
        return [0, _near(seen["session_lifetime_ms"]), len(whoever(made))]

    def wait(self, ms: int) -> None:
        self.peer("alice").wire.wait(ms)


def _near(ms: int) -> int:
    """To the minute: Kafka's clock goes on while it is asked."""
    return round(ms / NEAR_MS)


def everything(new_wire: NewWire, release: str) -> dict[str, Any]:
    ask = Asking(new_wire, release)
    steps: dict[str, Callable[[], Any]] = {}
    for version in range(OLDEST.get(release, 0), ask.version + 1):
        steps[f"create v{version}"] = lambda v=version: ask.create(f"v{v}", version=v)
    steps |= {
        "create short": lambda: ask.create("short", ms=120_000),
        "create too long": lambda: ask.create("long", ms=1 << 60),
        "create with renewers": lambda: ask.create("shared", renewers=("admin",)),
        "create with a group": lambda: ask.create("none", renewers=("admin",), kind="Group"),
        "create for another": lambda: ask.create("bobs", owner="bob"),
        "create of nobody": lambda: ask.create("none", user="nobody"),
        "renew": lambda: ask.renew("v1"),
        "renew by a minute": lambda: ask.renew("v1", ms=120_000),
        "renew by nothing": lambda: ask.renew("long", ms=0),
        "renew for long": lambda: ask.renew("v1", ms=9 * DAY_MS),
        "renew the short": lambda: ask.renew("short", ms=DAY_MS),
        "renew shared": lambda: ask.renew("shared", user="admin"),
        "renew another's": lambda: ask.renew("v1", user="bob"),
        "renew nobody's": lambda: ask.renew("unknown"),
        "renew of nobody": lambda: ask.renew("v1", user="nobody"),
        "describe all": lambda: ask.describe(None),
        "describe all as renewer": lambda: ask.describe(None, user="admin"),
        "describe none": lambda: ask.describe([]),
        "describe own": lambda: ask.describe(["alice"]),
        "describe another's": lambda: ask.describe(["bob"]),
        "describe as another": lambda: ask.describe(["alice"], user="bob"),
        "describe of nobody": lambda: ask.describe(None, user="nobody"),
        "expire later": lambda: ask.expire("v1", ms=600_000),
        "expire another's": lambda: ask.expire("v1", user="bob"),
        "expire nobody's": lambda: ask.expire("unknown"),
        "expire of nobody": lambda: ask.expire("v1", user="nobody"),
        "log in": lambda: ask.log_in("shared"),
        "log in otherwise": lambda: ask.log_in("shared", kind="SCRAM-SHA-512"),
        "log in wrong": lambda: ask.log_in("shared", wrong=True),
        "log in as a user": lambda: ask.log_in("shared", more=""),
        "log in as no token": lambda: ask.log_in("shared", more=",tokenauth=false"),
        "create by token": lambda: ask.create("none", user="token shared"),
        "renew by token": lambda: ask.renew("shared", user="token shared"),
        "describe by token": lambda: ask.describe(None, user="token shared"),
        "expire now": lambda: ask.expire("shared"),
        "renew what is gone": lambda: ask.renew("shared"),
        "log in with what is gone": lambda: ask.log_in("shared"),
        "describe what is left": lambda: ask.describe(None),
        "create brief": lambda: ask.create("brief", ms=300),
        "wait": lambda: ask.wait(500),
        "renew what has expired": lambda: ask.renew("brief"),
        "expire what has expired": lambda: ask.expire("brief", ms=1000),
        "describe what has expired": lambda: len(ask.describe(None)[1]),
        "expire at once what has expired": lambda: ask.expire("brief"),
    }  # fmt: skip
    return {name: _done(step) for name, step in steps.items()}


def _done(step: Callable[[], Any]) -> Any:
    try:
        return conversations.plainly(step())
    except LookupError as nobody:
        return str(nobody)


def without_key(new_wire: NewWire, release: str) -> dict[str, Any]:
    """Of a broker that has no secret key."""
    ask = Asking(new_wire, release)
    return {
        "create": conversations.plainly(ask.create("none")),
        "renew": ask.renew("unknown"),
        "expire": ask.expire("unknown"),
        "describe": ask.describe(None),
        "describe none": ask.describe([]),
        "create of nobody": conversations.plainly(ask.create("none", user="nobody")),
    }


def main(release: str, *ports: str) -> None:
    named = dict(zip((PLAINTEXT, SASL, SHORT), map(int, ports[:3]), strict=True))
    what = without_key if ports[3:] else everything
    sys.stdout.write(written(what(lambda name: SocketWire(named[name]), release)))


if __name__ == "__main__":
    main(*sys.argv[1:])
