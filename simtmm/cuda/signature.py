"""The types of a kernel's parameters, as its source declares them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtmm.cuda.linked import LinkedModule
from simtmm.documents import COMMENT
from simtmm.errors import KernelError

_NUMBERS = {
    "bool": ("b", 1), "char": ("i", 1), "signed char": ("i", 1), "unsigned char": ("u", 1), "short": ("i", 2),
    "unsigned short": ("u", 2), "int": ("i", 4), "unsigned int": ("u", 4), "long": ("i", 8),
    "unsigned long": ("u", 8), "long long": ("i", 8), "unsigned long long": ("u", 8), "float": ("f", 4),
    "double": ("f", 8), "__half": ("f", 2), "half": ("f", 2),
}  # fmt: skip
_WORDS = {
    "unsigned": "unsigned int", "uint": "unsigned int", "size_t": "unsigned long", "int8_t": "signed char",
    "uint8_t": "unsigned char", "uchar": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "ushort": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
    "uint64_t": "unsigned long", "long int": "long", "long long int": "long long", "short int": "short",
    "unsigned long int": "unsigned long", "unsigned long long int": "unsigned long long",
    "unsigned short int": "unsigned short", "ptrdiff_t": "long", "signed int": "int", "signed": "int",
    "long unsigned int": "unsigned long",
}  # fmt: skip

_OBJECTS = {
    "cudaTextureObject_t": "TextureObject", "CUtexObject": "TextureObject",
    "cudaSurfaceObject_t": "SurfaceObject", "CUsurfObject": "SurfaceObject",
}  # fmt: skip


@dataclass(frozen=True)
class ParameterType:
    """A parameter. name: "" if unknown. text: its type as it is written. base: of what a pointer points to, or the
    type itself, without const; pointers: how many stars.
    """

    name: str
    text: str
    base: str
    pointers: int

    @property
    def number_kind(self) -> str:
        """ "i", "u", "f" or "b" for a number; "" for anything else, or what is not known."""
        return _NUMBERS[self.base][0] if not self.pointers and self.base in _NUMBERS else ""

    @property
    def object_kind(self) -> str:
        """ "TextureObject" or "SurfaceObject" where it is one; "" for anything else."""
        return "" if self.pointers else _OBJECTS.get(self.base, "")

    @property
    def element(self) -> "np.dtype[Any] | None":
        """The type of the numbers that it points to; None where it points to none, or nobody knows."""
        if self.pointers != 1 or self.base not in _NUMBERS:
            return None
        kind, size = _NUMBERS[self.base]
        return np.dtype(f"{kind}{size}")

    @property
    def points_to_const(self) -> bool:
        """Whether it is a pointer through which nothing may be written."""
        return bool(self.pointers) and "const" in f"{self.text.split('*')[-2]} {self.base}".split()

    def check_array(self, array: Any, where: str) -> None:
        """Raise KernelError for an array of numbers of another kind than the pointer is to.

        array: of any shape.
        where: how errors begin.
        """
        dtype = getattr(array, "dtype", None)
        if dtype is None:
            return
        if self.object_kind:
            raise KernelError(f"{where} = an array of {dtype}: must be a simtmm.{self.object_kind} ({self.text})")
        if not self.pointers and self.base in _NUMBERS:
            raise KernelError(f"{where} = an array of {dtype}: must be a number ({self.text})")
        if self.pointers != 1 or self.base not in _NUMBERS:
            return  # void*, structures, pointers to pointers, types that are not known: bytes are bytes
        kind, size = _NUMBERS[self.base]
        have = np.dtype(dtype)
        if have.fields is not None or have.kind == "V" or (have.kind == "S" and size == 1):  # bytes, whatever they mean
            return
        if have.kind == "c" and (kind, 2 * size) == ("f", have.itemsize):  # its parts one after another
            return
        of_numbers = {"i": "iu", "u": "iu", "b": "biu", "f": "f"}[kind]  # signs don't matter
        if have.itemsize != size or have.kind not in of_numbers:
            if size == 1 and have.itemsize == 1:
                return
            raise KernelError(f"{where} = an array of {have}: the kernel takes {self.text}")

    def check_object(self, kind: str, where: str) -> None:
        """Raise KernelError for a "TextureObject" or a "SurfaceObject" where the kernel takes something else.

        kind: the name of its class.
        where: how errors begin.
        """
        is_handle = not self.pointers and _NUMBERS.get(self.base) == ("u", 8)  # what these types are names of
        if self.object_kind != kind and not is_handle:
            raise KernelError(f"{where} = a {kind}: the kernel takes {self.text}")

    def check_number(self, number: Any, where: str) -> None:
        """Raise KernelError for a number where there must be a pointer, and for a typed one that does not fit.

        number: as the program gave it.
        where: how errors begin.
        """
        if self.object_kind and number != 0:
            raise KernelError(f"{where} = {number!r}: must be a simtmm.{self.object_kind} ({self.text})")
        if self.pointers and number != 0:
            raise KernelError(f"{where} = {number!r}: must be an array ({self.text})")
        if isinstance(number, np.generic) and not self.pointers and self.base in _NUMBERS:
            kind, size = _NUMBERS[self.base]
            have = number.dtype
            if (have.kind == "f") != (kind == "f") or (kind == "f" and have.itemsize != size):
                raise KernelError(f"{where} = {number!r} ({have}): the kernel takes {self.text}")


def signature(linked: LinkedModule, entry: str) -> tuple[ParameterType, ...] | None:
    """The parameters of a kernel, from its mangled name or its source; None where neither tells."""
    from simtmm.cuda.compilers import bare_name, demangled

    written = _from_source(linked, bare_name(entry))
    if entry.startswith("_Z"):
        found_types = _from_demangled(demangled(entry))
        if found_types is not None and written is not None and len(found_types) == len(written):
            return tuple(
                name if name.object_kind else ParameterType(name.name, kind.text, kind.base, kind.pointers)
                for name, kind in zip(written, found_types, strict=True)
            )
        return found_types
    return written


def _from_demangled(text: str) -> tuple[ParameterType, ...] | None:
    """Of "void f<int>(float const*, int)" the types in the last parentheses."""
    end = text.rstrip().removesuffix("const").rstrip()
    if not end.endswith(")"):
        return None
    depth = 0
    for place in range(len(end) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(end[place], 0)
        if depth == 0:
            return tuple(_typed(part, named=False) for part in _split(end[place + 1 : -1]))
    return None


def _from_source(linked: LinkedModule, name: str) -> tuple[ParameterType, ...] | None:
    """What stands in parentheses behind a __global__ function's name; None where its text is not at hand."""
    for unit in linked.units:
        for file in unit.files:
            text = unit.source_text(file)
            written = _in_text(text, name) if text is not None and name in text else None
            if written is not None:
                return written
    return None


