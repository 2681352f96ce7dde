"""PTX to machine code: a kernel and the functions that it may call, as one function that runs a warp.

program, function_code    all functions; one function's registers, parameters and variables
reachable                 the functions that a kernel may call
context, emit             a block of code while it is translated; LLVM assembly, line by line
constants, one_nan        registers that are always the same; the only NaN of f32
special_registers         a thread's place in its launch
facts                     what follows from a program's code, found once
machine_code, kept_code   LLVM; what is stored in the user's cache
"""
