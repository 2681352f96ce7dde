"""The kernels and variables of a program's fat binaries, on a device."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path

from simtmm.cuda.compilers import CompiledModule, module_of_ptx
from simtmm.cuda.compilers.binaries.elf import ELF
from simtmm.cuda.compilers.binaries.fat_binary import MAGIC, embedded_ptx
from simtmm.cuda.device import Device, initial_variables
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import KernelError
from simtmm.programs.memory import ProgramMemory

# Symbols of a program that has more than one stream, or more than one thread of the host
_CONCURRENT = (b"StreamCreate", b"StreamPerThread", b"_ptsz", b"cudaGraph", b"pthread_create", b"thrd_create")


class DeviceOfProgram(Device):
    """A device whose memory is the program's."""

    memory: ProgramMemory

    def place_variables(self, linked: LinkedModule, is_managed: Callable[[str], bool]) -> None:
        """Give a module's variables memory of the program's."""
        addresses: dict[str, int] = {}
        arrays = {}
        for name, array in initial_variables(linked).items():
            constant = linked.module.variables[name].space == "const"
            addresses[name], arrays[name] = self.memory.variable(name, array, constant, is_managed(name))
        self.memory.update()
        self._modules.append(linked)
        self._variables[id(linked)], self._symbols[id(linked)] = arrays, addresses
        self.point_to_variables(linked)


class Modules:
    """A program's modules by the numbers that the runtime library has for them."""

    def __init__(
        self,
        device: DeviceOfProgram,
        architecture: int,
        library: Path,
        relocatable: bool,
        ask: Callable[[int, str], bool],
    ) -> None:
        """library: the program's own. relocatable: whether all of its device code was linked to one module.

        ask: whether the host may read a variable of a module.
        """
        self._device, self._architecture, self._library, self._ask = device, architecture, library, ask
        self._relocatable = relocatable
        self._modules: dict[int, LinkedModule] = {}
        self._whole: LinkedModule | None = None
        self._functions: dict[tuple[int, str], KernelFunction] = {}

    @cached_property
    def may_be_concurrent(self) -> bool:
        """Whether the program may have work of several streams or threads under way: it names what begins such."""
        try:
            found = self._library.read_bytes()
        except OSError:
            return True
        return any(name in found for name in _CONCURRENT)

    def load(self, number: int, image: bytes, is_apart: bool = False) -> None:
        """Take a fat binary in. Raises CompilerError and PtxError for what can't be read.

        is_apart: the program loads the image itself, which may also be a text of PTX, or a .cubin that has one.
        """
        if number in self._modules:
            return
        if self._relocatable and not is_apart:
            if self._whole is None:
                from simtmm.cuda.compilers import load_module

                self._whole = LinkedModule(load_module(self._library, self._architecture), Path.cwd())
                self._device.place_variables(self._whole, partial(self._ask, number))
            self._modules[number] = self._whole
            return
        name = f"module {number + 1}, which the program loads" if is_apart else str(self._library)
        if image.startswith((ELF, MAGIC)):
            texts = [variants[-1].text for variants in embedded_ptx(image, name)]
        else:
            texts = [image.decode("utf-8", "replace")]
        units = [module_of_ptx(text, name, self._architecture) for text in texts]
        linked = LinkedModule([_named(unit) for unit in units], Path.cwd())
        self._modules[number] = linked
        self._device.place_variables(linked, partial(self._ask, number))

    def function(self, number: int, name: str) -> KernelFunction:
        """A kernel. Raises KernelError for one that is not there."""
        key = number, name
        if key not in self._functions:
            linked = self._modules[number]
            if name not in linked.entries:
                raise KernelError(f"kernel {name}: is not in the program's modules")
            self._functions[key] = KernelFunction(linked, name)
        return self._functions[key]

    def variable(self, number: int, name: str) -> tuple[int, int]:
        """Address and bytes of a variable. Raises KernelError."""
        linked = self._modules[number]
        found = self._device.symbols(linked).get(name)
        if found is None:
            raise KernelError(f"variable {name}: is not in the program's modules")
        return found, max(1, linked.module.variables[name].size)

    @property
    def linked(self) -> list[LinkedModule]:
        """All that have been taken in."""
        return list(dict.fromkeys(self._modules.values()))


def _named(unit: CompiledModule) -> CompiledModule:
    """A module that messages call by its source and not by what it was linked to."""
    first = next(iter(unit.files.values()), unit.name)
    return CompiledModule(unit.ptx, unit.architecture, name=_short(first))


@cache
def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
