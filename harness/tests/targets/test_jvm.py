"""What a formatted folder is given: all that StorageTool wrote, with identifiers of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.harness.targets import jvm
from touchstone.harness.targets.java import Java
from touchstone.harness.targets.matrix import release


@pytest.mark.parametrize(
    "written", ["bootstrap.checkpoint", "__cluster_metadata-0/0-0.checkpoint"], ids=["4.3", "4.4"]
)
def test_a_node_gets_what_the_tool_wrote_wherever_it_wrote_it(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tool(_release: object, _java: object, _home: object, folder: Path) -> None:
        (folder / "data" / written).parent.mkdir(parents=True)
        (folder / "data" / written).write_bytes(b"records")
        (folder / "data" / "meta.properties").write_text("cluster.id=the-tool's\n")

    monkeypatch.setattr(jvm, "_format", tool)
    monkeypatch.setattr(jvm, "cache_dir", lambda: tmp_path / "cache")
    java = Java(tmp_path / "java", 17)
    for node, cluster in ((3, "ours"), (4, "ours too")):
        data = tmp_path / f"disk-{node}"
        jvm.format_node(release("4.3"), java, tmp_path / "kafka", data, node=node, cluster=cluster)
        said = (data / "meta.properties").read_text(encoding="ascii")
        assert (data / written).read_bytes() == b"records"
        assert f"cluster.id={cluster}\n" in said
        assert f"node.id={node}\n" in said
