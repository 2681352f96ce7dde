"""Machine code that is kept: all that decides it is in its key."""

from pathlib import Path

import pytest

from simtmm.cuda.execution.translation import kept_code
from simtmm.native import Loop, loop, machine_code

CIRCUMSTANCES = ("1.0", "skylake", "+avx", "large")


def keys_of_kernels():
    kept_code._circumstances.cache_clear()
    return kept_code._key("assembly", False)


def one_more(a):
    return a + 1


def keys_of_loops():
    """What a loop is looked for by."""
    asked = []

    def find(folder, label, key, ending):
        asked.append(key)
        raise LookupError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Loop, "_folder", lambda self: Path("kept"))
        patched.setattr(loop, "find", find)
        with pytest.raises(LookupError):
            Loop(one_more)(1)
    (key,) = asked
    return key


@pytest.fixture(autouse=True)
def circumstances(monkeypatch):
    yield
    kept_code._circumstances.cache_clear()


@pytest.mark.parametrize("keys", [keys_of_kernels, keys_of_loops])
def test_code_is_kept_by_each_of_the_circumstances(keys, monkeypatch):
    found = set()
    for changed in (CIRCUMSTANCES, *(
        (*CIRCUMSTANCES[:at], "other", *CIRCUMSTANCES[at + 1 :]) for at in range(len(CIRCUMSTANCES))
    )):  # fmt: skip
        monkeypatch.setattr(machine_code, "circumstances", lambda changed=changed: changed)
        monkeypatch.setattr(kept_code, "circumstances", lambda changed=changed: changed)
        found.add(keys())
    assert len(found) == 1 + len(CIRCUMSTANCES)


def test_a_kernel_s_code_is_kept_by_its_assembly_how_it_is_compiled_and_the_compiler_s_source(monkeypatch):
    found = {kept_code._key("assembly", False), kept_code._key("assembly", True), kept_code._key("another", False)}
    monkeypatch.setattr(kept_code, "sources_of", lambda *modules: "changed")
    kept_code._circumstances.cache_clear()
    assert len(found | {kept_code._key("assembly", False)}) == 4


def test_the_circumstances_are_llvm_the_processor_and_how_far_code_reaches(monkeypatch):
    before = machine_code.circumstances()
    assert len(before) == len(set(before)) == 4
    monkeypatch.setattr(machine_code, "CODE_MODEL", "other")
    monkeypatch.setattr(machine_code, "host_features", lambda: "other features")
    assert [one == other for one, other in zip(before, machine_code.circumstances(), strict=True)] == [
        True, True, False, False,
    ]  # fmt: skip
