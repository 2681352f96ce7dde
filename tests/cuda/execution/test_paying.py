"""Kernels are compiled quickly, and for speed once that pays."""

from simtmm.cuda.execution.translation.machine_code import MachineCode, PayingCode

CLOCK = "simtmm.cuda.execution.translation.machine_code.time.perf_counter"


class Told(MachineCode):
    """Code that notes its calls, and takes a second for each block."""

    def __init__(self, name, told, clock):
        self._name, self._told, self._clock = name, told, clock
        self.run_block = lambda launch, block: self._run(1, block)
        self.run_blocks = lambda launch, block, first, last: self._run(last - first, block)

    def _run(self, blocks, status):
        self._clock[0] += blocks
        self._told.append((self._name, blocks))
        return status


def test_code_is_compiled_for_speed_once_it_has_run_for_as_long_as_that_takes_and_once(monkeypatch):
    clock, told = [100.0], []
    monkeypatch.setattr(CLOCK, lambda: clock[0])

    def compiled():
        told.append("compiled")
        return Told("for speed", told, clock)

    code = PayingCode(Told("quick", told, clock), compiled, 3.0)
    assert [code.run_blocks(0, 7, 0, 2), code.run_block(0, 8), code.run_block(0, 9)] == [7, 8, 9]
    assert [code.run_blocks(0, 5, 4, 9), code.run_block(0, 6)] == [5, 6]
    quick = [("quick", 2), ("quick", 1), ("quick", 1)]
    assert told == [*quick, "compiled", ("for speed", 5), ("for speed", 1)]
