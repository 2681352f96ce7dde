"""LLVM assembly to object code, and object code to functions, by the LLVM of llvmlite."""

import threading
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

ENTRY = "simtmm_entry"  # the function of a module that is called
CODE_MODEL = "large"  # parts of an object may lie far apart, as they do in a process that holds gigabytes
# LLVM's levels. The third compiles the engine's loop in 10.8 s and the second in 8.2 s, of code that is smaller and no
# slower: gemm, stream and bfs on the H100 SXM take 0.71, 0.23 and 0.19 s by the third, 0.67, 0.21 and 0.16 by the other
QUICK, FULL = 1, 2
# LLVM 22 ends the process at level 0, and there alone, where words that are loaded together become doubles, and these
# floats, in registers of 512 bits (llvmlite 0.49 and 0.50; LLVM 20 does not)
WITHOUT_AVX512 = ",-avx512f"
LOCK = threading.Lock()  # LLVM's context is one for the process


def object_code(text: str, speed: int, processor: str = "") -> bytes:
    """The object code of a module. Raises RuntimeError where LLVM refuses it.

    text: LLVM assembly.
    speed: QUICK or FULL.
    processor: that it runs on, by LLVM's name; this computer's if left out.
    """
    with LOCK:
        machine = target_machine(processor=processor)
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        options = llvm.PipelineTuningOptions(speed_level=speed)
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
    return code


def loaded(code: bytes) -> Any:
    """An engine that holds object code; it has to be kept as long as its functions are called.

    code: an object file, as LLVM wrote it for this computer.
    """
    with LOCK:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
    return engine


def target_machine(level: int = 2, processor: str = "") -> Any:
    """A new one: an engine makes what it is given its own.

    level: how hard LLVM tries to make good code, 0 to 3.
    processor: by LLVM's name; this computer's, with all of its features, if left out.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = "" if processor else host_features()
    if level == 0 and "+avx512f" in features:
        features += WITHOUT_AVX512
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=processor or llvm.get_host_cpu_name(),
        features=features,
        opt=level,
        reloc="pic",
        codemodel=CODE_MODEL,
        jit=True,
    )


@cache
def host_features() -> str:
    """The processor's features, as LLVM names them; part of the cache key of object code."""
    features: str = llvm.get_host_cpu_features().flatten()
    return features


def circumstances() -> tuple[str, ...]:
    """What decides object code beside its assembly: LLVM, the processor, and how far code reaches."""
    return llvmlite.__version__, llvm.get_host_cpu_name(), host_features(), CODE_MODEL
