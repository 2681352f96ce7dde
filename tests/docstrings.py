"""Arguments of public functions that their docstrings do not describe, found in the source.

Public is a function, or a method of a class, without an underscore that a module of another room imports. An argument
is described where its name stands before a colon, alone or with others ("first, last: ..."), or in backticks. One that
is called as its class ("machine: Machine") is described there, and so is a letter of a paper that the docstring has as
a word. Of an array the description gives the shape
("int64[blocks]", "shape (blocks,)"), unless its type is a record's.

A number that is called as a time, an amount of memory or a rate (QUANTITIES) has its unit in its description, and the
result of such a function, or of one that says when, in the docstring ("[s]", "ticks", "bytes/s"), unless its name says
it ("seconds").

`python -m tests.docstrings` prints what is left to be described, a function a line.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ARRAYS = re.compile(r"\b(?:NDArray|Integers|Numbers|Array)\b")
SHAPE = re.compile(r"\w+\[[^\]]*\]|\bshapes?\b|\bn of\b")
OWN = ("self", "cls")
QUANTITIES = {
    "bandwidth", "clock", "delay", "duration", "frequency", "interval", "latency", "period", "rate", "size", "speed",
    "throughput", "time", "until",
}  # fmt: skip
UNIT = re.compile(
    r"\[[^\]]+\]|\b(?:(?:milli|micro|nano)?seconds?|ticks?|cycles?|bytes?|bits?|words?|elements?|chunks?|sectors?|lines?"
    r"|blocks?|threads?|instructions?|points?|combinations?|units?|[KMG]i?B(?:/s)?|[kMG]?Hz|[mnu]?s)\b"
)
NEXT = re.compile(r"(?<=[.\n])\s+\w+(?:, \w+)*:\s")  # where the description of another argument begins


def module_of(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room that a module is in: the part of its name behind simtmm."""
    return module.partition(".")[2].partition(".")[0]


def shared_names(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """(module, name) of what a module of another room imports."""
    found = set()
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or node.level or not (node.module or "").startswith("simtmm"):
                continue
            for name in node.names:
                if room_of(node.module) != room_of(module) and not name.name.startswith("_"):
                    found |= {(node.module, name.name)}
                    found |= origins(trees, node.module, name.name)
    return found


def origins(trees: dict[str, ast.Module], module: str, name: str) -> set[tuple[str, str]]:
    """Where a name of a package comes from that only hands it on."""
    found = set()
    for node in trees.get(module, ast.Module([], [])).body:
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if name in {each.asname or each.name for each in node.names}:
            found.add((node.module, name))
            found |= origins(trees, node.module, name)
    return found


def functions(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Public functions and methods under these names: how each is called, itself, and its docstring.

    Of a method that makes an object the docstring is its class's, too.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            yield node.name, node, ast.get_docstring(node) or ""
        elif isinstance(node, ast.ClassDef) and node.name in names:
            of_class = ast.get_docstring(node) or ""
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and is_public(each):
                    own = ast.get_docstring(each) or ""
                    text = f"{of_class}\n{own}" if each.name == "__init__" or is_class_method(each) else own
                    yield f"{node.name}.{each.name}", each, text


def is_public(method: ast.FunctionDef) -> bool:
    """Whether others call a method, or make objects by it; what sets a property is described where that is read."""
    sets = any(isinstance(each, ast.Attribute) and each.attr == "setter" for each in method.decorator_list)
    return not sets and (method.name == "__init__" or not method.name.startswith("_"))


def is_class_method(function: ast.FunctionDef) -> bool:
    """Whether a method makes an object of its class, as far as its decorator tells."""
    return any(isinstance(each, ast.Name) and each.id == "classmethod" for each in function.decorator_list)


def description(text: str, argument: str) -> str | None:
    """What a docstring says of an argument, from its name to the next empty line; None if it says nothing."""
    name = re.escape(argument)
    found = re.search(rf"(?<![\w`]){name}(?:, \w+)*:\s", text) or re.search(f"`{name}`", text)
    if found is None and (len(argument) == 1 or argument != argument.lower()):
        found = re.search(rf"\b{name}\b", text)
    return None if found is None else text[found.start() :].partition("\n\n")[0]


def names_its_class(argument: ast.arg) -> bool:
    """Whether an argument is called as its class is, or a part of its class's name."""
    if argument.annotation is None:
        return False
    called = argument.arg.replace("_", "").lower()
    singulars = {called, called.removesuffix("s"), called.removesuffix("es")}
    classes = re.findall(r"\b[A-Z]\w+", ast.unparse(argument.annotation))
    return any(each.lower().endswith(singular) for each in classes for singular in singulars)


def undescribed(function: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> list[str]:
    """Arguments of a function whose meaning, or whose shape if they are arrays, its docstring does not give."""
    every = function.args
    found = []
    for argument in (*every.posonlyargs, *every.args, *every.kwonlyargs):
        if argument.arg in OWN or argument.arg.startswith("_"):
            continue
        said = description(text, argument.arg)
        is_array = argument.annotation is not None and ARRAYS.search(ast.unparse(argument.annotation))
        is_described = bool(said and SHAPE.search(said)) if is_array else bool(said) or names_its_class(argument)
        if not is_described:
            found.append(argument.arg)
    return found


def is_quantity(name: str, annotation: ast.expr | None) -> bool:
    """Whether a number that is called so has a unit that its name does not say."""
    if annotation is None or not re.search(r"\b(?:int|float)\b", ast.unparse(annotation)):
        return False
    words = name.split("_")
    return words[-1].removesuffix("s") in QUANTITIES and words[0] not in ("is", "has")


def without_unit(function: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> list[str]:
    """Numbers with a unit that the docstring does not say: arguments, and `return`."""
    every = function.args
    found = []
    for argument in (*every.posonlyargs, *every.args, *every.kwonlyargs):
        if argument.arg in OWN or not is_quantity(argument.arg, argument.annotation):
            continue
        said = description(text, argument.arg) or ""
        own = said[: len(argument.arg) + 1] + NEXT.split(said[len(argument.arg) + 1 :])[0]
        if not UNIT.search(own.partition(":")[2] or own):
            found.append(argument.arg)
    tells_a_time = text.startswith("When ") and is_quantity("time", function.returns)
    if (is_quantity(function.name, function.returns) or tells_a_time) and not UNIT.search(text):
        found.append("return")
    return found


def counted(lacking: Callable[..., list[str]] = undescribed) -> tuple[dict[str, list[str]], int]:
    """What public functions lack, by function; and how many arguments these have."""
    files = sorted((ROOT / "simtmm").rglob("*.py"))
    trees = {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in files}
    shared = shared_names(trees)
    found: dict[str, list[str]] = {}
    total = 0
    for module, tree in trees.items():
        names = {name for where, name in shared if where == module}
        for name, function, text in functions(tree, names):
            every = function.args
            total += len([each for each in (*every.args, *every.kwonlyargs) if each.arg not in OWN])
            if lacks := lacking(function, text):
                found[f"{module}.{name}"] = lacks
    return found, total


def lines(found: dict[str, list[str]]) -> str:
    """What is undescribed, a function a line."""
    return "".join(f"{name}: {', '.join(arguments)}\n" for name, arguments in sorted(found.items()))


if __name__ == "__main__":
    undescribed_ones, every_one = counted()
    print(lines(undescribed_ones), end="")
    left = sum(map(len, undescribed_ones.values()))
    print(f"{left:,} of {every_one:,} arguments, {len(undescribed_ones):,} functions")
    print("\nwithout a unit:\n" + lines(counted(without_unit)[0]), end="")
