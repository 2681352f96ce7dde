"""How many operands each instruction of the machine has, in the forms that are lifted.

The disassembler writes what the handlers of simtmm/cuda/sass/families read; a form with more or fewer operands is one
that nobody has looked at. It is refused before its handler runs.
"""

from simtmm.cuda.sass.syntax import MachineInstruction


def _each(names: str, *counts: int) -> dict[str, range]:
    least, most = counts[0], counts[-1]
    return dict.fromkeys(names.split(), range(least, most + 1))


COUNTS: dict[str, range] = {
    # Whole numbers and bits
    **_each("IABS UIABS BREV UBREV POPC UPOPC", 2),
    **_each("IADD UIADD IADD3 UIADD3", 3, 8),
    **_each("IMAD UIMAD", 4, 6),
    **_each("LEA ULEA", 4, 7),
    **_each("ISETP UISETP", 5, 6),
    **_each("MOV UMOV", 2, 3),
    **_each("SEL USEL SHF USHF PRMT UPRMT VABSDIFF UVABSDIFF VABSDIFF4 UVABSDIFF4 IDP UIDP", 4),
    **_each("BMSK UBMSK SGXT USGXT", 3),
    **_each("FLO UFLO", 2, 3),
    **_each("LOP3 ULOP3", 5, 7),
    **_each("PLOP3 UPLOP3", 7),
    **_each("VIADD UVIADD", 3),
    **_each("IMNMX UIMNMX", 4, 7),
    **_each("VIMNMX UVIMNMX", 4, 6),
    **_each("VIMNMX3 UVIMNMX3", 5, 6),
    **_each("VIADDMNMX UVIADDMNMX", 5),
    # Real numbers
    **_each("FADD UFADD FMUL UFMUL FADD2 FMUL2 FCHK DADD DMUL", 3),
    **_each("FFMA UFFMA FFMA2 FMNMX UFMNMX FSEL UFSEL FSET UFSET DFMA DMNMX DSET", 4),
    **_each("FMNMX3", 5),
    **_each("FSETP UFSETP DSETP", 5),
    **_each("HADD2", 3, 4),
    **_each("HMUL2", 3, 5),
    **_each("HFMA2", 4, 7),
    **_each("HMNMX2 VHMNMX HSET2", 4, 5),
    **_each("HMNMX3", 5, 6),
    **_each("HSETP2", 5, 6),
    **_each("MUFU", 2),
    # Conversions and moves between files of registers
    **_each("F2F F2I UF2I FRND UFRND I2F UI2F I2FP UI2FP I2I", 2),
    **_each("F2FP UF2FP", 2, 4),
    **_each("F2IP I2IP P2R UP2UR", 4),
    **_each("R2P UR2UP", 3),
    **_each("R2UR", 2, 3),
    **_each("CS2R CS2UR UCS2R S2R S2UR BMOV", 2),
    # Memory
    **_each("LD LDG LDL LDS", 2, 4),
    **_each("ST STG STL STS", 2, 3),
    **_each("LDC LDCU ULDC", 2),
    **_each("RED REDG", 2),
    **_each("ATOMS", 2, 4),
    **_each("ATOM ATOMG", 3, 5),
    **_each("QSPC", 3),
    **_each("TEX TLD TLD4", 4, 8),
    **_each("SULD SUST", 3, 4),
    **_each("LDSM STSM MOVM", 2),
    **_each("LDGSTS", 2, 4),
    **_each("UBLKCP UBLKRED", 3, 4),
    **_each("UTMALDG", 2, 4),
    **_each("UTMASTG UTMAREDG", 2, 3),
    **_each("UTMAPF UTMACCTL", 1, 3),
    **_each("STAS REDAS", 2),
    **_each("ARRIVES", 1),
    **_each("SYNCS", 1, 4),
    # Warps and matrices
    **_each("SHFL", 5),
    **_each("CREDUX REDUX", 2),
    **_each("MATCH", 2, 3),
    **_each("VOTE VOTEU", 2, 3),
    **_each("ELECT", 3),
    **_each("B2R", 1, 3),
    **_each("BMMA DMMA IMMA QMMA HMMA", 4, 5),
    **_each("BGMMA HGMMA IGMMA QGMMA", 3, 8),
    **_each("WARPGROUP", 0, 2),
    # Control
    **_each("BRA", 1, 3),
    **_each("BREAK", 1, 2),
    **_each("BRX RET CALL", 1, 3),
    **_each("LEPC", 1, 2),
    # Those that do nothing here, and those whose handlers take what there is
    **_each("ACQBULK BAR BPT BSSY BSYNC CCTL CCTLL CCTLT CGAERRBAR DEPBAR ENDCOLLECTIVE ERRBAR EXIT FENCE KILL", 0, 9),
    **_each("LDGDEPBAR MEMBAR NANOSLEEP NOP PMTRIG PREEXIT UBLKPF USETMAXREG UTMACMDFLUSH", 0, 9),
    **_each("UCGABAR_ARV UCGABAR_WAIT WARPREADY WARPSYNC YIELD", 0, 9),
}


def takes(instruction: MachineInstruction) -> bool:
    """Whether an instruction has as many operands as a form that is lifted; true of an opcode without a row."""
    return len(instruction.operands) in COUNTS.get(instruction.opcode, range(99))
