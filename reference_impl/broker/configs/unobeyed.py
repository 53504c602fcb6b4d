"""Settings that this broker does not act on: which of them stop its start, and which do no harm.

A broker that is told to authenticate its peers and then believes everybody promises what it
does not keep. So a setting that would change who may do what, or what is kept, and that nothing
here acts on, is refused before anything listens, as Kafka refuses to start with what it cannot do
(KafkaConfig's ConfigException). A setting that is only slower, smaller or elsewhere without us is
harmless: DescribeConfigs shows it and nobody is deceived. A test walks every setting of every
release: acted on, harmless, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings


class Refusal(NamedTuple):
    """The values that change nothing here, and what would be broken by every other."""

    harmless: tuple[str, ...]
    why: str


_NO_BUILDER = "no class of yours is loaded here, so a principal is what Kafka makes of its user"
_NO_POLICY = "no class of yours is loaded here, so nothing would be refused by it"
_NO_TIERS = "there is no remote storage here, and retention is local"
_NO_TLS_TO_ZOOKEEPER = "ZooKeeper is spoken to in plain text, without ACLs"

REFUSED: Mapping[str, Refusal] = {
    "principal.builder.class": Refusal(
        (
            "",
            "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        ),
        _NO_BUILDER,
    ),
    "alter.config.policy.class.name": Refusal(("",), _NO_POLICY),
    "create.topic.policy.class.name": Refusal(("",), _NO_POLICY),
    "client.quota.callback.class": Refusal(("",), _NO_POLICY),
    "config.providers": Refusal(("",), "values are taken as they are written, not looked up"),
    "zookeeper.set.acl": Refusal(("false",), _NO_TLS_TO_ZOOKEEPER),
    "zookeeper.ssl.client.enable": Refusal(("false",), _NO_TLS_TO_ZOOKEEPER),
    "zookeeper.metadata.migration.enable": Refusal(
        ("false",), "a registry does not move from ZooKeeper to KRaft here"
    ),
    "remote.log.storage.system.enable": Refusal(("false",), _NO_TIERS),
    "cordoned.log.dirs": Refusal(("",), "new replicas are put into every log directory here"),
    "eligible.leader.replicas.enable": Refusal(
        ("false",), "elections here know the ISR and nobody else"
    ),
    "offsets.commit.required.acks": Refusal(
        ("-1",), "a commit here is answered when all in sync have it"
    ),
    "transaction.two.phase.commit.enable": Refusal(
        ("false",), "every transaction here ends at its timeout"
    ),
}

# What nothing here acts on either, by the beginning of its name, and why that harms nobody.
HARMLESS: Mapping[str, str] = {
    r"sasl\.(client|kerberos|mechanism\.controller|login\.(?!callback|class))": (
        "it acts on clients, or on mechanisms that are refused"
    ),
    r"sasl\.oauthbearer\.(assertion|client|jwt\.retriever|scope$|token)": (
        "it is how a client comes by its token"
    ),
    r"ssl\.(endpoint|keymanager|protocol|provider|secure|trustmanager)|security\.providers": (
        "how Java's own TLS is built, or a client's"
    ),
    r"zookeeper\.ssl\.": "it acts with zookeeper.ssl.client.enable, which is refused",
    r"password\.encoder\.": "no password is stored",
    r"remote\.|follower\.fetch\.last\.tiered": "it acts with remote storage, which is refused",
    r"alter\.config\.policy\.kraft": "it acts with a policy, which is refused",
    r"(early\.start|control\.plane)\.listener": (
        "brokers of one process reach one another without a listener"
    ),
    r"advertised\.(host\.name|port)|host\.name": "addresses are those of the command line",
    r"controller\.quorum\.|controller\.socket|metadata\.(log|max)|initial\.broker\.registration": (
        "the metadata log is in this process"
    ),
    r"broker\.heartbeat|broker\.id\.generation": "membership is told at once",
    r"zookeeper\.(?!connect$|session)": "of a session that its client library keeps",
    r"(replica\.)?socket\.(?!request|timeout)|queued\.max\.requests": (
        "buffers and queues are sized by the system"
    ),
    r"[a-z.]*purgatory\.purge": "what waits is let go when it is done",
    r"(replication|alter\.log)[a-z.]*quota\.window": (
        "rates of replicas are averaged over Kafka's default windows"
    ),
    r"[a-z.]*threads$": "one thread serves",
    r"[a-z.]*(compression\.codec|cached\.buffer)|share\.coordinator\.load": (
        "how an internal topic is laid out or read is nobody's contract"
    ),
    r"[a-z.]*append\.linger": "records are appended at once",
    r"num\.(recovery\.threads|replica\.fetchers)": "only how many threads do it",
    r"log\.cleaner\.io": "the cleaner reads as fast as it can",
    r"log\.dir\.failure|leader\.imbalance\.per\.broker": "a failure is acted on at once",
    r"metric|kafka\.metrics|auto\.include\.jmx": "nothing is measured for others",
    r"offsets\.commit\.timeout|share\.coordinator\.write": "only how long a commit may wait",
    r"add\.partitions\.to\.txn": "only how long is waited between tries",
    r"transaction\.partition\.verification": "it is always verified",
    r"group\.(consumer|share)\.assignors": "the assignors are Kafka's own",
}
_HARMLESS = {re.compile(pattern): why for pattern, why in HARMLESS.items()}


def harmless(name: str) -> str | None:
    """Return why it harms nobody that nothing acts on this setting; None where something does, or
    where it may be refused.
    """
    return next((why for pattern, why in _HARMLESS.items() if pattern.match(name)), None)


def refusal(name: str, value: str) -> str | None:
    """Return why this value of a setting ends the start; None where it does not."""
    found = REFUSED.get(name)
    return None if found is None or value.strip() in found.harmless else found.why


def check(config: Mapping[str, str]) -> None:
    """Raise ValueError, with one line that names the setting, for the first that is refused."""
    for name, value in config.items():
        if why := refusal(name, value):
            raise ValueError(f"{name}={value} is not obeyed, so it is refused: {why}")
    ListenerSettings.of(config)
