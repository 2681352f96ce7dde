"""Modifiers of machine instructions: each is known, or the instruction is refused, so that none is read as another."""

import pytest

from simtmm.cuda.compilers.binaries.disassembly import Disassembly
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.sass import families
from simtmm.cuda.sass.families.control import NOTHING
from simtmm.cuda.sass.kernel import lifted_kernel
from simtmm.errors import SassError
from tests.cuda.execution.kernels import kernel

ARCHITECTURES = (90, 80, 75, 120)
VALID = (
    "FSETP.GT.AND P0, PT, R1, R2, PT", "DSETP.GT.AND P0, PT, R2, R4, PT", "ISETP.GE.AND P0, PT, R1, R2, PT",
    "ISETP.GE.U32.AND.EX P0, PT, R1, R2, PT, P1", "HSETP2.GT.AND P0, PT, R1, R2, PT", "FSET.BF.GT.AND R0, R1, R2, PT",
    "DSET.BF.GT.AND R0, R2, R4, PT", "HSET2.BF.GT.AND R0, R1, R2, PT", "FMNMX R0, R1, R2, PT", "DMNMX R0, R2, R4, PT",
    "IMNMX R0, R1, R2, PT", "HMNMX2 R0, R1, R2, PT", "VIMNMX R0, R1, R2, PT", "VIADDMNMX R0, R1, R2, R3, PT",
    "LOP3.LUT R0, R1, R2, R3, 0xc0, !PT", "PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0",
    "ULOP3.LUT UR4, UR5, UR6, UR7, 0xc0, !UPT", "UPLOP3.LUT UP0, UPT, UP1, UP2, UPT, 0x80, 0x0", "SEL R0, R1, R2, P0",
    "FSEL R0, R1, R2, P0", "USEL UR4, UR5, UR6, UP0", "MUFU.RCP R0, R1", "FCHK P0, R1, R2", "F2F.F64.F32 R0, R2",
    "F2FP.F16.F32.PACK_AB R0, R1, R2", "I2I.S16.S32.SAT R0, R1", "I2IP.S8.S32.SAT R0, R1, R2, R3",
    "F2IP.S8.F32.NTZ R0, R1, R2, R3", "IDP.4A.S8.S8 R0, R1, R2, R3", "LEA R0, R1, R2, 0x2",
    "LEA.HI.X R0, R1, R2, R3, 0x2, P0", "ULEA UR4, UR5, UR6, 0x2", "VABSDIFF4.U8 R0, R1, R2, R3", "S2R R0, SR_TID.X",
    "S2UR UR4, SR_CTAID.X", "CS2R R0, SRZ", "CS2R.32 R0, SR_CLOCKLO", "LDC R0, c[0x0][0x28]",
    "ULDC UR4, c[0x0][0x28]", "LDCU UR4, c[0x0][0x28]", "LD.E R0, [R2.64]", "LDG.E R0, [R2.64]",
    "LDG.E R0, desc[UR4][R2.64]", "LDS R0, [R2]", "LDL R0, [R2]", "ST.E [R2.64], R0", "STG.E [R2.64], R0",
    "STG.E desc[UR4][R2.64], R0", "STS [R2], R0", "STL [R2], R0", "LDGSTS.E [R0], [R2.64]", "LDSM.16.M88 R0, [R2]",
    "TEX.SCR.LL R6, R4, R4, R6, 0x0, 0x58, 2D, 0x3", "TEX.SCR.B.LZ RZ, R11, R10, R4, 2D, 0x1",
    "TEX.LL R6, R4, R4, R7, UR4, 0x0, 3D", "TEX R6, R4, R4, UR4, ARRAY_2D", "TLD.SCR.LZ RZ, R5, R0, 0x0, 0x58, 1D, 0x1",
    "TLD4.SCR.G R6, R4, R0, R5, 0x0, 0x58, 2D", "SULD.D.BA.2D.128.STRONG.SM.TRAP R4, [R4], 0x0, 0x58",
    "SULD.D.BA.2D.U8.STRONG.SM R0, [R6], R2", "SUST.D.BA.2D_ARRAY.STRONG.SM.IGN [R6], R0, UR4, 0x0",
    "STSM.16.M88 [R2], R0", "MOVM.16.MT88 R0, R1", "ATOM.E.ADD PT, R0, [R2.64], R4",
    "ATOMG.E.ADD PT, R0, [R2.64], R4", "ATOMS.ADD R0, [R2], R4", "RED.E.ADD [R2.64], R4", "REDG.E.ADD [R2.64], R4",
    "QSPC.E.G P0, RZ, [R2]", "SHFL.DOWN PT, R0, R1, 0x1, 0x1f", "VOTE.ALL P0, P1", "VOTE.ANY R0, PT, P0",
    "VOTEU.ANY UR4, UPT, P0", "MATCH.ANY R0, R1", "REDUX.SUM UR4, R0", "ELECT P0, UR4, PT", "R2UR UR4, R0",
    "BAR.SYNC 0x0", "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.ARV 0x1, 0x40", "BAR.RED.POPC 0x0, P0", "B2R.RESULT R0",
    "WARPSYNC.ALL", "WARPSYNC R0", "BSSY B0, `(.L_1)", "BSYNC B0", "BREAK B0", "BMOV.32 B0, R0",
    "HMMA.16816.F32 R0, R4, R8, R12", "HMMA.1688.F32 R0, R4, R8, R12", "IMMA.16816.S8.S8 R0, R4, R8, R12",
    "IMMA.16832.S8.S8 R0, R4, R8, R12", "DMMA.884 R0, R4, R8, R12", "BMMA.168128.AND.POPC R0, R4, R8, R12",
    "QMMA.16832.F32.E4M3.E4M3 R0, R4, R8, R12", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ",
    "SYNCS.EXCH.64 URZ, [UR4], UR6", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0", "ARRIVES.LDGSTSBAR.64 [UR4]",
    "WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR.LE gsb0, 0x0", "UTMALDG.2D [UR4], [UR6]", "UTMASTG.2D [UR4], [UR6]",
    "UTMAREDG.2D.ADD [UR4], [UR6]", "UBLKCP.S.G [UR4], [UR6], UR8", "UBLKRED.G.S.ADD [UR4], [UR6], UR8",
    "IADD3 R0, P0, PT, R1, R2, R3", "IADD3.X R0, R1, R2, R3, P0, !PT", "IMAD.WIDE.U32 R0, R2, R3, R4",
    "FFMA.FTZ R0, R1, R2, R3", "FADD.FTZ R0, R1, R2", "FMUL R0, R1, R2", "DADD R0, R2, R4", "DFMA R0, R2, R4, R6",
    "DMUL R0, R2, R4", "HADD2 R0, R1, R2", "HFMA2.MMA R0, R1, R2, R3", "HMUL2 R0, R1, R2",
    "SHF.R.U32.HI R0, RZ, 0x1, R1", "POPC R0, R1", "BREV R0, R1", "FLO.U32 R0, R1", "IABS R0, R1",
    "PRMT R0, R1, 0x5410, R2", "SGXT R0, R1, 0x8", "BMSK R0, R1, R2", "MOV R0, R1", "UMOV UR4, 0x1", "I2F R0, R1",
    "F2I.TRUNC.NTZ R0, R1", "FRND R0, R1", "P2R R0, PR, R1, 0x7f", "R2P PR, R1, 0x7f", "UCGABAR_ARV", "UCGABAR_WAIT",
    "LEPC R20", "USETMAXREG.DEALLOC 0x18", "VIADD R0, R1, 0x1", "UIADD3 UR4, UR5, UR6, UR7",
    "UISETP.GE.AND UP0, UPT, UR4, UR5, UPT", "UIMAD UR4, UR5, UR6, UR7", "USHF.R.U32.HI UR4, URZ, 0x1, UR5",
    "UPRMT UR4, UR5, 0x5410, UR6", "UF2FP.F16.F32.PACK_AB UR4, UR5, UR6", "UFSETP.GT.AND UP0, UPT, UR4, UR5, UPT",
    "UFSEL UR4, UR5, UR6, UP0", "UFMNMX UR4, UR5, UR6, UPT", "UVIMNMX UR4, UR5, UR6, UPT",
)  # fmt: skip
# Whatever they say, nothing else comes of these: caches, order of accesses that are in order here, and the end
ANYWAY = {*NOTHING, "BPT", "KILL", "EXIT", "DEPBAR", "FENCE", "MEMBAR", "NANOSLEEP", "YIELD", "UTMACCTL",
          "UTMACMDFLUSH", "UTMAPF"}  # fmt: skip
