"""An entry of the cache is whole or absent, and is built once."""

import threading

import pytest

from touchstone.harness.targets.cache import cache_dir, kept

pytestmark = pytest.mark.timeout(600)


def test_a_failed_build_leaves_no_entry(tmp_path):
    def build(folder):
        (folder / "half").write_text("x")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        kept(tmp_path / "entry", build)
    assert [path.name for path in tmp_path.iterdir()] == [".entry.lock"]


def test_parallel_builders_build_once(tmp_path):
    built, start = [], threading.Barrier(4)

    def build(folder):
        built.append(folder)
        (folder / "whole").write_text("x")

    def ask():
        start.wait()
        assert (kept(tmp_path / "entry", build) / "whole").exists()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_the_folder_is_the_users_choice(tmp_path, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("TOUCHSTONE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "xdg" / "touchstone"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir().parts[-2:] == (".cache", "touchstone")
