"""LLVM assembly to machine code of this computer, by the LLVM of llvmlite."""

import ctypes
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from simtmm.errors import PtxError
from simtmm.native.machine_code import LOCK, loaded, target_machine

LONG = (
    20_000  # lines of assembly; what is longer LLVM compiles quickly, to run half as fast, since it takes minutes else
)
FOR_SPEED = 16_000  # lines a second that LLVM compiles for speed; three times as many quickly
RUN_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
RUN_BLOCKS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class MachineCode:
    """Callable machine code: run_block(launch, block) and run_blocks(launch, block, first, last)."""

    def __init__(self, object_code: bytes) -> None:
        """object_code: as `compile_assembly` gives it."""
        self._engine: Any = loaded(object_code)
        self.run_block: Callable[..., int] = RUN_BLOCK(self._engine.get_function_address("run.block"))
        self.run_blocks: Callable[..., int] = RUN_BLOCKS(self._engine.get_function_address("run.blocks"))


class PayingCode(MachineCode):
    """Code that was compiled quickly, until it has run for so long that code compiled for speed would have paid.

    Most kernels of tests, and of people who try something, run for less than a moment. Both give the same results, and
    one goes on with what the other has begun.
    """

    def __init__(self, quick: MachineCode, for_speed: Callable[[], MachineCode], seconds: float) -> None:
        """for_speed: compiles it so. seconds: that this takes, and that it runs before."""
        self._code, self._for_speed, self._left = quick, for_speed, seconds
        self._quick = quick  # stays loaded: when the other takes its place, another core may be in it
        self._deciding = threading.Lock()
        self.run_block: Callable[..., int] = lambda *where: self._run(self._code.run_block, where)
        self.run_blocks: Callable[..., int] = lambda *where: self._run(self._code.run_blocks, where)

    def _run(self, run: Callable[..., int], where: tuple[Any, ...]) -> int:
        began = time.perf_counter()
        status = run(*where)
        self._left -= time.perf_counter() - began
        if self._left < 0 and self._deciding.acquire(blocking=False):  # one core compiles, the others go on
            self._code, self._left = self._for_speed(), math.inf
        return status


def is_long(text: str) -> bool:
    """Whether LLVM assembly is so long that it is compiled quickly whatever is asked for."""
    return text.count("\n") > LONG


def seconds_for_speed(text: str) -> float:
    """About how long it takes to compile LLVM assembly for speed."""
    return text.count("\n") / FOR_SPEED


def compile_assembly(text: str, quick: bool = False) -> bytes:
    """Compile LLVM assembly to object code. quick: compile in a third of the time; the code runs half as fast.

    Raises PtxError where LLVM refuses it, which is a fault of ours.
    """
    is_too_long = is_long(text)
    with LOCK:
        machine = target_machine(0 if quick or is_too_long else 2)
        try:
            module = llvm.parse_assembly(text)
            module.verify()
        except RuntimeError as error:
            raise PtxError(f"LLVM refuses the translation of this PTX: {' '.join(str(error).split())[:300]}") from error
        if quick and not is_too_long:
            passes, builder = llvm.create_new_module_pass_manager(), llvm.create_pass_builder(machine, _options())
            passes.add_global_dead_code_eliminate_pass()
            passes.add_simplify_cfg_pass()
            passes.add_instruction_combine_pass()
            passes.run(module, builder)
        elif not is_too_long:
            builder = llvm.create_pass_builder(machine, _options())
            builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
    return code


def _options() -> Any:
    options = llvm.PipelineTuningOptions(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    return options
