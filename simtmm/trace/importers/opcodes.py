"""What the opcodes of NVIDIA's machine code (SASS) are to a trace.

Sources: the instruction sets of Kepler to Hopper in NVIDIA's CUDA Binary Utilities.
"""

import logging
import re
from pathlib import Path

from simtmm.errors import shown
from simtmm.trace.importers.reading import DamagedError

logger = logging.getLogger("simtmm")

# Classes of opcodes; those of memory are MEMORY + ACTIONS * space + action.
COMPUTE, BARRIER, MEMORY = range(3)
GLOBAL, SHARED, LOCAL, GENERIC = range(4)  # spaces, by CUDA's names: local memory is a thread's own
LOAD, STORE, ATOMIC = range(3)  # actions
ACTIONS = 3

_MEMORY = {
    "LDG": (GLOBAL, LOAD), "LDU": (GLOBAL, LOAD), "LDGSTS": (GLOBAL, LOAD), "STG": (GLOBAL, STORE),
    "ATOMG": (GLOBAL, ATOMIC), "RED": (GLOBAL, ATOMIC), "REDG": (GLOBAL, ATOMIC),
    "LDS": (SHARED, LOAD), "LDSM": (SHARED, LOAD), "STS": (SHARED, STORE), "STSM": (SHARED, STORE),
    "ATOMS": (SHARED, ATOMIC),
    "LDL": (LOCAL, LOAD), "STL": (LOCAL, STORE),
    "LD": (GENERIC, LOAD), "ST": (GENERIC, STORE), "ATOM": (GENERIC, ATOMIC),
}  # fmt: skip

# Arithmetic, moves, control, and what touches neither global, shared nor local memory: constants (LDC), caches (CCTL).
_NEITHER = """
FADD FADD32I FCHK FCMP FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZ FSWZADD MUFU RRO IPA
HADD2 HADD2_32I HFMA2 HFMA2_32I HMMA HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX2 DADD DFMA DMMA DMNMX DMUL DSET DSETP
BMMA IMMA QMMA BMSK BREV FLO IABS IADD IADD3 IADD32I IADDCARRY ICMP IDP IDP4A IMAD IMAD32I IMADSP IMNMX IMUL
IMUL32I ISAD ISCADD ISCADD32I ISET ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR SHFR XMAD BFE BFI VABSDIFF VABSDIFF4
VADD VMAD VMNMX VSET VSETP VSHL VSHR VIADD VIADDMNMX VIMNMX VHMNMX
F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND MOV MOV32I MOVM PRMT SEL SGXT SHFL
PLOP3 PSETP PSET P2R R2P CSET CSETP R2B R2UR S2R S2UR CS2R CS2UR B2R
R2UR REDUX UBMSK UBREV UCLEA UF2FP UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC
UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU VOTE VOTE_VTG LDC LDCU
BMOV BPT BRA BREAK BRK BRX BRXU BSSY BSYNC CALL CAL JCAL CONT PBK PCNT PRET PEXIT PLONGJMP LONGJMP SSY SYNC EXIT JMP
JMX JMXU KILL NANOSLEEP NANOTRAP RET RPCMOV RTT WARPSYNC YIELD WARPGROUP ACQBULK ELECT ENDCOLLECTIVE
CCTL CCTLL CCTLT ERRBAR MEMBAR FENCE DEPBAR LDGDEPBAR ARRIVES PREEXIT QSPC GETCRSPTR GETLMEMBASE SETCRSPTR
SETLMEMBASE LEPC NOP PMTRIG SETCTAID S2RX GETREGISTERS TEXDEPBAR USETMAXREG UCGABAR_ARV UCGABAR_WAIT
"""
_COMPUTE = frozenset(_NEITHER.split())
_ADDRESSED = frozenset(["ARRIVES", "CCTL", "CCTLL", "QSPC"])  # those of them that name a place in such memory
_LONGEST_NAME = 60  # characters that a warning shows
LONGEST_OPCODE = 128  # characters, twice those of LDGSTS with all that it can have
MOST_OPCODES = 1 << 14  # with their modifiers; a GPU's programs have hundreds
_WIDTH = re.compile(r"[BUSF]?(8|16|32|64|96|128)")
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8, "96": 12, "128": 16}  # of a width in bits


def gives_nothing(opcode: str) -> bool:
    """Whether an opcode is of an atomic that gives no value back, as `RED.E.ADD`."""
    return opcode.split(".")[0] in ("RED", "REDG")


class Opcodes:
    """Opcodes by kind, each unknown kind named once in the log.

    source: the file, as the log names it.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._warned: set[str] = set()
        self.unknown: set[str] = set()  # kinds

    def class_of(self, opcode: str) -> int:
        """The class of an opcode with its modifiers, as `LDG.E.64`; COMPUTE, and a warning, where it is not known."""
        kind, *modifiers = opcode.split(".")
        if kind == "BAR":
            return COMPUTE if modifiers[:1] == ["ARV"] else BARRIER  # who only arrives does not wait
        if kind in _MEMORY:
            space, action = _MEMORY[kind]
            return MEMORY + ACTIONS * space + action
        if kind not in _COMPUTE:
            self.unknown.add(kind)
            self._warn(kind, "is unknown")
        return COMPUTE

    def without_address(self, opcode: str) -> None:
        """Warn of an access to memory that comes without addresses."""
        self._warn(opcode.split(".")[0], "has no addresses")

    def _warn(self, kind: str, what: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            name = kind if len(kind) <= _LONGEST_NAME else shown(kind)
            logger.warning("%s: opcode %s %s: counts as one compute instruction", self._source, name, what)


def check_opcode(path: Path, line: int, opcode: str, known: int) -> None:
    """Refuse a word that is no opcode of any GPU's, and more of them than any has. known: opcodes so far."""
    if len(opcode) > LONGEST_OPCODE:
        raise DamagedError(path, line, f"an opcode of at most {LONGEST_OPCODE} characters", opcode)
    if known == MOST_OPCODES:
        raise DamagedError(path, line, f"at most {MOST_OPCODES:,} opcodes in a trace", opcode)


def without_memory(opcode: str) -> bool:
    """Whether it is known that the opcode names no place in global, shared or local memory."""
    kind = opcode.split(".")[0]
    return kind == "BAR" or kind in _COMPUTE - _ADDRESSED


def width_of(opcode: str) -> int:
    """Bytes that a thread moves, by the opcode's modifiers: 16 for `LDG.E.128`, 1 for `LDG.E.U8`, 4 without any."""
    kind, *modifiers = opcode.split(".")
    if kind in ("LDSM", "STSM"):
        return 16  # a row of an 8 x 8 matrix of 16-bit elements for each thread that gives an address
    widths = [_BYTES[found[1]] for modifier in modifiers if (found := _WIDTH.fullmatch(modifier))]
    return widths[-1] if widths else 4
