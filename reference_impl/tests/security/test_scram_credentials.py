"""SCRAM credentials are kept as the cluster keeps its other truths: on disk, and in ZooKeeper."""

import json
import random

import pytest

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster import image, znodes
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS, ScramCredential
from touchstone.reference_impl.cluster.scram_keys import of_password, parse
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.cluster.znodes import Form, Times

# What 1.0.2 wrote for --alter --add-config SCRAM-SHA-256=[iterations=4096,password=alice-scram].
OF_KAFKA = (
    "salt=YXRvazJuZWY0bmo4bnY0NzEwOTFxN3l0aQ==,stored_key=VKhwYinuLWphOQjPuw4jci+EFvnWDLbAVb983cAP7"
    "g8=,server_key=WW0YXgLMAE3VMjcii3hrsQDIwcq4W2hiX6fnDXxkT6U=,iterations=4096"
)
SHA_256 = NUMBERS["SCRAM-SHA-256"]


def cluster():
    return Cluster([Node(0, "127.0.0.1", 9092)], random=random.Random(1))


def test_kafkas_own_is_what_we_make_of_the_password():
    kafkas = ScramCredential.read(OF_KAFKA)
    ours = of_password("SCRAM-SHA-256", "alice-scram", kafkas.salt)
    assert ours == kafkas
    assert str(ours) == OF_KAFKA


def test_a_cluster_on_disk_keeps_them():
    one, other = cluster(), cluster()
    one.client_settings.put_credential("alice", SHA_256, ScramCredential.read(OF_KAFKA))
    image.restore(other, json.loads(json.dumps(image.image_of(one))))
    assert str(other.client_settings.credential("alice", SHA_256)) == OF_KAFKA


@pytest.mark.parametrize("release", ["1.0", "2.8"])
def test_zookeeper_holds_them_beside_quotas(release):
    one, other = cluster(), cluster()
    one.client_settings.put_credential("a,b", SHA_256, ScramCredential.read(OF_KAFKA))
    one.client_settings.set_quotas(entity({"user": "a,b"}), {"producer_byte_rate": 7.0})
    tree = znodes.picture(one, Form.of(persona(release).quirk), Times({}, 0), {})
    node = tree["/config/users/a%2Cb"]
    settings = znodes.read_config(node.text)
    assert settings == {"producer_byte_rate": "7", "SCRAM-SHA-256": OF_KAFKA}
    znodes.read_client(other.client_settings, entity({"user": "a,b"}), settings)
    assert str(other.client_settings.credential("a,b", SHA_256)) == OF_KAFKA
    assert other.client_settings.quota(entity({"user": "a,b"}), "producer_byte_rate") == 7.0
    znodes.read_client(other.client_settings, entity({"user": "a,b"}), {"SCRAM-SHA-256": "none"})
    assert other.client_settings.credentials("a,b") == {}


def test_the_form_of_add_scram():
    user, mechanism, made = parse('SCRAM-SHA-512=[name=a,password="b",iterations=5000,salt="N3E="]')
    assert (user, mechanism, made.iterations, made.salt) == ("a", "SCRAM-SHA-512", 5000, b"7q")
    salted = parse('SCRAM-SHA-512=[name=a,salt="N3E=",saltedpassword="YCE="]')
    assert salted[2].iterations == 4096


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SCRAM-SHA-1=[name=a,password=b]", "SCRAM-SHA-1 is not supported"),
        ("SCRAM-SHA-256=name=a", "Expected configuration string to start with ["),
        ("SCRAM-SHA-256=[password=a]", "You must supply 'name'"),
        ("SCRAM-SHA-256=[name=a]", "You must supply 'password'"),
        ("SCRAM-SHA-256=[name=a,password=b,c=d]", "Unknown SCRAM configurations: c"),
        ("SCRAM-SHA-256=[name=a,password=b,iterations=1]", "must be 4096 to 16384"),
        ("SCRAM-SHA-256=[name]", "No equals sign found in SCRAM component: name"),
    ],
)
def test_what_kafkas_tool_refuses_is_refused(text, words):
    with pytest.raises(ValueError) as refused:
        parse(text)
    assert words in str(refused.value)
