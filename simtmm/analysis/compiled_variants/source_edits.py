"""CUDA C++ with a word more here and there. Lines stay where they are; what fits nothing comes back unchanged.

The text is matched, not parsed: whether the result is a program, the compiler says.
"""

import re

_KERNEL = re.compile(
    r"__global__(?P<between>[^;{()]*(?:\([^()]*\)[^;{()]*)?)\b(?P<name>\w+)\s*\((?P<parameters>[^(){}]*)\)"
)
_POINTER = re.compile(r"\*(?!\s*(?:__restrict__|const\b))\s*(?=\w+\s*(?:,|$))")
_LOOP = re.compile(r"\bfor\s*\(")


def restricted(text: str) -> str:
    """Each pointer that a kernel takes is `__restrict__`: what it points to is reached by no other one."""

    def change(found: "re.Match[str]") -> str:
        parameters = _POINTER.sub("* __restrict__ ", found["parameters"])
        start, end = (at - found.start() for at in found.span("parameters"))
        return found[0][:start] + parameters + found[0][end:]

    return _KERNEL.sub(change, text)


def bounded(text: str, name: str, threads: int, blocks: int) -> str:
    """A kernel with `__launch_bounds__`: the compiler gives it no more registers than so many blocks leave it."""

    def change(found: "re.Match[str]") -> str:
        if found["name"] != name or "__launch_bounds__" in found["between"]:
            return found[0]
        start, end = (at - found.start() for at in found.span("between"))
        return f"{found[0][:start]}{found['between']} __launch_bounds__({threads}, {blocks}) {found[0][end:]}"

    return _KERNEL.sub(change, text)


def unbounded(text: str) -> str:
    """Without `__launch_bounds__`."""
    return re.sub(r"__launch_bounds__\s*\([^()]*\)", "", text)


def loop_before(text: str, line: int) -> int | None:
    """The line of the `for` at or nearest before a line, counted from 1; None where there is none in its function."""
    lines = text.splitlines()
    for number in range(min(line, len(lines)), 0, -1):
        if _LOOP.search(lines[number - 1]):
            return number
        if "__global__" in lines[number - 1]:
            return None
    return None


def unrolled(text: str, line: int, times: int) -> str:
    """The first loop of a line is unrolled so many times."""
    lines = text.split("\n")
    before = lines[line - 2] if line > 1 else ""
    if "unroll" in lines[line - 1] or "unroll" in before:
        return text
    lines[line - 1] = _LOOP.sub(f'_Pragma("unroll {times}") for (', lines[line - 1], count=1)
    return "\n".join(lines)
