"""Kernel: what to run. A kernel is a folder kernels/NAME with kernel.cu and host.py.

host.py has

    PARAMETERS   a dict of name to Parameter
    PAPER        which document and section the kernel follows (may be empty)
    inputs(p)    the arrays by name, in the order of registration, from the parameters (p.n, p.seed, ...)
    launches(p, memory)
                 a generator of Launch; each has run when the generator goes on, and memory[name] shows the array
    check(p, before, after)
                 raises WrongAnswer (or AssertionError) unless the arrays `after` follow from those `before`
    defines(p)   optional: macros for the compiler, a dict of name to value
    algorithm(p) optional: the papers' algorithm that it follows (a name in simtmm/model/algorithms) and a dict of that
                 one's symbols for these parameters, so that simulation and closed form meet
    OWN_GRAPH    optional: the parameters that draw its graph, beside `n`; p.own_graph then is the user's graph, a
                 simtmm.graph.Graph, where one is given, or None

Every kernel also has the parameter `seed`.
"""

import dataclasses
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.catalogue import Description, describe, known_kernels, typed_kernel
from simtmm.catalogue import kernel_folders as kernel_folders
from simtmm.catalogue.host_text import NEEDED
from simtmm.documents import read_code_text
from simtmm.errors import KernelError, shown
from simtmm.files import is_file
from simtmm.launch import Launch as Launch  # likewise
from simtmm.parameter import OWN_GRAPH, SEED, resolved
from simtmm.parameter import Parameter as Parameter  # host.py has it from here
from simtmm.right_answer import Wrong as Wrong
from simtmm.right_answer import WrongAnswer as WrongAnswer  # likewise
from simtmm.right_answer import expect_equal as expect_equal  # likewise

if TYPE_CHECKING:
    from simtmm.graph import Graph, Source

Array = npt.NDArray[Any]
Memory = Mapping[str, Array]


