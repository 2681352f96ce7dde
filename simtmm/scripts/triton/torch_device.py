"""PyTorch of a script that says device="cuda": its tensors lie on the CPU, and torch.cuda answers for the machine."""

import contextlib
import functools
import importlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from simtmm.device.stream import DEFAULT_STREAM
from simtmm.recorder.direct import current
from simtmm.recorder.direct.streams import DeviceEvent, DeviceStream, milliseconds_between
from simtmm.scripts import notes
from simtmm.scripts.device_attributes import compute_capability, device_name
from simtmm.scripts.patches import Patches

QUIET = frozenset(
    [
        "__get__",
        "__set__",
        "size",
        "dim",
        "stride",
        "numel",
        "nelement",
        "element_size",
        "data_ptr",
        "untyped_storage",
        "storage_offset",
        "is_contiguous",
        "view",
        "reshape",
        "expand",
        "permute",
        "transpose",
        "t",
        "unsqueeze",
        "squeeze",
        "detach",
        "requires_grad_",
        "__repr__",
        "__format__",
        "__len__",
        "item",
        "__getitem__",
        "is_floating_point",
        "numpy",
        "tolist",
        "cpu",
        "cuda",
        "to",
        "empty",
        "empty_like",
        "empty_strided",
        "manual_seed",
        "ndimension",
        "set_default_device",
        "__hash__",
        "type",
        "dtype",
        "is_complex",
        "record_stream",
        "pin_memory",
    ]
)
"""Functions that a GPU runs no kernel for, or of which a script tells nothing."""


