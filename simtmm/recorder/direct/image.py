"""A module compiled for one architecture, and its variables, which are those of every architecture's image."""

import weakref

from simtmm.cuda.device import Device, initial_variables
from simtmm.cuda.execution.launches.device_memory import Bytes
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import KernelError, nearest


class Variables:
    """The bytes of a module's variables, on whichever device it runs and whatever it is compiled for.

    device: on which those that are pointers point to one another; None before the first launch.
    """

    def __init__(self) -> None:
        self.device: weakref.ref[Device] | None = None
        self._bytes: dict[tuple[str, int], Bytes] = {}

    def of(self, linked: LinkedModule) -> dict[str, Bytes]:
        """Those of an image, by name; as the source says at first.

        linked: what the image was compiled to.
        """
        return {
            name: self._bytes.setdefault((name, array.nbytes), array)
            for name, array in initial_variables(linked).items()
        }


class Image:
    """What a module was compiled to.

    variables: the bytes of its variables, by name. shared: where other images of the module have them from.
    """

    def __init__(self, linked: LinkedModule, variables: Variables) -> None:
        """linked: what the source was compiled to."""
        self.linked = linked
        self.shared, self.variables = variables, variables.of(linked)
        self._functions: dict[str, KernelFunction] = {}

    def function(self, name: str) -> KernelFunction:
        """The kernel of a name, as it is written or as a name expression says.

        name: as "saxpy", or "saxpy<float>".

        Raises KernelError.
        """
        entry = self.linked.entry(name)
        if entry not in self._functions:
            self._functions[entry] = KernelFunction(self.linked, entry)
        return self._functions[entry]

    def variable(self, name: str) -> str:
        """The name in PTX of a variable of that name, or of a name expression, as `&factor`.

        name: as "factor", or "&factor".

        Raises KernelError.
        """
        from simtmm.cuda.compilers import bare_name, demangled

        for unit in self.linked.units:
            if unit.names.get(name) in self.variables:
                return unit.names[name]
        if name in self.variables:
            return name
        fits = [each for each in self.variables if name in (bare_name(each), demangled(each))]
        if len(fits) == 1:
            return fits[0]
        where = f"{self.linked.units[0].name}: variable {name!r}"
        if fits:
            raise KernelError(f"{where}: which? {'; '.join(demangled(each) for each in fits)}")
        known = [bare_name(each) for each in self.variables]
        raise KernelError(f"{where}: unknown{nearest(name, known) or '; the module has none'}")
