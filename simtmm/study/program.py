"""Program: what a study runs, a kernel, a trace or an algorithm of the papers, and what its content is."""

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from simtmm.errors import KernelError, ModelError, StudyError, nearest
from simtmm.kernel import Kernel, Parameter, kernel_folders, load_kernel
from simtmm.model.algorithm import Algorithm
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.record.compiler import HEADERS, HERE
from simtmm.trace.io import load_trace

Kind = Literal["kernel", "trace", "algorithm"]
THREADS, VARIANT = "T", "variant"  # what may be given beside an algorithm's symbols


@dataclass(frozen=True)
class Program:
    """What is run.

    source: as the steps take it: a kernel's name or folder, a trace's path, an algorithm's name. digest: a hash of
    all that decides what it does, parameters apart.
    """

    kind: Kind
    source: str
    name: str
    digest: str
    _known: Kernel | Algorithm | None = field(default=None, repr=False, compare=False)

    @property
    def parameters(self) -> list[str]:
        """The names of what can be given to it."""
        if isinstance(self._known, Kernel):
            return list(self._known.parameters)
        if isinstance(self._known, Algorithm):
            return [*(symbol.name for symbol in self._known.symbols), THREADS, VARIANT]
        return []

    def whole(self, name: str) -> bool:
        """Whether a parameter takes only whole numbers."""
        if isinstance(self._known, Kernel):
            return isinstance(self._known.parameters[name].default, int)
        if isinstance(self._known, Algorithm):
            return any(symbol.name == name and symbol.whole for symbol in self._known.symbols)
        return False

    def parameter(self, name: str) -> Parameter | None:
        """A kernel's parameter of that name."""
        return self._known.parameters.get(name) if isinstance(self._known, Kernel) else None

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, checked. Raises KernelError or ModelError for a value that is refused."""
        if isinstance(self._known, Kernel):
            return dict(self._known.resolve(given))
        made: dict[str, Any] = {}
        for name, value in given.items():
            if name == VARIANT:
                made[name] = str(value)
                continue
            try:
                made[name] = float(value)
            except (TypeError, ValueError):
                raise ModelError(f"{self.name}: {name} = {value}: must be a number") from None
        return made


def program(source: str, kind: Kind | None = None) -> Program:
    """The program of that name, or at that path.

    kind: a kernel comes before an algorithm of its name where it is left out. Raises the errors of simtmm.errors.
    """
    kernels = kernel_folders()
    path = Path(source)
    if kind is None:
        if path.suffix == ".parquet":
            kind = "trace"
        elif source in kernels or path.is_dir():
            kind = "kernel"
        elif source in ALGORITHMS:
            kind = "algorithm"
        else:
            known = sorted({*kernels, *ALGORITHMS})
            raise StudyError(f"{source!r}: neither a kernel, nor a trace, nor an algorithm{nearest(source, known)}")
    if kind == "trace":
        info = load_trace(path).info
        return Program("trace", str(path.resolve()), info.kernel, info.digest)
    if kind == "algorithm":
        algorithm = find(source)
        return Program("algorithm", source, source, _algorithm_digest(algorithm), algorithm)
    kernel = load_kernel(source)
    place = source if source in kernels else str(kernel.folder.resolve())
    return Program("kernel", place, kernel.name, _kernel_digest(kernel), kernel)


def _kernel_digest(kernel: Kernel) -> str:
    """Of every file in the kernel's folder, and of the headers it is recorded with."""
    digest = hashlib.sha256()
    files = [path for path in sorted(kernel.folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    try:
        for path in files:
            digest.update(f"{path.relative_to(kernel.folder).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        for header in HEADERS:
            digest.update((HERE / header).read_bytes())
    except OSError as error:
        raise KernelError(f"{kernel.folder}: can't be read ({error.strerror})") from None
    return digest.hexdigest()[:32]


def _algorithm_digest(algorithm: Algorithm) -> str:
    """Of its name and equations."""
    digest = hashlib.sha256(algorithm.name.encode())
    for variant, form in algorithm.forms.items():
        digest.update(f"{variant} {form.source}".encode())
        for equation in (form.work, form.span, form.memory, form.pram_span, form.local_memory, form.threads):
            digest.update(inspect.getsource(equation).encode() if equation else b"-")
        digest.update(inspect.getsource(form.chain).encode() if form.chain else b"-")
    return digest.hexdigest()[:32]
