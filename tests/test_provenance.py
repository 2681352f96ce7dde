"""Provenance: the sources of a part of the package have a hash that every edit changes."""

import pytest

from simtmm import provenance


def test_every_edit_of_a_part_changes_its_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "provenance.py"))
    (tmp_path / "engine").mkdir()
    files = {"engine/fast.py": "a = 1\n", "engine/device.cuh": "int a;\n", "engine/data.txt": "", "kernel.py": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def of(*parts):
        provenance.sources.cache_clear()
        return provenance.sources(*parts)

    both, engine = of("engine", "kernel.py"), of("engine")
    assert len({both, engine, of("kernel.py")}) == 3
    (tmp_path / "engine/data.txt").write_text("no source", encoding="utf-8")
    assert of("engine") == engine
    (tmp_path / "kernel.py").write_text("b = 2\n", encoding="utf-8")
    assert of("engine") == engine
    assert of("engine", "kernel.py") != both
    (tmp_path / "engine/device.cuh").write_text("int b;\n", encoding="utf-8")
    assert of("engine") != engine
    engine = of("engine")
    (tmp_path / "engine/fast.py").rename(tmp_path / "engine/slow.py")
    assert of("engine") != engine
    provenance.sources.cache_clear()


@pytest.mark.parametrize(
    ("program", "written"),
    [("/usr/bin/simtmm", "simtmm"), ("/lib/simtmm/__main__.py", "python -m simtmm"), ("/srv/notes.py", "notes.py")],
)
def test_a_command_is_what_somebody_writes(program, written, monkeypatch):
    monkeypatch.setattr(provenance.sys, "argv", [program, "run", "--json"])
    assert provenance.provenance()["command"] == f"{written} run --json"
