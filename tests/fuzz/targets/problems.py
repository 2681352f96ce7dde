"""Problems in T1: a sample, and all that is made of one before anything is compiled."""

import zlib

from simtmm import load_machine
from simtmm.analysis.tuning.space import Space
from simtmm.analysis.tuning.t1 import read_problem
from simtmm.analysis.tuning.trial import Subject, Trial, forget_kernels
from tests.analysis.test_tuning import PROBLEM

MACHINE = load_machine("v100")
TEXTS_OF_T1 = [
    "[1e400]", "[1, 2.5, 1" + "0" * 400 + "]", "range(0, 200000)", "range(0, 9" + "9" * 5000 + ")", "range(1, 10, 0)",
    "[True]", "[1, 'a']", "[" * 500, "(" * 5000, "-" * 5000 + "1", "['a' * 9]", "ProblemSize[0]", "ProblemSize[7]",
    "ceil(1 / 0)", "ceil(1e308 * 10)", "1e308 * 10 - 1e308 * 10", "min(1)", "max('a', 1)", "block_size_x.x", "tile",
    "block_size_x * " * 300 + "1", "1 if tile else 2", "'\\d' < 1", "__import__('os')", "(1, 2)", "-1", "0", "0.5",
    "Vector", "Scalar", "Random", "Constant", "Global", "Shared", "bool", "half", "double", "OpenCL", "scale.cu",
    "/dev/zero", "../scale.cu", "\0", ".", "-DX=1", "x" * 300, "seed", "class", "\u212b",
]  # fmt: skip


def changed_specification(**changes):
    """The problem with other entries of its kernel."""
    return {**PROBLEM, "KernelSpecification": {**PROBLEM["KernelSpecification"], **changes}}


def changed_space(**changes):
    """The problem with another first parameter."""
    first, *others = PROBLEM["ConfigurationSpace"]["TuningParameters"]
    return {**PROBLEM, "ConfigurationSpace": {"TuningParameters": [{**first, **changes}, *others]}}


def searched(path):
    """All that is made of a problem before anything is compiled."""
    forget_kernels()
    problem, subject = read_problem(path), Subject(str(path), {}, MACHINE, None, ())
    kept, excluded = Space(subject, problem.over, problem.where).admitted()
    kernel = subject.kernel
    parameters = kernel.resolve(kept[0])
    arrays = kernel.inputs(parameters)
    for launch in kernel.launches(parameters, arrays):
        assert all(size >= 1 for size in (*launch.grid, *launch.block))
    kernel.defines(parameters)
    return len(kept), excluded


WORDS = [
    "nan", "inf", "-1", "0", "1", "3%", "0.03", "100%", "1e308%", "%", "1e400", "9" * 5000, "", "none", "true", "a=b",
    "side=4", "side=4,16", "side=1:8", "side=1:8:log:3", "side=-1e308:1e308:linear:3", "side=1:1e9", "side=nan",
    "side=", "side=none", "side=true", "=4", "n=1:100000", "n=0:9223372036854775807", "n=" + "9" * 5000, "seed=1,2",
    "side < 8", "side * n < 1e6", "memory.latency > 3", "'x' * 9999999999 == 'y'", "(" * 300, "side", "zz > 1",
    "tmm", "roofline", "mwp-cwp", "written", "ptx", "compiled", "x\0y", "\udcff", "/dev/full", ".", "../x/y", "-", "--",
    "seconds", "seconds <= 1e-3", "seconds / side", "cycles * memory.latency", "cycles * zz", "memory.latency=200,400",
    "memory.zz=1", "cores.groups=2147483647", "tpe", "nsga2", "random",
]  # fmt: skip
FLAGS = [
    "--over",
    "--over",
    "--param",
    "--where",
    "--error",
    "--top",
    "--model",
    "--as",
    "--store",
    "--t4",
    "-j",
    "--set",
    "--minimise",
    "--sampler",
]


def timed(subject, configuration, precision):
    """A trial, as a simulation would give it: its time by a hash of the configuration."""
    number = zlib.crc32(repr(sorted(configuration.items())).encode())
    if number % 7 == 0:
        return Trial(configuration, "failed", "does not run")
    cycles = float(number % 10_000)
    return Trial(
        configuration, cycles=cycles, seconds=cycles / 1e9 if number % 2 else None, error=precision / 2,
        precision=precision, bound="memory latency", predictions=dict.fromkeys(subject.models, cycles + 1),
        registers=8, blocks=1,
    )  # fmt: skip