@dataclass(frozen=True)
class Kernel:
    """A kernel folder, its host program loaded.

    sources: files of its device code, where they are not the folder's kernel.cu alone.
    options: for the compiler.
    expressions: kernels as C++ names them that the compiler has to make, "scale<float>".
    graph: a user's graph, in place of the one that the kernel draws.
    """

    name: str
    folder: Path
    parameters: Mapping[str, Parameter]
    paper: str
    host: ModuleType = dataclasses.field(repr=False)
    sources: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    graph: "Graph | None" = None

    def on_graph(self, graph: "Source") -> "Kernel":
        """This kernel on a graph, in place of the one that it draws. Raises KernelError.

        graph: a file or a graph of networkx, as of simtmm.graph.opened_graph.
        """
        if self._drawing() is None:
            raise KernelError(f"kernel {self.name}: does not take a graph: its host.py has no OWN_GRAPH")
        from simtmm.graph import opened_graph  # late: few runs have a graph of their own

        return dataclasses.replace(self, graph=opened_graph(graph))

    @property
    def origin(self) -> dict[str, Any]:
        """What a trace's provenance says of the graph; nothing without one."""
        return {} if self.graph is None else {"graph": self.graph.to_dict()}

    @property
    def source_paths(self) -> tuple[Path, ...]:
        """The files of its device code."""
        return self.sources or (self.source_path,)

    @property
    def source_path(self) -> Path:
        """The device code."""
        return self.folder / "kernel.cu"

    @property
    def about(self) -> str:
        """The docstring of host.py."""
        return inspect.cleandoc(self.host.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of host.py's docstring."""
        return self.about.split("\n")[0].rstrip(".")

    def source(self) -> str:
        """The text of kernel.cu. Raises KernelError."""
        try:
            return read_code_text(self.source_path, KernelError)
        except UnicodeDecodeError as error:
            raise KernelError(f"{self.source_path}: can't be read ({error})") from None

    def resolve(self, given: Mapping[str, object]) -> dict[str, int | float | str]:
        """All parameters: those given, checked, and the defaults of the others.

        given: values of some parameters by name, as texts or numbers.

        Raises KernelError.
        """
        if self.graph is None:
            return resolved(self.name, self.parameters, given)
        from simtmm.graph.given import resolved_with

        return resolved_with(self.name, self.parameters, self._drawing() or (), given, self.graph)

    def _drawing(self) -> tuple[str, ...] | None:
        """The parameters that draw a graph, beside `n`; None of a kernel that takes none."""
        drawing = _member(self.host, "OWN_GRAPH", self.folder / "host.py")
        if drawing is None:
            return None
        if not isinstance(drawing, tuple) or not {*drawing, "n"} <= set(self.parameters):
            raise KernelError(f"{self.folder / 'host.py'}: OWN_GRAPH must be a tuple of parameter names, without n")
        return drawing

    def _given(self, parameters: Mapping[str, Any]) -> SimpleNamespace:
        """The parameters as host.py sees them."""
        return SimpleNamespace(**{**parameters, OWN_GRAPH: self.graph})

    def algorithm(self, parameters: Mapping[str, Any]) -> tuple[str, dict[str, float]] | None:
        """The papers' algorithm that it follows, and that algorithm's symbols; None if it says none.

        parameters: all of the kernel, by name, as `resolve` gives them.
        """
        if _member(self.host, "algorithm", self.folder / "host.py") is None:
            return None
        answer = self._call("algorithm", self._given(parameters))
        if answer is None:
            return None  # with these parameters
        if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], dict):
            raise KernelError(f"kernel {self.name}: host.py: algorithm must return a name and a dict of symbols")
        return str(answer[0]), dict(answer[1])

    def inputs(self, parameters: Mapping[str, Any]) -> dict[str, Array]:
        """The arrays by name, as they are registered. parameters: all, by name, as `resolve` gives them."""
        arrays = self._call("inputs", self._given(parameters))
        if not isinstance(arrays, dict) or not arrays:
            raise KernelError(f"kernel {self.name}: host.py: inputs must return a dict of at least one array")
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype.hasobject:
                raise KernelError(f"kernel {self.name}: host.py: inputs: {name!r} must be a numeric NumPy array")
        return arrays

    def blocks_of_launches(self, parameters: Mapping[str, Any]) -> list[int] | None:
        """The number of blocks of each launch, where that is known before the first; None where it is not.

        parameters: all of the kernel, by name, as `resolve` gives them.
        """
        if _member(self.host, "blocks_of_launches", self.folder / "host.py") is None:
            return None
        return list(self._call("blocks_of_launches", self._given(parameters)))

    def launches(self, parameters: Mapping[str, Any], memory: Memory) -> Iterator[Launch]:
        """The launches, in order; each has to be run before the next is generated.

        parameters: all of the kernel, by name, as `resolve` gives them.
        memory: its arrays by name, as the launches so far have left them.
        """
        launches = self._call("launches", self._given(parameters), memory)
        if not isinstance(launches, Iterable):
            raise KernelError(f"kernel {self.name}: host.py: launches must yield Launch, not return {shown(launches)}")
        launches = iter(launches)
        while True:
            try:
                launch = next(launches)
            except StopIteration:
                return
            except KeyboardInterrupt:
                raise
            except KernelError as error:
                raise self._named(error) from None
            except BaseException as error:
                raise self._failed("launches", error) from error
            if not isinstance(launch, Launch):
                raise KernelError(f"kernel {self.name}: host.py: launches must yield Launch, not {shown(launch)}")
            yield launch

    def check(self, parameters: Mapping[str, Any], before: Memory, after: Memory) -> Wrong | None:
        """None if the answer is right, else what is wrong.

        parameters: all of the kernel, by name, as `resolve` gives them.
        before, after: its arrays by name, as they were before the first launch and are after the last.
        """
        try:
            self.host.check(self._given(parameters), before, after)
        except (WrongAnswer, AssertionError) as error:
            element = getattr(error, "element", None)
            message = (str(error).strip() or "the check failed").split("\n")[0]
            return Wrong(message, None if element is None else int(element.ctypes.data))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self._failed("check", error) from error
        return None

    def defines(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Macros for the compiler. parameters: all of the kernel, by name, as `resolve` gives them."""
        if _member(self.host, "defines", self.folder / "host.py") is None:
            return {}
        macros = self._call("defines", self._given(parameters))
        if not isinstance(macros, dict):
            raise KernelError(f"kernel {self.name}: host.py: defines must return a dict, not {shown(macros)}")
        return {str(name): str(value) for name, value in macros.items()}

    def _call(self, function: str, *arguments: Any) -> Any:
        """What a function of host.py gives; whatever it raises, sys.exit() too, as a KernelError, Ctrl-C apart."""
        try:
            return getattr(self.host, function)(*arguments)
        except KeyboardInterrupt:
            raise
        except KernelError as error:
            raise self._named(error) from None
        except BaseException as error:
            raise self._failed(function, error) from error

    def _named(self, error: KernelError) -> KernelError:
        """What host.py refuses, with the kernel's name in front."""
        return error if str(error).startswith("kernel ") else KernelError(f"kernel {self.name}: {error}")

    def _failed(self, function: str, error: BaseException) -> KernelError:
        return KernelError(
            f"kernel {self.name}: {_where(self.folder / 'host.py', error)}: {function} failed: {_what(error)}"
        )


def load_kernel(kernel: str | Path) -> Kernel:
    """Load a kernel that a user named. Runs its host.py. Raises KernelError.

    Names from data files must not be loaded here; see simtmm.catalogue.

    kernel: the kernel's name (kernels/NAME), or the path of its folder.
    """
    return kernel_in(typed_kernel(kernel))


def describe_kernel_named(kernel: str) -> tuple[Description, dict[str, float] | None]:
    """The description of a kernel that a user named; and its algorithm's symbols for its defaults, where it has one.

    One that is found by name in ./kernels is read and not run, so there are no symbols. Raises KernelError.

    kernel: a kernel's name or the path of its folder.
    """
    known = known_kernels().get(kernel)
    if known is not None and known.origin == "here":
        description = describe(kernel, known.path)
        if description.fault:
            raise KernelError(description.fault)
        return description, None
    loaded = load_kernel(kernel)
    algorithm, symbols = loaded.algorithm(loaded.resolve({})) or (None, None)
    return Description(loaded.name, loaded.folder, loaded.parameters, loaded.about, loaded.paper, algorithm), symbols


def kernel_in(folder: Path) -> Kernel:
    """The kernel in a folder. Runs its host.py.

    folder: path of a folder with a kernel.cu and a host.py.

    Raises KernelError.
    """
    for needed in ("kernel.cu", "host.py"):
        try:
            there = is_file(folder / needed)
        except OSError as error:
            raise KernelError(f"kernel {folder}: can't be read ({error.strerror})") from None
        if not there:
            raise KernelError(f"kernel {folder}: {needed} is missing")
    path = folder / "host.py"
    host = _load_host(folder)
    for needed in NEEDED:
        if not callable(_member(host, needed, path)):
            raise KernelError(f"{path}: must have a function {needed}")
    parameters = _member(host, "PARAMETERS", path)
    if not isinstance(parameters, dict):
        raise KernelError(f"{path}: must have a dict PARAMETERS")
    for name, parameter in parameters.items():
        if not isinstance(parameter, Parameter):
            raise KernelError(f"{path}: PARAMETERS: {name!r} must be a Parameter, not {shown(parameter)}")
    paper = _member(host, "PAPER", path) or ""
    return Kernel(folder.resolve().name, folder, {**parameters, "seed": SEED}, paper, host)


def _member(host: ModuleType, name: str, path: Path) -> Any:
    """What host.py has by that name, None where it has nothing; a module's __getattr__ is host.py's code, too."""
    try:
        return getattr(host, name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise KernelError(f"{_where(path, error)}: {_what(error)}") from error


def _load_host(folder: Path) -> ModuleType:
    path = folder / "host.py"
    name = f"simtmm_kernel_{folder.resolve().name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # no __pycache__ beside a user's kernel
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise KernelError(f"{_where(path, error)}: {_what(error)}") from error
    finally:
        sys.dont_write_bytecode = written
    return module


def _where(path: Path, error: BaseException) -> str:
    """The file and the line of it that failed."""
    names = {str(path), str(path.absolute())}  # Python makes paths whole
    if isinstance(error, SyntaxError) and error.filename in names:
        return f"{path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in names]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _what(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else shown(error.code)})"
    text = str(error.msg if isinstance(error, SyntaxError) else error).split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
