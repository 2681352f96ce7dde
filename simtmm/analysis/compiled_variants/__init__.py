"""What a kernel gains where its source is compiled otherwise: each variant is compiled, run, compared and simulated.

source_edits  texts of CUDA C++ with a word more, line by line as before
variants      which variants a kernel has
trial         what each takes, where it computes the same
"""

from simtmm.analysis.source_changes import Advice
from simtmm.machine import Machine
from simtmm.program import Program
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload


def try_variants(program: Program, machine: Machine, workload: AnyWorkload, result: Result) -> tuple[Advice, ...]:
    """What each variant of a program gains that computes the same, the greatest gain first.

    Gives nothing for what is not one file of CUDA C++ that is launched as its user says. workload, result: of its run.
    """
    kernel = program.kernel
    if kernel is None or program.trace is None or not kernel.sources or not result.cycles:
        return ()
    from simtmm.analysis.compiled_variants.trial import tried  # late: what it takes of compilers is slow to load

    return tried(kernel, program, machine, workload, result)
