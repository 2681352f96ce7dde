"""What is compared as a whole: outputs that stand in tests/golden/outputs, as they are on any computer."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTPUTS = ROOT / "tests" / "golden" / "outputs"
PROVENANCE = {"python", "numpy", "command", "simtmm"}  # of what made a document: not of what it says
DIGITS = 9  # of numbers: functions of numbers with a point differ in their last digits from computer to computer


def comparable(value):
    """A document as it is to be compared."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, str):
        return value.replace(str(ROOT), "ROOT")
    if isinstance(value, dict):
        is_of_making = "python" in value and "command" in value
        if "axes" in value and "key" in value:  # of a point: simtmm's own code is in it, which each commit changes
            assert re.fullmatch("[0-9a-f]{32}", value["key"]), value["key"]
            value = {**value, "key": "KEY"}
        if value.get("recorder") in ("compiled", "cpu") and "source" in value:  # a build's: this compiler is in it
            assert re.fullmatch("[0-9a-f]{20}", value["source"]), value["source"]
            value = {**value, "source": "BUILD"}
        return {key: comparable(each) for key, each in value.items() if not (is_of_making and key in PROVENANCE)}
    return [comparable(each) for each in value] if isinstance(value, (list, tuple)) else value
