"""Kernels are compiled quickly, and for speed once that pays."""

import threading
import weakref

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


class Loaded(MachineCode):
    """Code that, as real code does, goes with its last reference."""

    def __init__(self, run_block):
        self.run_block = self.run_blocks = run_block


def test_quick_code_stays_loaded_while_another_core_is_in_it():
    """LLVM takes machine code out of memory with its last reference: a core that is in it ends by SIGSEGV."""
    told = []

    def quickly(launch, block, *blocks):
        if not blocks:
            other = threading.Thread(target=code.run_blocks, args=(launch, block, 0, 9))  # compiles for speed behind it
            other.start()
            other.join()
            told.append(loaded() is not None)
        return block

    code = PayingCode(Loaded(quickly), lambda: Loaded(lambda launch, block: told.append("for speed")), 0.0)
    loaded = weakref.ref(code._code)
    assert code.run_block(0, 7) == 7
    code.run_block(0, 7)
    assert told == [True, "for speed"]
