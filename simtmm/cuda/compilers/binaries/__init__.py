"""What compilers and the assembler write: sections of ELF files, PTX in them, and machine code."""
