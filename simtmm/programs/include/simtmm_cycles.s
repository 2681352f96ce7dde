# The assembler reads this before a program's host code: its reads of the processor's cycles become calls of the runtime
# (runtime/cycles.cpp), whatever the compiler made them of. Bytes, as the code may be in either syntax: they step over the
# 128 bytes below the stack's end that a function may use, call by the address that the loader has filled in, and back.
.macro rdtsc
    .byte 0x48, 0x8d, 0x64, 0x24, 0x80
    .byte 0xff, 0x15
    .long simtmm_cycles@GOTPCREL - 4
    .byte 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0
.endm
.macro rdtscp
    rdtsc
    .byte 0xb9, 0, 0, 0, 0
.endm