OPERANDS = (
    "", "R0", "R0, R1", "R0, R1, R2", "R0, R1, R2, R3", "P0, PT, R1, R2, PT", "R0, [R2.64]", "[R2.64], R1", "R0, P0",
    "R0, P0, R1, R2, PT", "R0, R1, 0x4", "UR4, UR5", "UR4, UR5, UR6", "0x0", "PR, R1, 0x4", "R0, PR, R1, 0x7f",
)  # fmt: skip
MODULE = parse_module(kernel("ret;", 0))


def complaint(text, architecture):
    """What is said of an instruction alone; None where it is lifted."""
    code = f"/* 0x{0:016x} */"
    listing = f'\t.section\t.text.k,"ax",@progbits\n        /*0000*/ {text} ; {code}\n {code}\n'
    try:
        lifted_kernel(MODULE, "k", Disassembly(listing, {}, {}, {}, {}), architecture, 0)
    except SassError as error:
        return str(error)
    return None


def with_another(text):
    """An instruction with a modifier that there is not, behind its own."""
    opcode, _, operands = text.partition(" ")
    return f"{opcode}.ODD {operands}".strip()


@pytest.mark.parametrize("text", VALID)
def test_a_modifier_more_is_refused(text):
    architecture = next(each for each in ARCHITECTURES if complaint(text, each) is None)
    odd = with_another(text)
    assert complaint(odd, architecture).startswith(f"`{odd}` ")


def test_whatever_an_instruction_does_its_modifiers_are_looked_at():
    """Of all that are lifted with some operands or other."""
    lax = set()
    for opcode in families.HANDLERS:
        taken = [text for each in OPERANDS if complaint(text := f"{opcode} {each}".strip(), 90) is None]
        if any(complaint(with_another(text), 90) is None for text in taken):
            lax.add(opcode)
    assert lax == ANYWAY
