"""Everything that the checks find in every kernel of faults.cu, as it stands in tests/golden/outputs/findings.json.

Where it is meant to differ, `python -m tests.cuda.checks.test_whole` writes it anew; look at the difference before you
keep it.
"""

import json

import pytest

from tests.cuda.checks import faults
from tests.whole import OUTPUTS, comparable

KEPT = OUTPUTS / "findings.json"


def findings(kernel):
    """What is found, with how often and between whom."""
    return comparable(faults.found(kernel, fresh=kernel == "unwritten_global").to_dict())


@pytest.mark.parametrize("kernel", sorted(json.loads(KEPT.read_text(encoding="utf-8"))))
def test_all_that_is_found_is_as_it_was(kernel):
    assert findings(kernel) == json.loads(KEPT.read_text(encoding="utf-8"))[kernel]


if __name__ == "__main__":
    found = {kernel: findings(kernel) for kernel in sorted(faults.module().entries)}
    KEPT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
