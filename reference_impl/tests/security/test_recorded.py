"""What real brokers answered on SASL listeners, asked again of their personas' cores."""

import json
from itertools import count
from pathlib import Path

import pytest

from touchstone.reference_impl.broker.effects import Close, Connection, Reply
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.broker.security.authenticator import SaslListeners
from touchstone.reference_impl.broker.security.sasl_states import TABLE, Frame, State
from touchstone.reference_impl.broker.security.token_keys import TokenKeys
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS
from touchstone.reference_impl.cluster.scram_keys import of_password
from touchstone.reference_impl.security.signatures import key_set
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.tests.security import (
    bearer_conversations,
    conversations,
    signed_conversations,
    token_requests,
)
from touchstone.reference_impl.tests.security.conversations import (
    SASL,
    SCRAM_PASSWORD,
    SCRAM_USERS,
    SETTINGS,
    SHORT,
)
from touchstone.reference_impl.tests.security.signed_tokens import jwks

FOLDER = Path(__file__).parent / "recorded"
RECORDED = [release for release in RELEASES if (FOLDER / f"{release}.json").exists()]
WITH_TOKENS = [each for each in RELEASES if (FOLDER / f"tokens-{each}.json").exists()]
WITH_BEARERS = [each for each in RELEASES if (FOLDER / f"bearer-{each}.json").exists()]
WITH_SIGNED = [each for each in RELEASES if (FOLDER / f"signed-{each}.json").exists()]
PORT = 9092  # of the core, on whatever listener


class CoreWire:
    """A connection to a core; time goes on only while somebody waits."""

    def __init__(self, core: OneBroker, listener: str, number: int) -> None:
        self._core, self._broker = core, core.brokers[0]
        self.connection = Connection(number, listener=listener)
        self._ended = False
        if listener in (SASL, SHORT):
            self._broker.room(SaslListeners).admit(self.connection)

    def send(self, frame):
        if self._ended:
            return None
        effects = self._core.send(frame, connection=self.connection)
        while not (
            mine := [e for e in effects if getattr(e, "connection", None) is self.connection]
        ):
            due = self._broker.deadline()
            if due is None:
                raise TimeoutError("nothing is on its way")
            self._core.now = max(self._core.now, due)
            effects = self._broker.tick(self._core.now)
        self._ended = any(isinstance(each, Close) for each in mine)
        return b"".join(mine[0].parts) if isinstance(mine[0], Reply) else None

    def wait(self, ms):
        self._core.now += ms

    def close(self):
        self._broker.closed(self.connection)


def core(release, config=SETTINGS):
    made = OneBroker(release, **config)
    settings = made.cluster.client_settings
    for user, mechanism in SCRAM_USERS:
        credential = of_password(mechanism, SCRAM_PASSWORD)
        settings.put_credential(user, NUMBERS[mechanism], credential)
    made.brokers[0].tick(made.now)
    return made


def different(recorded, ours):
    """What Kafka answered and what we do, by conversation, where that is not the same."""
    return {
        name: (kafka, ours[name])
        for name, kafka in recorded.items()
        if _without_ports(kafka) != _without_ports(ours[name])
    }


def held_with(made, numbers, release, conversations_of):
    """What the core comes to in each of these conversations, by name."""
    return {
        one.name: conversations.held(
            one, lambda listener: CoreWire(made, listener, next(numbers)), release, {}
        )
        for one in conversations_of
    }


@pytest.mark.parametrize("release", RECORDED)
def test_a_persona_answers_as_its_release_did(release):
    made, numbers = core(release), iter(range(1, 10_000))
    recorded = json.loads((FOLDER / f"{release}.json").read_text())
    ours = conversations.everything(
        lambda listener: CoreWire(made, listener, next(numbers)), release, {}
    )
    assert different(recorded, ours) == {}
    assert recorded.keys() == ours.keys()


@pytest.mark.parametrize("release", WITH_BEARERS)
def test_a_persona_takes_bearer_tokens_as_its_release_did(release):
    made, numbers = core(release, bearer_conversations.SETTINGS), iter(range(1, 10_000))
    recorded = json.loads((FOLDER / f"bearer-{release}.json").read_text())
    ours = held_with(made, numbers, release, bearer_conversations.conversations())
    assert different(recorded, ours) == {}
    assert recorded.keys() == ours.keys()


class ReadKeys:
    """The keys of a set that somebody has read."""

    def __init__(self, text):
        self._keys = key_set(text)
        self.looked_for = []

    def current(self):
        return self._keys

    def missing(self, kid, now):
        self.looked_for.append(kid)


@pytest.mark.slow
@pytest.mark.parametrize("release", WITH_SIGNED)
def test_a_persona_takes_signed_tokens_as_its_release_did(release):
    made, numbers = core(release, signed_conversations.settings("file:/jwks")), count(1)
    keys = ReadKeys(jwks(*signed_conversations.KEYS))
    for listener in (SASL, SHORT):
        made.brokers[0].room(TokenKeys).add(listener, keys)
    recorded = json.loads((FOLDER / f"signed-{release}.json").read_text())
    ours = held_with(made, numbers, release, signed_conversations.conversations(made.now // 1000))
    assert different(recorded, ours) == {}
    assert recorded.keys() == ours.keys()
    assert keys.looked_for == [  # where no key fits; without a kid nothing is looked for
        "nobody's", "x" * 1001, "ec-256", "for-encryption", "for-signing", "rsa",
    ]  # fmt: skip


def _without_ports(answers):
    """The core has no sockets: that the brokers told are the listener's own, `tests/io` holds."""
    return [len(each) if _names_brokers(each) else each for each in answers]


def _names_brokers(answer):
    return isinstance(answer, list) and all(isinstance(each, str) for each in answer)


def test_the_recordings_walk_the_table():
    """Every cell but those that no conversation can reach in its turn."""
    TABLE.walked = {}
    try:
        for release in RECORDED:
            made, numbers = core(release), iter(range(1, 10_000))
            conversations.everything(
                lambda listener, made=made, numbers=numbers: CoreWire(
                    made, listener, next(numbers)
                ),
                release,
                {},
            )
        walked = set(TABLE.walked)
    finally:
        TABLE.walked = None
    bare_or_after = {State.BARE_TOKENS, State.WRONG_MECHANISM, State.COMPLETE, State.FAILED}
    missing = {cell for cell in set(TABLE) - walked if cell[0] not in bare_or_after}
    assert missing == set()
    assert {(State.BARE_TOKENS, Frame.UNREADABLE), (State.COMPLETE, Frame.OTHER)} <= walked


@pytest.mark.parametrize("release", WITH_TOKENS)
@pytest.mark.parametrize("key", ["tokens", "no-tokens"])
def test_a_persona_deals_in_tokens_as_its_release_did(release, key):
    name = token_requests.KEY if release != "2.2" else "delegation.token.master.key"
    config = SETTINGS | ({name: "secret"} if key == "tokens" else {})
    made, numbers = core(release, config), iter(range(1, 10_000))
    recorded = json.loads((FOLDER / f"{key}-{release}.json").read_text())
    what = token_requests.everything if key == "tokens" else token_requests.without_key
    ours = what(lambda listener: CoreWire(made, listener, next(numbers)), release)
    differ = {name: (recorded[name], ours[name]) for name in ours if recorded[name] != ours[name]}
    assert differ == {}
    assert recorded.keys() == ours.keys()
