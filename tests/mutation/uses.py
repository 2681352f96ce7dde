"""Where names are used: of what no test is seen to run, a constant or a compiled loop, those who use it are looked at.

A line at a module's top runs when it is imported, and a loop that is compiled to machine code runs unseen.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.mutation.faults import Fault

DEEP = 4  # users of users, and so on
Use = tuple[str, str, int]  # the file, the function, the line
COMMON = 40  # uses: a name that is used more often says nothing


class Uses:
    """Where each name is used, in all sources of a tree: the file, the function, the line."""

    def __init__(self, tree: Path) -> None:
        self._uses: dict[str, set[Use]] = {}
        self._imports: dict[str, set[str]] = {}
        for path in sorted((tree / "simtmm").rglob("*.py")):
            file = path.relative_to(tree).as_posix()
            tree_of_file = ast.parse(path.read_bytes())
            self._imports[file] = _imported(tree_of_file)
            for function in ast.walk(tree_of_file):
                if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    for name, line in _names(function):
                        self._uses.setdefault(name, set()).add((file, function.name, line))
            for statement in tree_of_file.body:
                for assigned in _stored(statement):
                    for name in _loaded(statement):
                        self._uses.setdefault(name, set()).add((file, assigned, statement.lineno))

    def of(self, fault: Fault, source: bytes) -> Iterator[dict[str, set[int]]]:
        """Lines by file that use what a fault is in: its function, or what its line assigns; then users of these.

        Others may have the same name: where any users are in the same file or import it, they alone are meant.
        """
        known = {(fault.file, name) for name in _assigned(source, fault)}
        seen = set[tuple[str, str]]()
        for _ in range(DEEP):
            found = {use for of, name in known for use in self._users(of, name)}
            seen |= known
            lines: dict[str, set[int]] = {}
            for file, _, line in found:
                lines.setdefault(file, set()).add(line)
            if lines:
                yield lines
            known = {(file, name) for file, name, _ in found} - seen

    def _users(self, file: str, name: str) -> set[Use]:
        """The uses of a name that a file has."""
        uses = self._uses.get(name, set())
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        near = {use for use in uses if use[0] == file or module in self._imports[use[0]]}
        return near or (uses if len(uses) <= COMMON else set())


def _imported(tree: ast.AST) -> set[str]:
    """The modules that a source imports, and names of modules."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def _names(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that a function uses, with the first line of the statement, and their own."""
    for statement in ast.walk(function):
        if isinstance(statement, ast.stmt) and statement is not function:
            parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]
            for each in (inner for part in parts for inner in ast.walk(part)):
                name = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else None
                if name:
                    yield name, statement.lineno
                    yield name, each.lineno  # type: ignore[attr-defined]


def _assigned(source: bytes, fault: Fault) -> set[str]:
    """The names of what a fault is in: its function's and class's, or those that its line assigns."""
    if fault.function and own_lines(source, fault):
        names = fault.function.split(".")
        return {names[-2] if names[-1] == "__init__" and len(names) > 1 else names[-1]}
    return {
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno <= fault.line <= (node.end_lineno or 0)
        for name in _stored(node)
    }


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module's top assigns."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return set()
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _loaded(statement: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def own_lines(source: bytes, fault: Fault) -> set[int]:
    """The lines of the body of the innermost function around a fault; none at a module's top."""
    found = [
        set(range(each.body[0].lineno, (each.end_lineno or each.lineno) + 1))
        for each in ast.walk(ast.parse(source))
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
        and each.lineno <= fault.line <= (each.end_lineno or each.lineno)
    ]
    return min(found, key=len) if found else set()
