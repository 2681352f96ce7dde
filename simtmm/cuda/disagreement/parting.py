"""Where PTX and machine code diverge: the first instruction with a different value in the thread of a wrong element."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import Device, DeviceLaunch, initial_variables
from simtmm.cuda.disagreement.memory import KeptMemory
from simtmm.cuda.disagreement.probes import ENTRY, HEAD, PROBE, Probe, with_log, with_writer
from simtmm.cuda.disagreement.rounding import is_rounded_freely
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.ptx.syntax import Function
from simtmm.errors import SimtmmError


def parting(
    device: Device, plain: KernelFunction, launch: DeviceLaunch, blocks: int, address: int, size: int, seconds: float
) -> str:
    """Words that say where, to go behind those that name an element; "" where it can't be found.

    address, size: of the element. seconds: that a run may take.
    """
    if len(plain.linked.units) != 1:
        return ""
    try:
        return _parting(_Runs(device, plain, launch, blocks, seconds), address, size)
    except (SimtmmError, SlowError, AssertionError):  # it has registers of such names, say
        return ""


class _Runs:
    """Runs of a kernel with probes in it; memory is as before then."""

    def __init__(
        self, device: Device, plain: KernelFunction, launch: DeviceLaunch, blocks: int, seconds: float
    ) -> None:
        self.device, self.plain, self.launch, self.blocks, self.seconds = device, plain, launch, blocks, seconds
        self.text = plain.linked.units[0].ptx
        module = plain.program.module
        self.functions: list[Function] = [module.functions[name] for name in plain.program.function_numbers]

    def probed(
        self, text: str, ways: tuple[Callable[[KernelFunction], KernelFunction], ...]
    ) -> list[npt.NDArray[np.uint8]]:
        """What lies in the probe's variable after a run of each way."""
        linked = LinkedModule([replace(self.plain.linked.units[0], ptx=text)])
        variables = initial_variables(linked)
        for name in variables.keys() - {PROBE}:
            variables[name][:] = self.device.variable(self.plain.linked, name)
        addresses = self.device.adopt(linked, variables)
        try:
            memory = KeptMemory(self.device)
            number = next(n for n, each in enumerate(memory.allocations) if each.base == addresses[PROBE])
            found = []
            for way in ways:
                function = way(KernelFunction(linked, self.plain.entry)).quick
                assert function.code
                made = memory.after(function, self.launch, self.blocks, 4 * self.seconds)
                found.append(memory.content(number, made))
            return found
        finally:
            self.device.forget(linked)


def _parting(runs: _Runs, address: int, size: int) -> str:
    text, stores = with_writer(runs.text, runs.functions, address, size)
    (who,) = runs.probed(text, (lambda function: function,))
    number, *thread = (int(each) for each in (*who[:4].view(np.uint32), *who[8:32].view(np.uint32)))
    if not number:
        return ""
    text, probes = with_log(runs.text, runs.functions, tuple(thread))
    logs = runs.probed(text, (lambda function: function, MachineFunction))
    expected, ours = (
        log[HEAD : HEAD + ENTRY * int(log[:8].view(np.uint64)[0])].view(np.uint64).reshape(-1, 2) for log in logs
    )
    written_by = f"; written by thread {tuple(thread[3:])} of block {tuple(thread[:3])}"
    for at, (one, other) in enumerate(zip(expected.tolist(), ours.tolist(), strict=False)):
        probe = probes[one[0]]
        if one[0] != other[0]:
            behind = probes[expected[at - 1, 0]] if at else probe
            return f"{written_by}; the thread takes another path after {_named(runs, behind)}"
        if one[1] != other[1] and not is_rounded_freely(probe.instruction):
            values = f"{_shown(runs, probe, one[1])} as PTX, {_shown(runs, probe, other[1])} as machine code"
            return f"{written_by}; they first differ at {_named(runs, probe)}, which gives {values}"
    store = stores[number - 1]
    return f"{written_by}, at {_named(runs, store)}; compared one by one, all its instructions give the same"


def _named(runs: _Runs, probe: Probe) -> str:
    return runs.plain.program.where(probe.function, probe.instruction)


def _shown(runs: _Runs, probe: Probe, value: int) -> str:
    kind = next(each.registers[probe.register] for each in runs.functions if each.name == probe.function)
    return str(bool(value)).lower() if kind == "pred" else f"{value:#x}"
