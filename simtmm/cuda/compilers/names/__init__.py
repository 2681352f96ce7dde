"""Names of kernels as people write them, from those in PTX."""

import re
from collections.abc import Sequence

from simtmm.cuda.compilers.names.demangling import demangled as demangled
from simtmm.documents import COMMENT
from simtmm.launch import bare_name as bare_name


def is_expression(name: str) -> bool:
    """Whether a kernel's name is more than a word: an instance of a template, or one in a namespace.

    name: as a program gives it.
    """
    return "<" in name or "::" in name


def entry_named(entries: Sequence[str], expression: str) -> str | None:
    """The entry that an expression such as "scale<float, 3>" names; None where none does, or more than one may.

    Where a type goes by another name in the source, the only instance of that template is the one that is meant.
    """
    wanted = _without_spaces(expression)
    readable = {entry: _before_parameters(demangled(entry)) for entry in entries}
    same = [entry for entry, name in readable.items() if name == wanted]
    template = wanted.partition("<")[0]
    if not same and "<" in wanted:
        same = [entry for entry, name in readable.items() if name.partition("<")[0] == template and "<" in name]
    return same[0] if len(same) == 1 else None


def template_kernels(source: str) -> list[str]:
    """The names of a source's __global__ functions that are templates."""
    plain = re.sub(COMMENT, " ", source, flags=re.DOTALL)
    found = []
    for part in re.split(r"[;{}]", plain):
        before, word, behind = part.partition("__global__")
        if word and re.search(r"\btemplate\s*<", before):
            names = (each[1] for each in re.finditer(r"\b(\w+)\s*\(", behind))
            found += [name for name in names if name != "__launch_bounds__"][:1]
    return list(dict.fromkeys(found))


def _without_spaces(name: str) -> str:
    return re.sub(r"\s+(?=\W)|(?<=\W)\s+", "", name.strip()).removeprefix("::")


def _before_parameters(name: str) -> str:
    """Of "void ns::f<int, (char)3>(float*)" the name, without spaces, and without what is before it."""
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(name[place], 0)
        if depth == 0 and name[place] == "(":
            name = name[:place]
            break
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += {">": 1, "<": -1, ")": 1, "(": -1}.get(name[place], 0)
        if depth == 0 and name[place] == " ":
            return _without_spaces(name[place + 1 :])
    return _without_spaces(name)
