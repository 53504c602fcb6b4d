"""A log directory that another program wrote loses nothing by being served."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.io.registry_file import RegistryFile
from touchstone.reference_impl.io.server import build, serve
from touchstone.reference_impl.log.files import names
from touchstone.reference_impl.tests.io.test_data_dir import STAMP, create, produce, values
from touchstone.reference_impl.tests.io.test_serving import Peer

DAY_MS = 86_400_000
LEFT_OVER = (
    "words-7.0123456789abcdef0123456789abcdef-delete",
    "words-8.0123456789abcdef0123456789abcdef-future",
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """One partition with five records that are a month old, and what a broker left on its way."""
    with serve(data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, retention_ms="-1") == 0
        for number in range(5):
            assert produce(peer, number, stamp=STAMP - 30 * DAY_MS) == (0, number)
    root = tmp_path / "broker-0"
    for name in LEFT_OVER:
        (root / name).mkdir()
        (root / name / "leader-epoch-checkpoint").write_bytes(b"0\n0\n")
    return root


def test_what_nobody_asked_for_removes_nothing(foreign, caplog):
    """Topic settings of Kafka stand elsewhere, so a default of ours may not decide over records."""
    with serve(data=foreign) as running:
        running.advance(DAY_MS)
        with Peer(running.bootstrap[0]) as peer:
            assert values(peer) == [b"%d" % n for n in range(5)]
    assert all((foreign / name / "leader-epoch-checkpoint").exists() for name in LEFT_OVER)
    said = "log.retention.ms=-1, log.cleaner.enable=false unless given otherwise"
    assert any(said in each for each in caplog.messages)


def test_retention_that_is_asked_for_holds(foreign):
    config = {"log.retention.hours": "24", "log.cleaner.enable": "true"}
    with serve(data=foreign, config=config) as running:
        running.advance(DAY_MS)
    kept = [path.name for path in (foreign / "words-0").glob("*.log")]
    assert kept == [names.name_of(5, names.LOG)]


def test_the_folder_of_another_topic_is_kept_aside(foreign, caplog):
    """One flipped bit of `partition.metadata`: 3.9.2 and 4.3.1 keep the folder as stray."""
    with serve(data=foreign):
        pass
    path = foreign / "words-0" / names.PARTITION_METADATA
    text = path.read_text()
    path.write_text(text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1])
    records = (foreign / "words-0" / names.name_of(0, names.LOG)).read_bytes()
    with serve(data=foreign) as running:
        running.advance(120_000)
        with Peer(running.bootstrap[0]) as peer:
            assert values(peer) == []
    (stray,) = foreign.glob("words-0.*-stray")
    assert (stray / names.name_of(0, names.LOG)).read_bytes() == records
    with serve(data=foreign):
        pass
    assert stray.exists()


def test_an_empty_owner_is_refused_by_the_name_of_its_file(foreign):
    (foreign / names.META_PROPERTIES).write_bytes(b"")
    for root in (foreign, foreign.parent):
        with pytest.raises(
            LogDirError, match=rf"broker-0/{names.META_PROPERTIES}: version is None"
        ):
            build(data=root)


def test_a_registry_that_cannot_be_written_ends_the_broker_with_one_reason(tmp_path):
    """A full disk, say: the process must not go on to tell of what a restart would forget."""

    class Full(Disk):
        def pwrite(self, *_: object) -> int:
            raise OSError(28, "No space left on device")

    cluster = Cluster([Node(0, "h", 1)], random=Random(0))
    with pytest.raises(LogDirError, match=r"touchstone\.json cannot be written: .*No space left"):
        RegistryFile(tmp_path, Full()).keep(cluster)
