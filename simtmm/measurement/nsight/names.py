"""Names of kernels as different tools write them, and which of them may be the same kernel.

Nsight Compute writes a name with its parameters, the function's name alone or the mangled name
(`--kernel-name-base`, `--print-kernel-base`), Nsight Systems likewise (`cuda_gpu_kern_sum:base`, `:mangled`). Of an
instance of a template Nsight Compute writes the parameters as they were declared, with T1 for the first argument of
the template: "void saxpy<float>(int, T1, const T1 *, T1 *)".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simtmm.cuda.compilers import demangled

_CAST = re.compile(r"\((?:(?:un)?signed |long |short )*(?:bool|char|short|int|long|float|double)\)(?=[-\w])")
_SUFFIX = re.compile(r"(?<=\d)[uU]?[lL]{0,2}\b")
_DECLARED = re.compile(r"\bT([1-9]\d{0,2})\b(::)?")  # an argument of a template, and what depends on it
_WHOLE = {"unsignedint": "unsigned", "true": "1", "false": "0"}


@dataclass(frozen=True)
class KernelName:
    """A kernel's name in parts.

    scope: its namespaces, outermost first. base: the function. template: arguments, None where none are written.
    parameters: types, None where none are written.
    """

    scope: tuple[str, ...]
    base: str
    template: str | None
    parameters: str | None

    def may_be(self, other: "KernelName") -> bool:
        """Whether both may name the same kernel: what both names have must be equal.

        other: the other name.
        """
        if self.parameters is not None and other.parameters is not None and self.scope != other.scope:
            return False  # both are whole names
        shorter = min(len(self.scope), len(other.scope))
        one, two = self.scope[len(self.scope) - shorter :], other.scope[len(other.scope) - shorter :]
        return (
            (one, self.base) == (two, other.base)
            and _agree(self.template, other.template)
            and _agree(self.parameters, other.parameters)
        )


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def kernel_name(text: str) -> KernelName:
    """The parts of a name as a compiler or a profiler writes it, mangled or not.

    text: "void ns::saxpy<(int)3>(float *, int)", "saxpy" or "_Z5saxpyPfi".
    """
    found = demangled(text.strip()) if text.strip().startswith("_Z") else text.strip()
    found = found.removeprefix("void ").strip()
    whole, parameters = _split_last(found, "(", ")")
    name, template = _split_last(whole, "<", ">")
    *scope, base = _scopes(name) or [""]
    if parameters is not None and any("<" in each for each in scope):  # arguments of a class count first, or not
        parameters = _as_instance(parameters, [])
    elif parameters is not None and template is not None:
        parameters = _as_instance(parameters, list(_parts(template, ",")))
    return KernelName(tuple(map(_plain, scope)), base.strip(), template, parameters)


def _as_instance(parameters: str, arguments: Sequence[str]) -> str | None:
    """Types of parameters with those that are arguments of a template in their place; None where that leaves some open:
    types that depend on an argument, arguments of a class around, and packs.
    """
    found = _DECLARED.findall(parameters)
    if any(dependent or int(number) > len(arguments) for number, dependent in found) or "..." in parameters:
        return None
    return _DECLARED.sub(lambda each: arguments[int(each[1]) - 1], parameters)


def without_parameters(text: str) -> str:
    """The name with its namespaces and template arguments, without the type of its result and its parameters.

    text: as of `kernel_name`.
    """
    found = demangled(text.strip()) if text.strip().startswith("_Z") else text.strip()
    return _split_last(found.removeprefix("void ").strip(), "(", ")")[0]


def _split_last(text: str, opening: str, closing: str) -> tuple[str, str | None]:
    """A text without the bracket at its end, and what stands in that, made plain; None without one at the end."""
    if not text.endswith(closing):
        return text, None
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == closing) - (text[index] == opening)
        if depth == 0:
            if index == 0 or text[:index].endswith("::"):  # "(anonymous namespace)" alone
                return text, None
            return text[:index].strip(), _plain(text[index + 1 : -1])
    return text, None


def _plain(text: str) -> str:
    """A type or value without what tools write differently: spaces, casts, suffixes of numbers, places of const."""
    found = _SUFFIX.sub("", _CAST.sub("", text))
    found = re.sub(r"\b(true|false)\b", lambda each: _WHOLE[each[0]], found)
    found = re.sub(r"\bunsigned int\b", "unsigned", found)
    found = re.sub(r"\b(long|short) int\b", r"\1", found)
    found = re.sub(r"\b(?:const|volatile|__restrict(?:__)?)\b", "", found)
    found = re.sub(r"\(anonymous namespace\)|<unnamed>|_GLOBAL__N__?\w*", "{anonymous}", found)
    return re.sub(r"\s+", "", found)


def _scopes(name: str) -> list[str]:
    return [part for part in _parts(name) if part]


def _parts(name: str, between: str = "::") -> Iterator[str]:
    """What stands between those signs that are in no bracket."""
    depth = begin = 0
    for index, letter in enumerate(name):
        depth += (letter in "<(") - (letter in ">)")
        if depth == 0 and name.startswith(between, index):
            yield name[begin:index]
            begin = index + len(between)
    yield name[begin:]
