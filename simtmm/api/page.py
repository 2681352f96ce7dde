"""docs/api.md, written from the docstrings: what `import simtmm` offers.

`python -m simtmm.api.page` rewrites it; a test compares it with the docstrings.
"""

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import simtmm
from simtmm.files import write_text, written_whole
from simtmm.python_text import parsed

PAGE = Path("docs/api.md")
WIDTH = 88  # characters of a signature in one line
GROUPS = {
    "Run, record and measure": (
        "run", "explain", "diff", "explore", "record", "recording", "recorded", "import_trace", "measure", "micro",
    ),
    "Step by step": ("lower", "simulate", "count", "predict"),
    "Studies": (
        "sweep", "findings", "tune", "threads", "zigzag", "crossover", "compare", "predictions", "calibrate",
    ),
    "What there is": (
        "kernels", "machines", "load_kernel", "load_machine", "load_trace", "load_workload", "__version__",
    ),
    "Kernels launched from Python": ("RawKernel", "RawModule", "TextureObject", "SurfaceObject", "TensorMap"),
    "Values": (
        "Machine", "Trace", "Workload", "Launch", "Parameter", "Counts", "Result", "Prediction", "Measurement", "Run",
        "Explanation", "Beside", "Difference",
        "Predictions", "Results", "Findings", "Comparison", "Calibration", "Micro", "Picture",
    ),
    "Errors": ("SimtmmError",),
}  # fmt: skip
INTRODUCTION = """# The Python interface

What `import simtmm` offers, from the docstrings: `python -m simtmm.api.page` writes this page, and a test compares it.
All other modules may change without notice. Errors that a caller can cause are `SimtmmError`s.
"""


def page() -> str:
    """The page, in Markdown. Raises KeyError unless the groups have each public name once."""
    grouped = sorted(name for names in GROUPS.values() for name in names)
    if grouped != sorted(simtmm.__all__):
        differing = Counter(grouped)
        differing.subtract(simtmm.__all__)
        raise KeyError(f"GROUPS: not once each: {', '.join(name for name, count in differing.items() if count)}")
    parts = [INTRODUCTION]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [entry for name in names for entry in _entries(name)]
    return "\n".join(parts)


def _entries(name: str) -> Iterator[str]:
    """What the page holds of a public name."""
    value = getattr(simtmm, name)
    yield f"### simtmm.{name}\n"
    if not inspect.isclass(value) and not inspect.isfunction(value):
        yield "The version, a text.\n"
        return
    if inspect.isfunction(value):
        yield f"```python\n{_signature(name, _parsed(value), WIDTH)}\n```\n"
    yield _markdown(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        yield from _members(value)


def _members(value: type[Any]) -> Iterator[str]:
    """The public methods and properties of a class, each with the first sentences of its docstring."""
    lines = []
    homes = [each for each in value.__mro__ if each.__module__.startswith("simtmm.")]
    seen: set[str] = set()
    for home in homes:
        for node in _parsed(home).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or node.name in seen:
                continue
            seen.add(node.name)
            decorators = {ast.unparse(each) for each in node.decorator_list}
            if decorators & {"property", "functools.cached_property", "cached_property"}:
                shown = f".{node.name}{_returns(node)}"
            else:
                shown = "." + _signature(node.name, node)
            text = (ast.get_docstring(node) or "").split("\n\n")[0]
            lines.append(f"- `{shown}`: {' '.join(text.split())}")
    if lines:
        yield "\n".join(lines) + "\n"


def _parsed(value: Any) -> Any:
    """The syntax tree of a function or class: annotations as they are written, whatever version of Python this is."""
    return parsed(textwrap.dedent(inspect.getsource(value))).body[0]


def _signature(name: str, node: ast.FunctionDef, width: int | None = None) -> str:
    """A function's name, arguments and result; an argument a line where that is longer than `width`."""
    arguments, returns = _arguments(node.args), _returns(node)
    signature = f"{name}({', '.join(arguments)}){returns}"
    if width is None or len(signature) <= width:
        return signature
    return "\n".join([f"{name}(", *(f"    {each}," for each in arguments), f"){returns}"])


def _arguments(node: ast.arguments) -> list[str]:
    """The arguments as a caller sees them, each with its type and default."""
    positional = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
    shown = [_argument(each, default) for each, default in zip(positional, defaults, strict=True)]
    if positional and positional[0].arg in ("self", "cls"):
        del shown[0]
    if node.vararg:
        shown.append(f"*{_argument(node.vararg)}")
    elif node.kwonlyargs:
        shown.append("*")
    shown += [_argument(each, default) for each, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    return [*shown, *([f"**{_argument(node.kwarg)}"] if node.kwarg else [])]


def _argument(node: ast.arg, default: ast.expr | None = None) -> str:
    annotated = f"{node.arg}: {_type(node.annotation)}" if node.annotation else node.arg
    if default is None:
        return annotated
    return f"{annotated} = {ast.unparse(default)}" if node.annotation else f"{annotated}={ast.unparse(default)}"


def _returns(node: ast.FunctionDef) -> str:
    return f" -> {_type(node.returns)}" if node.returns is not None else ""


def _type(node: ast.expr) -> str:
    """An annotation; one that is written as a text without its quotes."""
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _markdown(docstring: str) -> str:
    """A docstring with its lines of arguments as a list."""
    lines: list[str] = []
    in_list = False
    for line in docstring.splitlines():
        argument = re.match(r"(\*{0,2}[a-z_]\w*(?:, \w+)*): (.*)", line)
        if argument:
            lines.append(f"- `{argument[1]}`: {argument[2]}")
            in_list = True
        elif in_list and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            in_list = in_list and not line
            lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write docs/api.md of the working directory."""
    with written_whole(PAGE) as temporary:
        write_text(temporary, page())


if __name__ == "__main__":
    main()