class TorchAdapter:
    """See simtmm.scripts.framework."""

    name = "PyTorch"
    modules: tuple[str, ...] = ("torch",)
    stands_in = False

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The block within which tensors on "cuda" are tensors on the CPU."""
        torch: Any = importlib.import_module("torch")
        with Patches() as patches:
            _patch_cuda(patches, torch)
            patches.set(torch, "Generator", _generator(torch.Generator))
            patches.enter_context(_mode(torch))
            yield


def _generator(own: Any) -> Any:
    class Generator(own):  # type: ignore[misc]  # whatever the class is
        """torch.Generator, on the CPU."""

        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, "cpu")

    return Generator


def _mode(torch: Any) -> Any:  # noqa: C901 - a case for each function of torch
    """What all of torch's functions go through."""
    overrides: Any = importlib.import_module("torch.overrides")
    device_of, is_cuda = torch.Tensor.device.__get__, torch.Tensor.is_cuda.__get__
    moves = {torch.Tensor.cuda: "cuda", torch.Tensor.cpu: "cpu"}

    def on_cpu(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        if isinstance(value, str) and value.partition(":")[0] == "cuda":
            return "cpu"
        return value

    class OnCpu(overrides.TorchFunctionMode):  # type: ignore[misc]
        """Tensors on "cuda" are created on the CPU, and say that they are on "cuda"."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if func == device_of:
                return torch.device("cuda", 0)
            if func == is_cuda:
                return True
            if func is torch.device:
                return func(*args, **kwargs)
            if func in moves:
                return args[0].clone()
            if func is torch.Tensor.pin_memory:
                return args[0]
            name = getattr(func, "__name__", str(func))
            if "device" in kwargs:
                kwargs["device"] = _cpu_of_number(kwargs["device"], on_cpu)
            kwargs.pop("pin_memory", None)
            if func is torch.Tensor.to:
                moved = any(isinstance(each, torch.device) or _is_device(each) for each in args[1:])
                moved = moved or "device" in kwargs
                args = (args[0], *(_cpu_of_number(each, on_cpu) for each in args[1:]))
                result = func(*args, **kwargs)
                return result.clone() if moved and result is args[0] else result  # another device has a copy of its own
            if name not in QUIET:
                notes.unrecorded(f"torch.{name}")
            return func(*map(on_cpu, args), **kwargs)

    return OnCpu()


def _is_device(value: Any) -> bool:
    return isinstance(value, str) and value.partition(":")[0] in ("cuda", "cpu")


def _cpu_of_number(value: Any, on_cpu: Any) -> Any:
    """A device that is named by its number is a GPU."""
    return "cpu" if isinstance(value, int) and not isinstance(value, bool) else on_cpu(value)


class Event(DeviceEvent):
    """torch.cuda.Event, on the simulated clock."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        super().__init__(is_timed=enable_timing)
        self.unrecorded = 0

    def record(self, stream: Any = None) -> None:
        """Mark the end of the work so far."""
        self.mark_end()
        self.unrecorded = notes.unrecorded_so_far()

    def elapsed_time(self, other: "Event") -> float:
        """Milliseconds to another. Raises RecordingError without a machine."""
        function = "torch.cuda.Event.elapsed_time"
        notes.leaves_out(function, other.unrecorded - self.unrecorded)
        return milliseconds_between(self, other, function)

    def wait(self, stream: Any = None) -> None:
        """What comes later is on the same stream."""

    def query(self) -> bool:
        """Whether it has ended: yes."""
        return True


class Stream(DeviceStream):
    """torch.cuda.Stream: all work is done in the order of the calls."""

    cuda_stream = DEFAULT_STREAM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Its priority and device have no effect."""
        super().__init__(DEFAULT_STREAM, is_own=True)

    @classmethod
    def default(cls) -> "Stream":
        """The one that there always is."""
        found = cls.__new__(cls)
        DeviceStream.__init__(found, DEFAULT_STREAM)
        return found

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to do."""

    def wait_stream(self, stream: Any) -> None:
        """It is the same one."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event at the end of the work so far."""
        recorded = event or Event()
        recorded.record()
        return recorded

    def query(self) -> bool:
        """Whether it has ended: yes."""
        return True


def _patch_cuda(patches: Patches, torch: Any) -> None:
    for name, answer in _answers().items():
        patches.set(torch.cuda, name, answer)


def _answers() -> dict[str, Any]:
    """What stands for torch.cuda's names: a function of its own for each, as torch knows functions by identity."""

    def nothing(*args: Any, **kwargs: Any) -> None:
        return None

    def zero(*args: Any, **kwargs: Any) -> int:
        return 0

    stream = Stream.default()
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *args, **kwargs: compute_capability() >= (8, 0),
        "device_count": lambda: 1,
        "current_device": zero,
        "get_device_name": lambda device=None: device_name(),
        "get_device_capability": lambda device=None: compute_capability(),
        "get_device_properties": lambda device=None: _properties(),
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "stream": lambda given: contextlib.nullcontext(),
        "device": lambda number: contextlib.nullcontext(),
        "mem_get_info": lambda device=None: (current.properties().global_bytes,) * 2,
        **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"), zero),
        **dict.fromkeys(
            ("init", "set_device", "empty_cache", "manual_seed", "manual_seed_all", "reset_peak_memory_stats"), nothing
        ),
        "_lazy_init": nothing,
        "synchronize": _synchronize,
    }  # fmt: skip
    return {name: _named(name, answer) for name, answer in answers.items()} | {"Event": Event, "Stream": Stream}


def _named(name: str, answer: Any) -> Any:
    """A function of torch.cuda of that name."""

    @functools.wraps(answer)
    def function(*args: Any, **kwargs: Any) -> Any:
        return answer(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "torch.cuda"
    return function


def _synchronize(device: Any = None) -> None:
    clock = current.clock_if_any()
    if clock is not None:
        clock.synchronize()


def _properties() -> Any:
    of = current.properties()
    major, minor = of.compute_capability
    return SimpleNamespace(
        name=of.name, major=major, minor=minor, multi_processor_count=of.multiprocessors, total_memory=of.global_bytes,
        warp_size=of.warp_size, max_threads_per_multi_processor=of.threads_per_multiprocessor,
        max_threads_per_block=of.threads_per_block, regs_per_multiprocessor=of.registers_per_multiprocessor,
        shared_memory_per_block=of.shared_per_block, shared_memory_per_block_optin=of.shared_per_block_optin,
        shared_memory_per_multiprocessor=of.shared_per_multiprocessor, L2_cache_size=of.l2_bytes,
        clock_rate=of.clock_khz, memory_clock_rate=of.memory_clock_khz, memory_bus_width=of.bus_bits,
    )  # fmt: skip
