"""Running PTX on the CPU: a warp at a time, its threads in the lanes of vectors, translated to machine code by LLVM."""
