"""Adapters come in when a script imports the framework, and go when the block is left."""

import contextlib
import importlib
import sys

import pytest

from simtmm.errors import KernelError
from simtmm.scripts.framework import adapting


class Adapter:
    """Changes a module of its own."""

    name, stands_in = "a framework", False

    def __init__(self, module):
        self.modules, self.entered = (module,), 0

    @contextlib.contextmanager
    def installed(self):
        module = sys.modules[self.modules[0]]
        before, module.value, self.entered = module.value, "ours", self.entered + 1
        try:
            yield
        finally:
            module.value = before


@pytest.fixture
def framework(tmp_path, monkeypatch):
    (tmp_path / "a_framework_of_tests.py").write_text("value = 'its own'\nseen = value\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield "a_framework_of_tests"
    sys.modules.pop("a_framework_of_tests", None)


def test_nothing_is_imported_before_the_script_does_it(framework):
    adapter, finders = Adapter(framework), list(sys.meta_path)
    with adapting([adapter]):
        assert framework not in sys.modules
    assert (adapter.entered, sys.meta_path) == (0, finders)


def test_an_adapter_is_entered_behind_the_import_and_left_with_the_block_after_an_error_too(framework):
    adapter = Adapter(framework)
    with contextlib.suppress(ZeroDivisionError), adapting([adapter]):
        module = importlib.import_module(framework)
        assert (module.value, module.seen, module.__spec__.loader is module.__loader__) == ("ours", "its own", True)
        importlib.import_module(framework)
        raise ZeroDivisionError
    assert (adapter.entered, module.value) == (1, "its own")


def test_one_that_was_imported_before_is_changed_at_once(framework):
    module, adapter = importlib.import_module(framework), Adapter(framework)
    with adapting([adapter]):
        assert module.value == "ours"
    assert module.value == "its own"


def test_what_an_adapter_refuses_comes_out_of_the_import(framework):
    adapter = Adapter(framework)
    adapter.installed = lambda: (_ for _ in ()).throw(KernelError("a framework 9: is not known"))
    with adapting([adapter]), pytest.raises(KernelError, match="a framework 9"):
        importlib.import_module(framework)


def test_cupy_is_the_stand_in_within_the_block_alone():
    before = {name for name in sys.modules if name.partition(".")[0] in ("cupy", "cupyx")}
    with contextlib.suppress(ZeroDivisionError), adapting():
        import cupy
        import cupyx.scipy.ndimage  # noqa: F401
        from cupy.cuda import Stream  # noqa: F401

        assert cupy.__name__ == "simtmm.scripts.cupy"
        raise ZeroDivisionError
    assert {name for name in sys.modules if name.partition(".")[0] in ("cupy", "cupyx")} == before


def test_numba_cuda_that_does_not_take_numbas_place_is_told(monkeypatch):
    """As where it was installed beside the site-packages, whose .pth files alone are read."""
    pytest.importorskip("numba_cuda")
    from simtmm.scripts.numba_cuda import adapter

    monkeypatch.setitem(sys.modules, "numba.cuda.core", None)
    with pytest.raises(KernelError, match=r"numba-cuda 0\.30\.\d+: is installed, but numba\.cuda is Numba's own"):
        adapter.installed().__enter__()
