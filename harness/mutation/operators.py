"""What is changed in a function's text, one place at a time: a table of operators.

Each makes what an author of a broker gets wrong in a line: the other comparison, the neighbour of a
number, a condition the wrong way round, a statement that is missing, arguments in the wrong order.
Texts that no peer sees are left alone: log lines, assertions, errors that are raised, docstrings.

A rejected road: a library of mutants (mutmut, cosmic-ray). They test a project by its unit tests,
one process and one changed file at a time; here thousands of cases are collected once, and what is
changed is one function's code in a process that has them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from touchstone.reference_impl.wire.errors import ErrorCode

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
QUIET = {"LOG", "log", "logging", "warnings"}
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
UNSEEN = {"__repr__", "__str__", "__hash__"}
NEXT_CODE = {one.name: other.name for one, other in pairwise(ErrorCode)}

Change = tuple[ast.AST, ast.AST, str]  # a node of the function, what stands there now, operator


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed place. `function` is the outermost one, by its qualified name; `was` and `now`
    are Python, the first line of it; `number` counts the places of its module.
    """

    module: str
    function: str
    line: int
    operator: str
    was: str
    now: str
    number: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.was} -> {self.now}"


class Source:
    """A module's text with its mutants."""

    def __init__(self, module: str, text: str) -> None:
        self._tree = ast.parse(text)
        self._changes: list[Change] = []
        self.mutants: list[Mutant] = []
        for name, function in _functions(self._tree, ""):
            for node, other, operator in _changes(function):
                line = getattr(node, "lineno", function.lineno)
                was, now = (ast.unparse(one).split("\n")[0] for one in (node, other))
                number = len(self.mutants)
                self.mutants.append(Mutant(module, name, line, operator, was, now, number))
                self._changes.append((node, other, operator))

    def changed(self, number: int) -> ast.Module:
        """The module's tree with the mutant of this number."""
        node, other, _ = self._changes[number]
        tree = copy.deepcopy(self._tree, _kept(node))
        _Replaced(node, other).visit(tree)
        return tree


class _Replaced(ast.NodeTransformer):
    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self.node = node
        self.other = ast.fix_missing_locations(ast.copy_location(other, node))

    def visit(self, node: ast.AST) -> ast.AST:
        return self.other if node is self.node else self.generic_visit(node)


def _kept(node: ast.AST) -> dict[int, ast.AST]:
    """A memo of `deepcopy` that leaves this node as it is, so that it can be found by identity."""
    return {id(node): node}


def _functions(
    tree: ast.AST, within: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The outermost functions with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
        elif isinstance(node, FUNCTION) and node.name not in UNSEEN:
            yield f"{within}{node.name}", node


def _changes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    body = [one for one in function.body if not _is_text(one)]
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Assert | ast.Raise | ast.JoinedStr) or _is_quiet(node):
            continue
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                yield from ((node, other, operator.__name__) for other in operator(node))
        waiting += reversed([one for one in ast.iter_child_nodes(node) if not _is_type(node, one)])


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_quiet(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return isinstance(call.func.value, ast.Name) and call.func.value.id in QUIET


def _is_type(parent: ast.AST, node: ast.AST) -> bool:
    return node in (getattr(parent, "annotation", None), getattr(parent, "returns", None))


# --- the operators: a node -> what may stand in its place -----------------------------------------


def comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for at, operator in enumerate(node.ops):
        for other in COMPARED[type(operator)]:
            yield ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]],
                              node.comparators)  # fmt: skip


def constant(node: ast.Constant) -> Iterator[ast.AST]:
    """A flag is the other one, a number its neighbour."""
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        if node.value > 1:
            yield ast.Constant(node.value - 1)


def condition(node: ast.If | ast.IfExp) -> Iterator[ast.AST]:
    """The branch is taken always, and never."""
    for value in (True, False):
        changed = copy.copy(node)
        changed.test = ast.copy_location(ast.Constant(value), node.test)
        yield changed


def negation(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.Not):
        yield node.operand


def both(node: ast.BoolOp) -> Iterator[ast.AST]:
    """`and` for `or`, and one operand less."""
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for at in range(len(node.values)):
        left = [*node.values[:at], *node.values[at + 1 :]]
        yield left[0] if len(left) == 1 else ast.BoolOp(node.op, left)


def arithmetic(node: ast.BinOp) -> Iterator[ast.AST]:
    if other := ARITHMETIC.get(type(node.op)):
        yield ast.BinOp(node.left, other(), node.right)


def call(node: ast.Call) -> Iterator[ast.AST]:
    """The function that looks alike, and the first two arguments the other way round."""
    if isinstance(node.func, ast.Name) and node.func.id in CALLED:
        yield ast.Call(ast.Name(CALLED[node.func.id], ast.Load()), node.args, node.keywords)
    names = [one for one in node.args[:2] if isinstance(one, ast.Name | ast.Attribute)]
    if len(names) == 2:
        yield ast.Call(node.func, [*reversed(names), *node.args[2:]], node.keywords)


def code(node: ast.Attribute) -> Iterator[ast.AST]:
    """The error code that stands next to it."""
    of_errors = isinstance(node.value, ast.Name) and node.value.id == "ErrorCode"
    if of_errors and node.attr in NEXT_CODE:
        yield ast.Attribute(node.value, NEXT_CODE[node.attr], ast.Load())


def statement(node: ast.Expr | ast.Assign | ast.AugAssign | ast.Delete) -> Iterator[ast.AST]:
    """What changes something and is not done. A local name stays, as others need it."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else ()
    if isinstance(node, ast.Expr):
        dropped = isinstance(node.value, ast.Call)
    else:
        dropped = not any(isinstance(one, ast.Name | ast.Tuple) for one in targets)
    if dropped:
        yield ast.Pass()


def loop(node: ast.Continue | ast.Break) -> Iterator[ast.AST]:
    yield ast.Break() if isinstance(node, ast.Continue) else ast.Continue()


Operator = Callable[..., Iterator[ast.AST]]
OPERATORS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Operator], ...] = (
    (ast.Compare, comparison),
    (ast.Constant, constant),
    ((ast.If, ast.IfExp), condition),
    (ast.UnaryOp, negation),
    (ast.BoolOp, both),
    (ast.BinOp, arithmetic),
    (ast.Call, call),
    (ast.Attribute, code),
    ((ast.Expr, ast.Assign, ast.AugAssign, ast.Delete), statement),
    ((ast.Continue, ast.Break), loop),
)
