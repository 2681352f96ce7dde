"""The class of work of a machine instruction: its pipeline."""

from simtmm.cuda.sass.syntax import MachineInstruction

_SPECIAL = {"MUFU", "F2I", "I2F", "F2F", "FRND", "I2I", "POPC", "FLO", "BREV", "FCHK", "F2IP", "UF2I", "UI2F"}
_CONTROL = {
    "BRA", "BRX", "BRXU", "JMP", "JMX", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD", "NOP",
    "NANOSLEEP", "BAR", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "BPT", "KILL", "BMOV", "ELECT",
    "ENDCOLLECTIVE", "SYNCS", "FENCE", "UCGABAR_ARV", "UCGABAR_WAIT", "PREEXIT", "ACQBULK", "B2R", "PMTRIG", "LEPC",
    "WARPREADY", "USETMAXREG", "ARRIVES", "UBLKPF", "UTMACMDFLUSH", "UTMAPF",
    "UTMACCTL", "WARPGROUP",
}  # fmt: skip
_MULTIPLY = {"IMAD", "UIMAD", "IMUL", "IMUL32I", "IMAD32I", "XMAD", "IDP", "IDP4A", "UIMUL"}
_CONVERSIONS = {"F2I", "I2F", "F2F", "FRND"}
_SHARED = {"SHFL", "LDSM", "STSM", "MOVM"}


def class_of(instruction: MachineInstruction) -> str:
    """The class, one of trace.schema.WORK_CLASSES, of an instruction that accesses no memory."""
    if instruction.opcode in _CONVERSIONS and any("F64" in each for each in instruction.modifiers):
        return "fp64"  # one pipe has doubles and their conversions
    return class_of_opcode(instruction.opcode)


def result_class(instruction: MachineInstruction) -> str | None:
    """The class, one of trace.schema.RESULT_CLASSES, whose latency the value has that a scoreboard tells of."""
    if instruction.opcode == "SHFL":
        return "shuffle"
    own = class_of_opcode(instruction.opcode)  # conversions of doubles, too, are of the unit of functions
    return own if own in ("special", "fp64", "tensor") else None


def class_of_opcode(opcode: str) -> str:
    """Likewise, by the opcode without its modifiers, as FADD or MUFU.

    opcode: as FADD.
    """
    if opcode in _CONTROL:
        return "control"
    if opcode in _SHARED:
        return "shared"
    if opcode in _SPECIAL:
        return "special"
    if opcode.endswith("MMA") and opcode[0] in "HIBDQOU" and len(opcode) <= 6:
        return "tensor"
    if opcode[0] == "D" and opcode in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"):
        return "fp64"
    if opcode[0] == "H" or opcode == "F2FP":
        return "fp16"
    if opcode.removeprefix("U")[0] == "F":
        return "fp32"
    return "multiply" if opcode in _MULTIPLY else "integer"
