"""Other people's clients log in, write a record and read it: what each of them says to its user.

ONE if it read the record; else its own error, without addresses and times.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import errors as aiokafka_errors
from aiokafka.abc import AbstractTokenProvider as AiokafkaTokens
from confluent_kafka import Consumer, KafkaError, Producer

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer, KafkaProducer
    from kafka import errors as kafka_errors
    from kafka.net.sasl.oauth import AbstractTokenProvider as KafkaPythonTokens

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.harness.tests.clients.logins import OAUTHBEARER, Login
from touchstone.harness.tests.clients.programs import PATIENCE_S, VERSION

ONE = "one"
QUIET = logging.getLogger("librdkafka")
UNHEARD = "KafkaTimeoutError"
TRIES, BOOTSTRAP_MS = 3, 1500
_REFUSED = re.compile(r"(SaslAuthenticationFailed\w*): (?!Sasl)(.+?)(?: \(backoff .*)?$")
_PLACE = re.compile(r"(?:\S+/(?:bootstrap|\d+): )|(?: \(after \d+ms in state \w+\))")


def librdkafka(where: str, topic: str, login: Login, authority: str) -> str:
    errors: list[KafkaError] = []
    own: dict[str, Any] = {
        "bootstrap.servers": where, "security.protocol": login.protocol,
        "ssl.ca.location": authority, "sasl.mechanism": login.mechanism,
        "error_cb": errors.append,
    }  # fmt: skip
    if login.mechanism == OAUTHBEARER:
        own["enable.sasl.oauthbearer.unsecure.jwt"] = True
        own["sasl.oauthbearer.config"] = f"principal={login.user} scope={login.secret}"
    else:
        own |= {"sasl.username": login.user, "sasl.password": login.secret}
    producer = Producer(own | {"linger.ms": 0}, logger=QUIET)
    producer.produce(topic, ONE.encode())
    while producer.flush(0.05):
        for each in errors:
            if each.code() == KafkaError._AUTHENTICATION:
                producer.purge()
                return f"{each.name()}: {_PLACE.sub('', each.str())}"
    consumer = Consumer(own | {"group.id": topic, "auto.offset.reset": "earliest"}, logger=QUIET)
    consumer.subscribe([topic])
    message = consumer.poll(PATIENCE_S)
    consumer.close()
    return message.value().decode() if message else "nothing"


class _OfKafkaPython(KafkaPythonTokens):
    def __init__(self, login: Login) -> None:
        self._login = login

    def token(self) -> str:
        return self._login.bearer


class _OfAiokafka(AiokafkaTokens):
    def __init__(self, login: Login) -> None:
        self._login = login

    async def token(self) -> str:
        return self._login.bearer


def _python(where: str, login: Login) -> dict[str, Any]:
    own: dict[str, Any] = {
        "bootstrap_servers": where, "security_protocol": login.protocol,
        "sasl_mechanism": login.mechanism,
    }  # fmt: skip
    if login.mechanism != OAUTHBEARER:
        own |= {"sasl_plain_username": login.user, "sasl_plain_password": login.secret}
    return own


@contextmanager
def _heard(library: str, speaker: str) -> Iterator[list[str]]:
    """What a client logs of refused logins: to its user it says only that it did not connect.

    Nobody else is told meanwhile, for pytest keeps records, and these keep sockets from being
    collected before the test ends.
    """
    heard: list[str] = []

    class Hearing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said = _REFUSED.search(record.getMessage())
            if said and record.name == speaker:
                heard.append(f"{said[1]}: {said[2]}")

    hearing, logger = Hearing(), logging.getLogger(library)
    logger.addHandler(hearing)
    logger.propagate = False
    try:
        yield heard
    finally:
        logger.propagate = True
        logger.removeHandler(hearing)


ASKS_AGAIN_MS = 5000


def kafka_python(where: str, topic: str, login: Login, authority: str) -> str:
    """UNHEARD where it says nothing but that it did not connect: it reads a connection to its end
    before it looks at what it read, so it misses an answer that comes just before the end, some of
    ours and most of Kafka's.
    """
    own = _python(where, login) | {"ssl_cafile": authority}
    if login.mechanism == OAUTHBEARER:
        own["sasl_oauth_token_provider"] = _OfKafkaPython(login)
    producer = None
    with _heard("kafka", "kafka.net.manager") as heard:
        for _ in range(TRIES):
            try:
                producer = KafkaProducer(**own, bootstrap_timeout_ms=BOOTSTRAP_MS)
                break
            except kafka_errors.KafkaTimeoutError:
                if heard:
                    return heard[0]
    if producer is None:
        return UNHEARD
    producer.send(topic, ONE.encode()).get(PATIENCE_S)
    producer.close()
    # Where its first answer about metadata was asked for before it knew its topic, it asks again
    # only when that is old: by default after five minutes.
    consumer = KafkaConsumer(
        topic, **own, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE_S * 1000,
        metadata_max_age_ms=ASKS_AGAIN_MS,
    )  # fmt: skip
    found = next(consumer).value.decode()
    consumer.close()
    return str(found)


def aiokafka(where: str, topic: str, login: Login, authority: str) -> str:
    """A refused bearer token is no error to it: what follows is not answered, until it gives up."""
    own = _python(where, login) | {"request_timeout_ms": 5000}
    if login.protocol == "SASL_SSL":
        own["ssl_context"] = ssl.create_default_context(cafile=authority)
    if login.mechanism == OAUTHBEARER:
        own["sasl_oauth_token_provider"] = _OfAiokafka(login)

    async def through() -> bytes:
        producer = AIOKafkaProducer(**own)
        try:
            await producer.start()
            await producer.send_and_wait(topic, ONE.encode())
        finally:
            await producer.stop()
        consumer = AIOKafkaConsumer(topic, **own, auto_offset_reset="earliest")
        await consumer.start()
        message = await asyncio.wait_for(consumer.getone(), PATIENCE_S)
        await consumer.stop()
        return bytes(message.value)

    with _heard("aiokafka", "aiokafka") as heard:
        try:
            return asyncio.run(through()).decode()
        except aiokafka_errors.KafkaError as refused:
            return heard[0] if heard else type(refused).__name__


def franz_go(run: Callable[..., str], where: str, topic: str, login: Login, authority: str) -> str:
    kind = f"{login.mechanism} by token" if login.by_token else login.mechanism
    secret = login.bearer if login.mechanism == OAUTHBEARER else login.secret
    trusted = authority if login.protocol == "SASL_SSL" else ""
    said = run(where, topic, kind, login.user, secret, trusted).strip()
    return said.removeprefix("read ").removeprefix("error ")


def java(
    folder: Path, where: str, topic: str, logins: Iterable[Login], authority: str
) -> dict[Login, str]:
    """One JVM says it of all."""
    files = {}
    for number, login in enumerate(logins):
        told = {"bootstrap.servers": where} | login.java(authority)
        file = folder / f"{number}.properties"
        lines = (f"{key}={value}\n".replace("\\", "\\\\") for key, value in told.items())
        file.write_text("".join(lines))
        files[str(file)] = login
    done = subprocess.run(
        [str(find_java().executable), *QUICK, "-cp", class_path(kafka_home(VERSION)),
         str(Path(__file__).with_name("Logins.java")), topic, *files],
        capture_output=True, text=True, timeout=4 * PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith("at ")]
    return {files[file]: said for _, file, said in rows}
