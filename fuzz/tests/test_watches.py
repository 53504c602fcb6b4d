"""Each watch is silent about a good broker and complains about a defect of its own: its canary."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from touchstone.fuzz.runner import Link
from touchstone.fuzz.targets import SMALL_CLUSTER
from touchstone.fuzz.triage import framed
from touchstone.fuzz.watches import WATCHES, canary_connection, stored_batches
from touchstone.fuzz.watches.canary_records import Acknowledged
from touchstone.fuzz.watches.log_growth import SPARE
from touchstone.fuzz.watches.processes import held_by
from touchstone.fuzz.watches.watch import Played, Watched, eventually
from touchstone.fuzz.watches.watching import Complaint, Watching
from touchstone.harness.model.record_view import view
from touchstone.harness.model.target import Endpoint, Shape
from touchstone.harness.targets.reference import ReferenceTarget
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records import build

OF_PROCESSES = {"memory", "idle_processor", "descriptors", "log_growth"}
UNREADABLE = framed((3).to_bytes(2, "big") + bytes(8))  # Metadata 0 without its array

NAMELESS = framed(encode_request(42, 0, 1, None, {"groups_names": [""]}))  # a DeleteGroups

# A defect that the watch must see, and how many unreadable requests bring it about.
CANARIES = {
    "canary_connection": ("slower-with-each-unreadable", 60),
    "canary_group_member": ("heartbeats-refused-after-40-unreadable", 40),
    "canary_records": ("lost-write", 0),
    "canary_transaction": ("torn-transaction", 0),
    "cleaner": ("compaction-drops-last-value", 0),
    "bystanders": ("a-group-without-a-name-is-all-groups", 1),
    "leaders": ("leaders-change-at-40-unreadable", 40),
    "restart": ("half-the-log-lost-on-restart", 0),
    "stored_batches": ("every-20th-crc-stored-wrong", 0),
}


@contextlib.contextmanager
def a_broker(*switches: str):
    target = ReferenceTarget("4.3", switches=switches)
    try:
        endpoint = target.start(Shape(config=SMALL_CLUSTER))
        yield Watched(endpoint, target.advertised(), in_process=True)
    finally:
        target.stop()


def watched(names, target: Watched, unreadable: int = 0, looks: int = 25):
    """What these watches say of a campaign of so many bad frames in which each looks so often."""
    watching = Watching(names, target, lambda: Played(cases=unreadable))
    for watch in watching.watches.values():
        watch.every_s = 0.0
    with watching, Link(*target.address, timeout_s=30) as link:
        for _ in range(unreadable):
            link.play([NAMELESS if "bystanders" in names else UNREADABLE], probe=False)
        begun = Counter(watching.looked)

        def enough() -> bool:
            busy = [
                name for name in watching.watches if watching.looked[name] - begun[name] < looks
            ]
            return not busy or bool(watching.complaints)

        eventually(enough, link, "the watches do not look", seconds=120)
    return watching


def test_every_watch_has_its_canary():
    assert CANARIES.keys() | OF_PROCESSES == WATCHES.keys()


def test_what_is_complained_about_a_dead_target_is_not_told():
    watching = Watching([], Watched(None, {}), Played)
    watching.complaints = [Complaint("a", "late", 9.0), Complaint("b", "refused", 9.1, dead=True)]
    watching.forget_death()
    assert [one.sentence for one in watching.complaints] == ["late"]


def test_a_complaint_says_whether_the_target_was_dead(monkeypatch):
    monkeypatch.setattr(canary_connection, "BOUND_S", 0.0)  # so that a good broker is too slow
    with a_broker() as target:
        alive = watched(["canary_connection"], target, looks=1000)
    with Watching(["canary_connection"], target, Played) as of_dead:
        eventually(lambda: of_dead.complaints, Link(*target.address), "it is silent")
    assert [one.dead for one in alive.complaints] == [False]
    assert [one.dead for one in of_dead.complaints] == [True]


def test_an_answer_to_something_else_is_a_complaint(monkeypatch):
    monkeypatch.setattr("touchstone.fuzz.watches.watching.is_alive", lambda *_: True)
    watching = Watching([], Watched(Endpoint((("127.0.0.1", 1),)), {}), Played)
    watching._look("canary_records", lambda: {"responses": []}["responses"][0])
    (complaint,) = watching.complaints
    assert complaint.sentence.startswith("an answer lacks what was asked for: ")
    assert '["responses"][0]' in complaint.sentence


@pytest.mark.slow
def test_all_are_silent_about_a_good_broker():
    with a_broker() as target:
        found = watched(WATCHES, target, unreadable=50)
    assert (found.complaints, found.not_watched.keys()) == ([], OF_PROCESSES)


@pytest.mark.slow
@pytest.mark.parametrize("name", CANARIES)
def test_a_watch_complains_about_its_canary(name, monkeypatch):
    # The planted one is slower by work, which takes a fast machine less than the real bound.
    monkeypatch.setattr(canary_connection, "BOUND_S", 0.02)
    switch, unreadable = CANARIES[name]
    with a_broker(switch) as target:
        names = ["canary_records", name] if name == "stored_batches" else [name]
        found = watched(names, target, unreadable)
    assert name in {complaint.watch for complaint in found.complaints}


# ------------------------------------------------------------------------ what a process holds


@pytest.fixture
def a_process():
    """A process that does what it is told to by a line of Python, and says so."""
    program = "import sys\nfor line in sys.stdin:\n exec(line); print(flush=True)"
    argv = [sys.executable, "-c", program]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:

        def told(line: str) -> None:
            child.stdin.write(line + "\n")
            child.stdin.flush()
            child.stdout.readline()

        child.told = told
        yield child
        child.kill()


def of_process(child, tmp_path) -> Watched:
    node = SimpleNamespace(child=SimpleNamespace(pid=child.pid))
    return Watched(Endpoint((("127.0.0.1", 1),), nodes={0: node}, logs=tmp_path), {})


def complaint_of(name: str, target: Watched, harm) -> str | None:
    watch = WATCHES[name]()
    watch.before(target)
    harm()
    return watch.after(0.0, Played(cases=10, sent=1000))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("descriptors", "import socket; kept = [socket.socket() for _ in range(40)]"),
        ("descriptors", "kept = [open('/dev/null') for _ in range(40)]"),
        ("memory", "kept = b'x' * (200 << 20)"),
    ],
)
def test_what_a_process_keeps_is_noticed(name, harm, a_process, tmp_path, monkeypatch):
    monkeypatch.setattr("touchstone.fuzz.watches.resources.SETTLES_S", 0.1)
    target = of_process(a_process, tmp_path)
    assert complaint_of(name, target, lambda: None) is None
    assert complaint_of(name, target, lambda: a_process.told(harm))


@pytest.mark.slow
def test_a_process_that_is_busy_though_nobody_asks_is_noticed(a_process, tmp_path, monkeypatch):
    watch = WATCHES["idle_processor"]()
    monkeypatch.setattr(watch, "LOOKS", 1)
    a_process.told("pass")  # it has started
    watch.before(of_process(a_process, tmp_path))
    assert watch.after(0.0, Played()) is None
    a_process.stdin.write("while True: pass\n")
    a_process.stdin.flush()
    assert watch.after(0.0, Played())


def test_a_log_that_grows_with_what_is_sent_is_noticed(a_process, tmp_path):
    target, log = of_process(a_process, tmp_path), tmp_path / "broker.log"
    assert complaint_of("log_growth", target, lambda: log.write_bytes(bytes(2000))) is None
    assert complaint_of("log_growth", target, lambda: log.write_bytes(bytes(2 * SPARE)))


def test_what_a_process_holds_is_counted(a_process):
    before = held_by([a_process.pid])
    a_process.told("import socket; kept = [socket.socket(), open('/dev/null')]")
    after = held_by([a_process.pid])
    assert (after.sockets - before.sockets, after.files - before.files) == (1, 1)


# ------------------------------------------------------------------------------- what was stored


def entry(**changed):
    return view(build(2, [(b"k", b"v"), (b"k", b"w")], timestamp=1))[0] | changed


@pytest.mark.parametrize(
    ("changed", "word"),
    [({"crc": 1}, "CRC"), ({"records_count": 3}, "3 records"), ({"fault": "cut"}, "decode")],
)
def test_a_batch_that_is_not_sound_is_told(changed, word):
    assert word in stored_batches.fault(entry(**changed))


def test_a_sound_batch_is_not_told():
    assert stored_batches.fault(entry()) is None


@pytest.fixture
def acknowledged():
    one = Acknowledged(None, "t")
    one.offsets, one.sent = {"a": 0, "b": 1, "c": 2}, ["a", "b", "c", "d"]
    one.unknown = {"d"}
    return one


GOOD = [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize("shown", [GOOD, [*GOOD, (3, "d")]])
def test_what_was_acknowledged_and_may_be_is_no_complaint(shown, acknowledged):
    assert acknowledged.complaint("somebody", shown) is None


@pytest.mark.parametrize(
    ("shown", "word"),
    [
        (GOOD[:2], "misses 1"),
        ([*GOOD, (3, "x")], "nobody sent"),
        ([*GOOD, (3, "c")], "twice"),
        ([GOOD[1], GOOD[0], GOOD[2]], "out of order"),
        ([(5, "a"), (6, "b"), (7, "c")], "told was"),
    ],
)
def test_what_a_reader_must_not_be_shown_is_a_complaint(shown, word, acknowledged):
    assert word in acknowledged.complaint("somebody", shown)


def test_a_target_that_was_not_started_here_has_no_processes(tmp_path):
    target = replace(of_process(SimpleNamespace(pid=1), tmp_path), in_process=True)
    watching = Watching(["memory"], target, Played)
    with watching:
        pass
    assert watching.not_watched == {"memory": "the target runs in the process of the fuzzer"}
