"""Whenever a broker is killed, or its power cut, nothing is lost that it had promised to keep.

A seeded workload (appends, rolls, flushes, deletions, truncations, compactions, checkpoints) runs
on a disk that stops at a random byte, also while recovery from the last stop is under way. A killed
process keeps all that it acknowledged, whatever the flush settings; after a power cut that holds
with `flush.messages=1`, and without it for what was flushed (LOG-09, LOG-13, LOG-14). Start-up
succeeds always.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.io.log_dirs import LogDirs
from touchstone.reference_impl.log.cleaner import Cleaning
from touchstone.reference_impl.log.dirtiness import dirty_part
from touchstone.reference_impl.log.partition_log import LOG_END
from touchstone.reference_impl.log.topic_config import LONG_MAX, TopicConfig
from touchstone.reference_impl.tests.log.stores import HastyDisk
from touchstone.reference_impl.tests.log_dirs.breaking_disk import BreakingDisk, Power, PowerCut
from touchstone.reference_impl.tests.log_dirs.one_dir import KEY, NOW, state
from touchstone.reference_impl.wire.records import NONE, build, entries, read, read_header

STEPS, STOPS = 60, 20
RULES = rules_of(persona("4.3"))


class World:
    """A directory, what its records must say, and a broker that dies over and over."""

    def __init__(self, root, seed: int, *, flush_messages: int) -> None:
        self.root, self.chance = root / "data", random.Random(seed)
        self.grave = root / "grave"
        self.grave.mkdir()
        self.config = replace(
            TopicConfig(), segment_bytes=900, index_interval_bytes=150,
            flush_messages=flush_messages, file_delete_delay_ms=0,
        )  # fmt: skip
        self.promised: dict[int, bytes] = {}  # offset -> value of each record that must be there
        self.flushed: set[int] = set()  # offsets that were durable when the power went
        self.sent = 0

    def live(self, budget: int) -> tuple[int, Power]:
        """One life of a broker; how much power it used, and the power."""
        power = Power(budget, self.grave)
        dirs = LogDirs(
            [self.root], lambda topic: self.config, rules=RULES, disk=partial(BreakingDisk, power)
        )
        try:
            dirs.load(NOW)
            log = dirs.open(state(is_new=not dirs.dirs[0].logs), NOW)
            log.become_leader(0)
            for _ in range(STEPS):
                self.step(dirs, log)
            dirs.close(NOW)
        except PowerCut:
            dirs.release()
        return power.spent, power

    def step(self, dirs: LogDirs, log) -> None:
        actions = (
            self.append, self.flush, self.checkpoint, self.compact, self.clean, self.delete,
            self.truncate,
        )  # fmt: skip
        self.chance.choices(actions, [50, 3, 6, 2, 4, 3, 3])[0](dirs, log)

    def append(self, dirs: LogDirs, log) -> None:
        self.sent += 1
        values = [b"%d-%d" % (self.sent, n) * 4 for n in range(self.chance.randrange(1, 5))]
        keys = [b"k%d" % self.chance.randrange(9) for _ in values]
        rows = list(zip(keys, values, strict=True))
        done = log.append(build(2, rows, NONE, timestamp=NOW + self.sent), now=NOW)
        log.advance_high_watermark(log.log_end_offset)
        self.promised.update(enumerate(values, done.base_offset))
        self.note(log)

    def note(self, log) -> None:
        self.flushed |= {offset for offset in self.promised if offset < log.recovery_point}

    def flush(self, dirs: LogDirs, log) -> None:
        log.flush(NOW)
        self.note(log)

    def checkpoint(self, dirs: LogDirs, log) -> None:
        home = dirs.dirs[0]
        for task in (
            home.write_recovery_points, home.write_log_starts, home.write_high_watermarks,
            home.write_cleaner_offsets,
        ):  # fmt: skip
            task()
        home.remove_expired(NOW)

    def forget(self, offsets) -> None:
        for offset in list(offsets):
            self.promised.pop(offset, None)
            self.flushed.discard(offset)

    def delete(self, dirs: LogDirs, log) -> None:
        to = self.chance.randrange(log.log_start_offset, log.high_watermark + 1)
        self.forget(range(to))
        log.delete_to(to, NOW)

    def truncate(self, dirs: LogDirs, log) -> None:
        firsts = [int.from_bytes(e[:8], "big") for e in log.segments[-1].entries()]
        at = self.chance.choice([*firsts, log.log_end_offset])
        self.forget(range(at, log.log_end_offset))
        log.truncate_to(at, NOW)

    def clean(self, dirs: LogDirs, log) -> None:
        """The cleaner itself: of each key below the active segment, only the last must stay."""
        dirty = dirty_part(log, self.config, NOW)
        if not dirty.dirty_bytes:
            return
        latest: dict[bytes, int] = {}
        for segment in log.segments:
            for row in (row for entry in segment.entries() for row in read(entry)):
                if row["offset"] < dirty.end:
                    self.forget([latest.get(row["key"], -1)])
                    latest[row["key"]] = row["offset"]
        for _ in Cleaning(log, dirty, self.config, NOW).run():
            pass

    def compact(self, dirs: LogDirs, log) -> None:
        """Drop every third batch of the closed segments."""
        old = [s for s in log.segments[:-1] if s.base_offset >= log.log_start_offset][:2]
        if not old:
            return
        kept = []
        for at, entry in enumerate(e for segment in old for e in segment.entries()):
            rows = read(entry)
            if at % 3:
                kept.append((bytes(entry), rows[-1]["offset"]))
            else:
                self.forget(row["offset"] for row in rows)
        fresh = log.store.begin_cleaned(old[0].base_offset, NOW)
        for entry, last in kept:
            fresh.append(entry, last, NOW, NOW)
        log.replace_segments(old, [fresh], NOW)

    def found(self) -> dict[int, bytes]:
        """Every record that a broker with steady power finds, read as a consumer does."""
        dirs = LogDirs([self.root], lambda topic: self.config, rules=RULES, disk=HastyDisk)
        dirs.load(NOW)
        assert not dirs.dirs[0].offline
        records = {}
        if KEY in dirs.dirs[0].logs:
            log = dirs.dirs[0].logs[KEY]
            at = log.log_start_offset
            while at < log.log_end_offset:
                got = log.read(at, 500, isolation=LOG_END, min_one=True).records
                whole = [pos for pos, _, _ in entries(got)]
                if not whole:
                    break
                records |= {r["offset"]: r["value"] for r in read(got) if r["offset"] >= at}
                last = read_header(got, whole[-1]).last_offset
                assert last >= at
                at = last + 1
        dirs.release()
        return records


def whole_life(tmp_path, seed: int, **settings) -> int:
    (tmp_path / "measure").mkdir()
    return World(tmp_path / "measure", seed, **settings).live(1 << 60)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("what", "flush_messages"),
    [("kill", LONG_MAX), ("power cut", 1), ("power cut", LONG_MAX)],
)
def test_nothing_promised_is_lost(tmp_path, seed, what, flush_messages):
    total = whole_life(tmp_path, seed, flush_messages=flush_messages)
    world = World(tmp_path, seed, flush_messages=flush_messages)
    for stop in range(STOPS):
        budget = world.chance.randrange(total // (1 + stop % 3))
        _, power = world.live(budget)
        if what == "power cut":
            power.lose(world.chance)
        found = world.found()
        safe = world.promised
        if what == "power cut" and flush_messages > 1:
            safe = {offset: world.promised[offset] for offset in world.flushed}
        lost = {offset for offset, value in safe.items() if found.get(offset) != value}
        assert not lost, f"stop {stop} at {budget}"
        # What was not promised may have survived; from here on it counts like the rest.
        world.promised = found
        world.flushed &= found.keys()


def test_a_store_that_skips_its_flush_is_caught(tmp_path, monkeypatch):
    """The liar: `flush` returns at once, and power cuts then cost what was promised."""
    monkeypatch.setattr(
        "touchstone.reference_impl.io.disk_store.DiskStore.flush", lambda self, segments: None
    )
    caught = False
    for seed in range(20):
        root = tmp_path / str(seed)
        root.mkdir()
        world = World(root, seed, flush_messages=1)
        _, power = world.live(2500 + 100 * seed)
        power.lose(world.chance)
        found = world.found()
        caught = caught or any(found.get(o) != value for o, value in world.promised.items())
    assert caught
