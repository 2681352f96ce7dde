"""A module of more kernels than compilers can do with in a minute is refused before it is given to one."""

import pytest

from simtmm.cuda.compilers import compile_files, compile_source, load_module
from simtmm.cuda.compilers.module import MOST_KERNELS
from simtmm.errors import CompilerError

CUDA = "__global__ void k();\n"
PTX = ".version 8.0\n.target sm_80\n"
FORMS = {
    "a text": (lambda path: compile_source(path.read_text(), name=str(path), architecture=80), "", CUDA),
    "a file": (lambda path: compile_files(path, architecture=80), "", CUDA),
    "PTX": (load_module, PTX, ".visible .entry k() { ret; }\n"),
}


@pytest.mark.parametrize(("read", "head", "kernel"), FORMS.values(), ids=FORMS)
def test_a_module_of_too_many_kernels_is_refused(read, head, kernel, tmp_path, monkeypatch):
    monkeypatch.setattr("simtmm.children.start.run", None)
    path = tmp_path / ("k.ptx" if head else "k.cu")
    path.write_text(head + kernel * (MOST_KERNELS + 1))
    with pytest.raises(CompilerError, match=r"k\.\w+: has 4,097 kernels: must have at most 4,096$"):
        read(path)
