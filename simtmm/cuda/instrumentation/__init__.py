"""PTX that writes down what its threads do, for a GPU: instrumentation of a module, and what is read of its buffer.

The places are those of simtmm/cuda/execution, which writes the same down where PTX runs on the CPU: the steps of
simtmm/cuda/ptx/flow/steps.py. A buffer becomes the log that a run on the CPU gives, so that everything behind it is the
same: events, traces, digests.

    layout      what a kernel is given, and what it writes
    code        the PTX that writes it
    addresses   what an access is by, as the code has it
    module      a module with that code in its places
    reading     a buffer as a log
"""
