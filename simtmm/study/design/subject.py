"""Subject: what a study runs, a kernel, a trace or an algorithm of the papers, and what its content is.

A kernel's subject is made of the kernel, whose host.py is run for that, where a study begins; and of the description
that its store keeps, where one is reported on.
"""

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from simtmm.catalogue import current_name, describe, kernel_folders, known_kernels, named_kernel, refusal, typed_kernel
from simtmm.errors import ModelError, StudyError, nearest, shown
from simtmm.files import is_folder
from simtmm.kernel import kernel_in
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.algorithm import Algorithm
from simtmm.parameter import Parameter, is_of_kind, resolved
from simtmm.program import kind_of
from simtmm.recorder import form_of
from simtmm.recorder.sources import refuse_files
from simtmm.study.design.content import files_digest, kernel_digest
from simtmm.trace.io import load_trace

Kind = Literal["kernel", "trace", "algorithm"]
THREADS, VARIANT = "T", "variant"  # what may be given beside an algorithm's symbols
LONGEST = 300  # letters of a name or a path that are shown
LARGEST = 1e300  # of a number that a store tells: what can be computed with and shown


@dataclass(frozen=True)
class Subject:
    """What is run.

    source: as the steps take it: a kernel's name or folder, a trace's path, an algorithm's name. digest: a hash of
    all that decides what it does, parameters apart. is_compiled: whether it is a kernel that is recorded as compiled,
    for the architecture of each machine. files: of a kernel that can be run, a hash of its files with their comments,
    the key of its recordings: they have lines.
    """

    kind: Kind
    source: str
    name: str
    digest: str
    is_compiled: bool = field(default=False, compare=False)
    files: str = field(default="", compare=False)
    _parameters: Mapping[str, Parameter] = field(default_factory=dict, repr=False, compare=False)
    _algorithm: Algorithm | None = field(default=None, repr=False, compare=False)

    @property
    def parameters(self) -> list[str]:
        """The names of what can be given to it."""
        if self._algorithm is not None:
            return [*(symbol.name for symbol in self._algorithm.symbols), THREADS, VARIANT]
        return list(self._parameters)

    @property
    def sources(self) -> list[str]:
        """Its source; those of several programs."""
        return [self.source]

    def of(self, axes: Mapping[str, Any]) -> "Subject":
        """What a point with these values runs: this, or one of several programs."""
        return self

    def whole(self, name: str) -> bool:
        """Whether a parameter takes only whole numbers."""
        if self._algorithm is not None:
            return any(symbol.name == name and symbol.whole for symbol in self._algorithm.symbols)
        return name in self._parameters and isinstance(self._parameters[name].default, int)

    def parameter(self, name: str) -> Parameter | None:
        """A kernel's parameter of that name."""
        return self._parameters.get(name)

    def must_be(self, name: str, value: object) -> str:
        """In words what a parameter must be, where the value is not even of its type; "" for one that is."""
        if self._algorithm is not None:
            return "" if name == VARIANT or _is_number(value) else "a number"
        parameter = self._parameters.get(name)
        return "" if parameter is None or is_of_kind(parameter, value) else parameter.allowed

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, checked. Raises KernelError or ModelError for a value that is refused."""
        if self.kind == "kernel":
            return dict(resolved(self.name, self._parameters, given))
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name == VARIANT:
                values[name] = str(value)
                continue
            try:
                values[name] = float(value)
            except (TypeError, ValueError):
                raise ModelError(f"{self.name}: {name} = {value}: must be a number") from None
        return values

    def description(self) -> dict[str, Any] | None:
        """A kernel as data, which `described_subject` makes the subject of again; None for what is no kernel."""
        if self.kind != "kernel":
            return None
        parameters = {
            name: {
                "default": parameter.default,
                "help": str(parameter.help),
                "minimum": _end(parameter.minimum),
                "maximum": _end(parameter.maximum),
                "choices": None if parameter.choices is None else [_plain(choice) for choice in parameter.choices],
            }
            for name, parameter in self._parameters.items()
        }
        compiled = {"compiled": True} if self.is_compiled else {}
        return {"name": self.name, "digest": self.digest, **compiled, "parameters": parameters}


def typed_subject(source: str, kind: Kind | None = None) -> Subject:
    """The subject that a user named, by its name or its path.

    kind: a kernel comes before an algorithm of its name where it is left out. Runs a kernel's host.py. Raises the
    errors of simtmm.errors.
    """
    refuse_files(source, "sweep" if kind is None else "advise", takes_traces=kind is None)
    kind = kind or _kind(source, current_name(source) in known_kernels() or is_folder(source))
    return _kernel(typed_kernel(source)) if kind == "kernel" else _other(source, kind)


def named_subject(source: str, kind: Kind | None, path: Path) -> Subject:
    """The subject that a study file names; as a kernel only one that data can name (simtmm.catalogue).

    path: where it lies if the source is a path, relative to the file's folder. Raises the errors of simtmm.errors.
    """
    there = is_folder(path)
    known = source in kernel_folders()
    kind = kind or _kind(
        source, known or (source not in ALGORITHMS and (there or current_name(source) in known_kernels()))
    )
    if kind != "kernel":
        return _other(str(path) if kind == "trace" else source, kind)
    folder = named_kernel(source)
    if folder is None and there:
        folder = next((known for known in kernel_folders().values() if known.resolve() == path.resolve()), None)
    if folder is None:
        raise StudyError(f"program = {_word(source)}: {refusal(source, path if there else None)}")
    return _kernel(folder)


def stored_subject(source: str, kind: Kind | None) -> Subject:
    """The subject that a store names and has no description of: none of it is run. Raises the errors of simtmm.errors.

    Of a kernel, which stores have described since they keep descriptions, the text of host.py is read.
    """
    folder = named_kernel(source) if kind in (None, "kernel") else None
    if folder is None and kind != "kernel" and (source in ALGORITHMS or kind_of(source) == "trace"):
        return _other(source, kind or ("algorithm" if source in ALGORITHMS else "trace"))
    again = (
        "the store is from an older simtmm and lacks the kernel's description: run the sweep again, into a new store"
    )
    if folder is None:
        raise StudyError(f"program = {_word(source)}: {refusal(source)}; {again}")
    described = describe(source, folder)
    if described.fault or "parameters" in described.untold:
        fault = described.fault or f"its parameters are known only by running {folder / 'host.py'}"
        raise StudyError(f"program = {_word(source)}: {fault}; {again}")
    digest, files = kernel_digest(folder), files_digest(folder)
    return Subject("kernel", source, folder.resolve().name, digest, files=files, _parameters=described.parameters)


def described_subject(document: Any) -> Subject:
    """The subject of which `Subject.description` is; it can be planned with, and not run. Raises StudyError."""
    where = "kernel"
    if isinstance(document, dict) and document.get("kind") == "trace":  # one of several programs
        parts = (_part(document, where, part, (str,), "a word") for part in ("source", "name", "digest"))
        return Subject("trace", *parts)
    name, digest = (_part(document, where, part, (str,), "a word") for part in ("name", "digest"))
    tables = _part(document, where, "parameters", (dict,), "an object")
    parameters = {key: _parameter(table, f"{where}.parameters.{key}") for key, table in tables.items()}
    compiled = bool("compiled" in document and _part(document, where, "compiled", (bool,), "true or false"))
    return Subject("kernel", name, name, digest, compiled, _parameters=parameters)


def _kind(source: str, is_kernel: bool) -> Kind:
    if kind_of(source) == "trace":
        return "trace"
    if is_kernel:
        return "kernel"
    if source in ALGORITHMS:
        return "algorithm"
    known = sorted({*known_kernels(), *ALGORITHMS})
    raise StudyError(f"{source!r}: not a kernel, trace or algorithm{nearest(source, known)}")


def _kernel(folder: Path) -> Subject:
    """The subject of the kernel in a folder. Its source is its name where data can name it, too."""
    kernel = kernel_in(folder)
    names = {known.resolve(): name for name, known in kernel_folders().items()}
    source = names.get(folder.resolve(), str(folder.resolve()))
    compiled = form_of(kernel) == "compiled"
    return Subject(
        "kernel", source, kernel.name, kernel_digest(folder), compiled, files_digest(folder), kernel.parameters
    )


def _other(source: str, kind: Kind) -> Subject:
    """The subject of a trace or an algorithm."""
    if kind == "trace":
        info = load_trace(Path(source)).info
        return Subject("trace", str(Path(source).resolve()), info.kernel, info.digest)
    algorithm = find(source)
    return Subject("algorithm", source, source, _algorithm_digest(algorithm), _algorithm=algorithm)


def _algorithm_digest(algorithm: Algorithm) -> str:
    """Of its name and equations."""
    digest = hashlib.sha256(algorithm.name.encode())
    for variant, form in algorithm.forms.items():
        digest.update(f"{variant} {form.source}".encode())
        for equation in (form.work, form.span, form.memory, form.pram_span, form.shared_memory, form.threads):
            digest.update(inspect.getsource(equation).encode() if equation else b"-")
        digest.update(inspect.getsource(form.chain).encode() if form.chain else b"-")
    return digest.hexdigest()[:32]


def _word(word: str) -> str:
    """A word from data as an error line shows it: a path whole."""
    return repr(word) if len(word) < LONGEST else shown(word)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _plain(value: Any) -> Any:
    """A number or a word as JSON holds it."""
    return value.item() if isinstance(value, np.generic) else value


def _end(value: Any) -> int | float | None:
    """Where a range ends, as JSON holds it; None for an end that no number is beyond."""
    if value is None or not abs(value) <= LARGEST:
        return None
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def _parameter(table: Any, where: str) -> Parameter:
    """A parameter from its description."""
    ends: dict[str, float | None] = {}
    for name in ("minimum", "maximum"):
        ends[name] = end = _part(table, where, name, (int, float, type(None)), "a number or null")
        if end is not None and not abs(end) <= LARGEST:
            raise StudyError(f"{where}.{name} = {shown(end)}: must be from -{LARGEST:g} to {LARGEST:g}")
    choices = _part(table, where, "choices", (list, type(None)), "a list or null")
    if any(isinstance(choice, (list, dict)) for choice in choices or ()):
        raise StudyError(f"{where}.choices = {shown(choices)}: must be numbers and words")
    return Parameter(
        default=_part(table, where, "default", (int, float, str), "a number or a word"),
        help=_part(table, where, "help", (str,), "a text"),
        choices=None if choices is None else tuple(choices),
        **ends,
    )


def _part(table: Any, where: str, name: str, kinds: tuple[type, ...], must: str) -> Any:
    """A part of a description, of one of these kinds. Raises StudyError."""
    if not isinstance(table, dict):
        raise StudyError(f"{where} = {shown(table)}: must be an object")
    if name not in table:
        raise StudyError(f"{where}.{name}: is missing")
    if type(table[name]) not in kinds:
        raise StudyError(f"{where}.{name} = {shown(table[name])}: must be {must}")
    return table[name]
