"""Names that a source takes or makes and never reads, and calls and rows that are given one thing twice.

Both are what a mistyped name leaves behind: the name that was meant is read no more, or another stands there twice.
Only the names are looked at, one source at a time. What is right in spite of that stands in loose_names.txt, by reason.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
Function = ast.FunctionDef | ast.AsyncFunctionDef
TYPES = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)}
OF_TYPES = {"ctypes", "np", "ir"}  # modules whose names are types, mostly
ANNOTATES = {"annotation", "returns", "decorator_list", "bases", "type_params"}
READ = ast.Name, ast.Attribute, ast.Subscript
LEAVES = ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.boolop
ITSELF_INSTEAD = {"get", "getattr", "pop"}  # what gives the second where there is no first


def right(path: Path = LIST) -> Counter[str]:
    """What is known to be right, each as often as it is there; lines that begin with # say why."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return Counter(line for line in lines if line and not line.startswith("#"))


def shared_names(modules: Iterable[ast.Module]) -> set[str]:
    """Names that more than one function has: what they take is agreed between them, and one may not need all of it."""
    found = Counter(name.rpartition(".")[2] for tree in modules for _, name, _ in _functions(tree))
    return {name for name, times in found.items() if times > 1}


def loose(module: str, tree: ast.Module, shared: set[str]) -> Counter[str]:
    """All of one source, as the list has them. shared: names of functions in more places than one."""
    return Counter(f"{module}: {each}" for each in (*_unread(tree, shared), *_twice(tree)))


def loose_in(modules: Mapping[str, ast.Module]) -> Counter[str]:
    """All of a package."""
    shared = shared_names(modules.values())
    return sum((loose(module, tree, shared) for module, tree in modules.items()), Counter[str]())


def _functions(node: ast.AST, around: str = "", of: ast.AST | None = None) -> Iterator[tuple[Function, str, ast.AST]]:
    """Functions with their dotted names, and what they are of: a module, a class or a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child, f"{around}{child.name}", of or node
        inside = f"{around}{child.name}." if isinstance(child, (*Function.__args__, ast.ClassDef)) else around
        yield from _functions(child, inside, child if inside != around else of)


def _unread(tree: ast.Module, shared: set[str]) -> Iterator[str]:
    """Parameters and local names that their function never reads."""
    for function, name, of in _functions(tree):
        inside = [each for part in function.body for each in ast.walk(part)]
        names = [each for each in inside if isinstance(each, ast.Name)]
        read = {each.id for each in names if not isinstance(each.ctx, ast.Store)}
        if not _is_agreed(function, of, shared):
            given = function.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            taken = [each.arg for each in every if each]
            if isinstance(of, ast.ClassDef) and "staticmethod" not in map(_last, function.decorator_list):
                taken = taken[1:]
            yield from (f"{name}: reads no {each}" for each in taken if each not in read and not each.startswith("_"))
        yield from (f"{name}: reads no {each}" for each in _made(inside, names) if each not in read)


def _is_agreed(function: Function, of: ast.AST, shared: set[str]) -> bool:
    """Whether others say what a function takes: a caller who calls many so, a class that it is a kind of, CUDA."""
    if function.decorator_list and {"staticmethod", "classmethod"}.isdisjoint(map(_last, function.decorator_list)):
        return True
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if all(isinstance(each, (ast.Pass, ast.Raise)) for each in body):
        return True
    if function.name.startswith("__"):
        return function.name != "__init__"
    if isinstance(of, ast.ClassDef) and of.bases:
        return True
    return function.name in shared and not (isinstance(of, ast.Module) and function.name.startswith("_"))


def _made(inside: list[ast.AST], names: list[ast.Name]) -> list[str]:
    """The local names that a function assigns, each once, but for those that say that they are not read."""
    outer = {name for each in inside if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names}
    fields = {
        id(name) for each in inside if isinstance(each, ast.ClassDef) for part in each.body for name in ast.walk(part)
    }
    stored = [each.id for each in names if isinstance(each.ctx, ast.Store) and id(each) not in fields]
    return [each for each in dict.fromkeys(stored) if not each.startswith("_") and each not in outer]


def _last(node: ast.AST) -> str:
    """The last name of a name or an attribute."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _twice(tree: ast.AST, around: str = "") -> Iterator[str]:
    """Calls, rows, comparisons, differences and quotients with the same name, attribute or element in two places."""
    for field, value in ast.iter_fields(tree):
        if field in ANNOTATES:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, LEAVES) or _is_type(node):
                continue
            inside = f"{around}{node.name}." if isinstance(node, (*Function.__args__, ast.ClassDef)) else around
            called = _last(node.func) if isinstance(node, ast.Call) else type(node).__name__.lower()
            read = [each for each in _parts(node, called) if isinstance(each, READ) and not _is_type(each)]
            if len(read) > 1:
                times = Counter(map(ast.unparse, read))
                yield from (f"{inside}{called}: {times[each]} times {each}" for each in times if times[each] > 1)
            yield from _twice(node, inside)


def _parts(node: ast.AST, called: str) -> list[ast.expr]:
    match node:
        case ast.Call() if called not in ITSELF_INSTEAD:
            return [*node.args, *(each.value for each in node.keywords)]
        case ast.Tuple() | ast.List() if isinstance(node.ctx, ast.Load):
            return node.elts
        case ast.BinOp() if not isinstance(node.op, (ast.Add, ast.Mult)):
            return [node.left, node.right]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.BoolOp():
            return node.values
    return []


def _is_type(node: ast.AST) -> bool:
    """Whether it is the name of a type, or of what nobody reads."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in OF_TYPES
    if not isinstance(node, ast.Name):
        return False
    return node.id in TYPES or node.id == "_" or (node.id[0].isupper() and not node.id.isupper() and len(node.id) > 1)
