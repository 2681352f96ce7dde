"""Running PTX on the CPU: a warp at a time, its threads in the lanes of vectors, translated to machine code by LLVM.

translation     PTX to LLVM assembly to machine code
instructions    what each instruction does: numbers, memory, matrices, warps
control_flow    how the lanes of a warp go through blocks of code, and wait
runtime         what translated code calls
layout          where the state of a launch, a block and a warp stands, for all of these
launches        which blocks run when, and how a launch ends
livelock        threads that loop for ever
page            docs/ptx-forms.md
"""
