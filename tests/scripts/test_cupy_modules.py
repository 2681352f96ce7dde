"""Modules and names of CuPy that scripts import: those that the stand-in has, and one line for those that it lacks."""

import numpy as np
import pytest

from simtmm.scripts import cupy
from simtmm.scripts.cupy_adapter import ADAPTER


@pytest.mark.parametrize("name", ["cupyx.cutensor", "cupy.cublas", "cupyx.scipy.nothing", "cupy.cuda.cub"])
def test_a_module_that_the_stand_in_lacks_is_one_line_and_an_import_error(name, called, script):
    path = script(f"""
        try:
            import {name}
        except ImportError as error:
            print("caught", error)
        import {name}
    """)
    status, out, err = called("run", path)
    assert status == 2
    assert out.startswith(f"caught {name}: is not supported by simtmm's stand-in for CuPy\n")
    assert err.startswith("simtmm: error: ")
    assert err.splitlines()[0].endswith(f"script.py, line 6: {name}: is not supported by simtmm's stand-in for CuPy")


@pytest.mark.parametrize("package", ["cupy", "cupyx"])
def test_a_name_that_a_script_imports_from_the_stand_in_and_that_it_lacks_is_noted(package, called, script):
    status, _, err = called("run", script(f"from {package} import nothing\n"))
    assert status == 1
    assert f"simtmm: note: {package} is simtmm's stand-in for CuPy here, which lacks that name\n" in err


def test_what_the_stand_in_lacks_is_pythons_matter_when_the_block_is_left():
    with ADAPTER.installed():
        pass
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        __import__("cupyx.cutensor")


def test_names_that_scripts_catch_and_import_are_there():
    with ADAPTER.installed():
        from cupy.cuda.compiler import CompileException
        from cupy.cuda.memory import OutOfMemoryError
        from cupy.lib.stride_tricks import as_strided, sliding_window_view

        assert issubclass(OutOfMemoryError, MemoryError)
        x = cupy.arange(6, dtype=cupy.float32)
        windows = as_strided(x, (4, 3), (4, 4))
        assert type(windows) is type(x)
        x[2] = 9
        assert windows[0, 2] == windows[1, 1] == windows[2, 0] == 9
        assert cupy.lib.stride_tricks.sliding_window_view(x, 2).shape == sliding_window_view(x, 2).shape == (5, 2)
        with pytest.raises(CompileException):
            cupy.RawKernel("nonsense", "f").compile()


def test_arrays_of_a_file_are_the_devices(tmp_path):
    x = cupy.arange(4)
    cupy.savez(tmp_path / "two.npz", x=x, y=2 * x)
    cupy.save(tmp_path / "one.npy", x)
    with cupy.load(tmp_path / "two.npz") as archive:
        assert (list(archive), len(archive), archive.files) == (["x", "y"], 2, ["x", "y"])
        found = archive["y"]
    for each, expected in ((found, [0, 2, 4, 6]), (cupy.load(tmp_path / "one.npy"), [0, 1, 2, 3])):
        assert type(each) is cupy.ndarray
        assert each.tolist() == expected


def test_names_that_numpy_has_given_up_are_still_cupys():
    assert float(cupy.trapz(cupy.array([1.0, 3.0]))) == 2
    assert cupy.in1d(cupy.array([[1, 2], [3, 4]]), cupy.array([4, 1])).tolist() == [True, False, False, True]


def test_memory_of_another_is_an_array_where_it_lies():
    x = np.arange(6, dtype=np.int32)
    own = cupy.asarray(x)
    for pointer, of in ((x.ctypes.data, x), (own.data.ptr, own)):
        memory = cupy.cuda.UnownedMemory(pointer, 24, of)
        assert (memory.size, int(memory.ptr)) == (24, int(pointer))
        view = cupy.ndarray((3,), cupy.int32, cupy.cuda.MemoryPointer(memory, 12))
        view += 10
        assert of.tolist() == [0, 1, 2, 13, 14, 15]
