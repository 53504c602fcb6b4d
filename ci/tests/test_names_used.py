"""A name of a module that nobody uses is dead code, or a table's row that is read by its kind."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from touchstone.ci.tidy import ROOT, files

# Folders whose modules are searched for values of a class: no one names the value.
FOUND_BY_CLASS = ("reference_impl/wire/embedded/",)
HOOKS = ("pytest_", "on_")  # what pytest and MkDocs call by name
WORD = re.compile(r"[A-Za-z_]\w*")


def names_of(tree: ast.Module) -> Iterator[str]:
    """Constants, and functions and classes that nothing registers, of the module itself."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (leaf.id for leaf in ast.walk(target) if isinstance(leaf, ast.Name))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name


@pytest.mark.slow
def test_every_name_of_a_shipped_module_is_used():
    """A private one in its own module, any other somewhere."""
    tree = [*files()]
    words = {file.path: Counter(WORD.findall(file.text)) for file in tree}
    overlay = [path.read_text(encoding="utf-8") for path in (ROOT / "fuzz").rglob("*.toml")]
    everywhere = Counter(WORD.findall("\n".join(overlay)))
    for own in words.values():
        everywhere.update(own)
    dead = [
        f"{file.path}: {name}"
        for file in tree
        if file.python and not file.is_test and not file.path.startswith(FOUND_BY_CLASS)
        for name in names_of(file.tree)
        if not name.startswith(("__", *HOOKS))
        and (words[file.path] if name.startswith("_") else everywhere)[name] == 1
    ]
    assert not dead