def names_in_source(text: str, kernel: str | None = None) -> list[str]:
    """The names of a kernel's parameters, "" where unknown; none where its text does not tell.

    text: of its source, which need not have been compiled.
    kernel: its name; that of the only one in the text if left out.
    """
    kernels = set(re.findall(r"__global__[^;{}()]*(?:\([^()]*\)[^;{}()]*?)?\b(\w+)\s*\(", _plain(text)))
    if kernel is None and len(kernels) != 1:
        return []
    return names(_in_text(text, kernel or kernels.pop()))


def _plain(text: str) -> str:
    """A source without its comments."""
    return re.sub(COMMENT, " ", text, flags=re.DOTALL)


def _in_text(text: str, name: str) -> tuple[ParameterType, ...] | None:
    """The parameters that stand behind a __global__ function's name in a source, if anywhere with their names."""
    plain, nameless = _plain(text), None
    known = _names(plain)
    for found in re.finditer(rf"__global__[^;{{}}]*?\b{re.escape(name)}\s*\(", plain):
        inside = _parenthesised(plain, found.end() - 1)
        if inside is not None:
            written = tuple(_typed(part, True, known) for part in _split(inside))
            if all(names(written)):
                return written
            nameless = nameless or written
    return nameless


def _names(text: str) -> dict[str, str]:
    """What typedefs, usings and simple macros stand for; those that stand for several things are left out."""
    pairs = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([\w ]+?)[ \t]*$", text, re.MULTILINE)
    pairs += [(name, of) for of, name in re.findall(r"\btypedef\s+([\w ]+?)\s+(\w+)\s*;", text)]
    pairs += re.findall(r"\busing\s+(\w+)\s*=\s*([\w ]+?)\s*;", text)
    found: dict[str, set[str]] = {}
    for name, of in pairs:
        found.setdefault(name, set()).add(of)
    return {name: next(iter(of)) for name, of in found.items() if len(of) == 1}


def _parenthesised(text: str, opening: int) -> str | None:
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[opening + 1 : place]
    return None


def _split(inside: str) -> list[str]:
    """At the commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(inside):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(inside[start:place])
            start = place + 1
    parts.append(inside[start:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def _typed(text: str, named: bool, known: dict[str, str] | None = None) -> ParameterType:
    text = " ".join(re.sub(r"=.*$", "", text).split())
    name = ""
    if named:
        found = re.search(r"(\w+)\s*(\[[^\]]*\])?$", text)
        if found and found.start() > 0:
            name = found.group(1)
            text = text[: found.start()].strip() + ("*" if found.group(2) else "")
    plain = re.sub(r"\b(const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct)\b", " ", text)
    pointers = plain.count("*")
    base = " ".join(plain.replace("*", " ").split())
    for _ in range(4):  # a typedef of a typedef
        base = (known or {}).get(base, base)
        base = _WORDS.get(base, base)
    shown = re.sub(r"\s*\b(__restrict__|__restrict|__grid_constant__)\b", "", text).strip()
    return ParameterType(name, " ".join(shown.split()), base, pointers)


def names(types: Sequence[ParameterType] | None) -> list[str]:
    """Their names, "" where unknown."""
    return [parameter.name for parameter in types or ()]
