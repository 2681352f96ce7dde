"""LLVM assembly to machine code of this computer, by the LLVM that comes with Numba."""

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from simtmm.errors import PtxError

LONG = 20_000  # lines of assembly, from which on code is made quickly, to run half as fast: LLVM takes minutes else
_LOCK = threading.Lock()  # LLVM's context is one for the process
RUN_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
RUN_BLOCKS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class MachineCode:
    """Code that can be called: run_block(launch, block) and run_blocks(launch, block, first, last)."""

    def __init__(self, object_code: bytes) -> None:
        """object_code: as `compile_assembly` gives it."""
        with _LOCK:
            backing = llvm.parse_assembly("")
            self._engine: Any = llvm.create_mcjit_compiler(backing, _target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
            self._engine.finalize_object()
            self.run_block: Callable[..., int] = RUN_BLOCK(self._engine.get_function_address("run.block"))
            self.run_blocks: Callable[..., int] = RUN_BLOCKS(self._engine.get_function_address("run.blocks"))


def compile_assembly(text: str) -> bytes:
    """The object code of LLVM assembly. Raises PtxError where LLVM refuses it, which is a fault of ours."""
    is_long = (
        text.count("\n") > LONG
    )  # registers of long stretches take LLVM long to give; 1.9 times as slow when it runs
    with _LOCK:
        machine = _target_machine(0 if is_long else 2)
        try:
            module = llvm.parse_assembly(text)
            module.verify()
        except RuntimeError as error:
            raise PtxError(f"LLVM refuses the translation of this PTX: {' '.join(str(error).split())[:300]}") from error
        if not is_long:
            options = llvm.PipelineTuningOptions(speed_level=1)
            options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
    return code


def _target_machine(level: int = 2) -> Any:
    """A new one: an engine makes what it is given its own. level: how hard LLVM tries, 0 to 3."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=host_features(), opt=level, reloc="pic", codemodel="small", jit=True
    )


@cache
def host_features() -> str:
    """The processor's features, as LLVM names them; part of what object code is kept under."""
    features: str = llvm.get_host_cpu_features().flatten()
    return features
