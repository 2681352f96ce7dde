"""What torch's functions are given while a script is recorded, by a torch of a few names that tells it."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from simtmm.scripts import notes
from simtmm.scripts.triton import torch_device


@dataclass(frozen=True)
class Device:
    type: str
    index: int | None = None


class Tensor:
    """One that lies on the CPU; each of its methods says what it was given."""

    device = property(lambda self: Device("cpu"))
    is_cuda = property(lambda self: False)

    def clone(self):
        return "a copy"

    def cuda(self):
        raise AssertionError("there is no GPU")

    def cpu(self):
        raise AssertionError("it is there already")

    def pin_memory(self):
        raise AssertionError("there is no GPU")

    def to(self, *given, **named):
        return self if given in {("cpu",), ()} and named in ({}, {"device": "cpu"}) else ("to", given, named)

    def view(self, *given, **named):
        return "view", given, named


def scaled(*given, **named):
    return given, named


TORCH = SimpleNamespace(Tensor=Tensor, device=Device)


@pytest.fixture
def ask(monkeypatch):
    """Call a function as torch does, with types that are of no matter; what it gives, and what is noted."""
    noted = []
    modules = {"torch.overrides": SimpleNamespace(TorchFunctionMode=object)}
    monkeypatch.setattr(torch_device.importlib, "import_module", modules.__getitem__)
    monkeypatch.setattr(notes, "unrecorded", noted.append)
    mode = torch_device._mode(TORCH)

    def asked(function, *given, **named):
        for types in ((), (Tensor,)):
            noted.clear()
            found = mode.__torch_function__(function, types, given, named) if named else (
                mode.__torch_function__(function, types, given)
            )  # fmt: skip
        return found, list(noted)

    return asked


@pytest.mark.parametrize(
    ("function", "given", "named", "expected"),
    [
        (scaled, (1, "a"), {"out": 2}, ((1, "a"), {"out": 2})),
        (scaled, ("cuda", "cuda:1", "cpu", "meta"), {}, (("cpu", "cpu", "cpu", "meta"), {})),
        (scaled, (Device("cuda", 1), Device("meta")), {}, ((Device("cpu"), Device("meta")), {})),
        (scaled, (0, True), {}, ((0, True), {})),  # a number is a device only where one is expected
        (scaled, (), {"device": "cuda:0"}, ((), {"device": "cpu"})),
        (scaled, (), {"device": Device("cuda")}, ((), {"device": Device("cpu")})),
        (scaled, (), {"device": 1}, ((), {"device": "cpu"})),
        (scaled, (), {"device": None}, ((), {"device": None})),
        (scaled, (), {"device": False}, ((), {"device": False})),
        (scaled, (4,), {"pin_memory": True, "dtype": "f"}, ((4,), {"dtype": "f"})),
    ],
)
def test_devices_are_the_cpu_and_all_else_is_as_it_was_given(ask, function, given, named, expected):
    assert ask(function, *given, **named) == (expected, ["torch.scaled"])


def test_tensors_say_that_they_are_on_the_gpu(ask):
    tensor = Tensor()
    assert ask(Tensor.device.__get__, tensor) == (Device("cuda", 0), [])
    assert ask(Tensor.is_cuda.__get__, tensor) == (True, [])
    assert ask(Device, "cuda", 3) == (Device("cuda", 3), [])  # a script's own, as it wrote it
    assert ask(Device, type="cuda", index=3) == (Device("cuda", 3), [])


def test_a_move_is_a_copy_and_so_is_a_device_that_is_named(ask):
    tensor = Tensor()
    assert ask(Tensor.cuda, tensor) == ask(Tensor.cpu, tensor) == ("a copy", [])
    assert ask(Tensor.pin_memory, tensor) == (tensor, [])
    assert ask(Tensor.to, tensor, "cuda") == ask(Tensor.to, tensor, "cuda:1") == ("a copy", [])
    assert ask(Tensor.to, tensor, "cpu") == ask(Tensor.to, tensor, device="cuda") == ("a copy", [])
    assert ask(Tensor.to, tensor) == (tensor, [])
    assert ask(Tensor.to, tensor, "half") == (("to", ("half",), {}), [])
    assert ask(Tensor.to, tensor, Device("cuda"), copy=True) == (("to", (Device("cpu"),), {"copy": True}), [])
    assert ask(Tensor.to, tensor, 0) == (tensor, [])


def test_what_a_gpu_runs_no_kernel_for_is_not_noted(ask):
    assert ask(Tensor.view, Tensor(), 4)[1] == []
    assert ask(scaled, Tensor())[1] == ["torch.scaled"]
