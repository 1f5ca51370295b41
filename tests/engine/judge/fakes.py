"""Makes one release of vLLM importable here as if on a machine with an NVIDIA GPU.

Knows which compiled modules are missing from a bare source tree and how vLLM finds its platform. Does not know any
question. No device is chosen here: whoever asks about one does so in a process of its own (`judge.rooms`), and a parent
that asks by accident fails, so that no import can freeze an answer of the wrong device.
"""

import importlib.machinery
import os
import sys
import tempfile
import types

from judge.parts import Part

_COMPILED = (
    "vllm._C",
    "vllm._C_stable_libtorch",
    "vllm._moe_C",
    "vllm._flashmla_C",
    "vllm._flashmla_extension_C",
    "vllm._flashkda_C",
    "vllm.cumem_allocator",
    "vllm.third_party.flashmla.flash_mla_interface",
    "deep_gemm",
    "vllm.vllm_flash_attn",
    "vllm.vllm_flash_attn.flash_attn_interface",
    "vllm.vllm_flash_attn.layers",
    "vllm.vllm_flash_attn.layers.rotary",
    "vllm.vllm_flash_attn.ops",
    "vllm.vllm_flash_attn.ops.triton",
    "vllm.vllm_flash_attn.ops.triton.rotary",
)


# Libraries in which kernels are written in Python: their names decorate and annotate while a module is imported.
_WRITING = ("cutlass", "cuda", "quack", "tilelang", "vllm.vllm_flash_attn.cute")


# A library of kernels that 0.21 to 0.23 import on every CUDA machine; later releases ask first whether it is there.
_HUMMING = ("", ".config", ".dtypes", ".layer", ".schema", ".utils", ".utils.weight")


class Anything:
    """Stands for whatever is imported from a compiled module; may be passed about but not called."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *_args, **_kwargs):
        message = f"a compiled function was called: {self.__name__}"
        raise RuntimeError(message)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __or__(self, _other):  # as in the annotation `Anything | None`
        return self

    __ror__ = __or__


class Harmless(Anything):
    """Stands for a name of a kernel language: leaves what it decorates as it is, and is its own answer otherwise."""

    def __call__(self, *args, **_kwargs):
        return args[0] if len(args) == 1 and isinstance(args[0], type | types.FunctionType) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Harmless(name)

    def __getitem__(self, _key):  # as in the annotation `Harmless[int]`
        return self

    def __mro_entries__(self, _bases):  # as a base class
        return ()


class Submodules:
    """Finds every module of the libraries in which kernels are written.

    Only while a model is built: other libraries look for `cuda` too, and would talk to it.
    """

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        """A spec for what belongs to those libraries, None for all else."""
        if any(f"{name}.".startswith(f"{root}.") for root in _WRITING):
            return importlib.machinery.ModuleSpec(name, Submodules, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        """A module that has every name."""
        return CompiledModule(spec.name, Harmless)

    @staticmethod
    def exec_module(_module):
        """Nothing is to be run."""


class CompiledModule(types.ModuleType):
    """A module that has every name."""

    __path__ = ()

    def __init__(self, name, of=Anything):
        super().__init__(name)
        self._of = of
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        known = {
            "is_fa_version_supported": lambda version, *_a, **_k: version == 2,  # FlashAttention 2
            "fa_version_unsupported_reason": lambda *_a, **_k: None,
        }
        return known.get(name) or self._of(name)


def install(release: str) -> None:
    """Put the fakes in place and import the planner of this release."""
    cache = tempfile.mkdtemp(prefix=f"oomph-vllm-{release}-")
    os.environ["VLLM_CACHE_ROOT"] = os.environ["VLLM_CONFIG_ROOT"] = cache
    for name in _COMPILED:
        sys.modules[name] = CompiledModule(name)
    sys.modules["cutlass"] = CompiledModule("cutlass", Harmless)
    import torch
    import vllm

    from judge import ops

    torch.set_num_threads(1)
    ops.install()
    vllm.__version__ = release
    _choose_platform()
    _pretend_triton()


def _pretend_triton():
    """Complete the placeholder that vLLM brings for Triton where it is absent."""
    import vllm.triton_utils

    vllm.triton_utils.triton.Config = Tuning


class Tuning:
    """A tuning of a Triton kernel; some modules sort them while they are imported."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, **_more):
        self.kwargs, self.num_warps, self.num_stages = kwargs, num_warps, num_stages


def prepare_configuration():
    """Import what builds a configuration, and let it be built in this process alone.

    vLLM looks at a model's class in a process of its own and remembers what it saw on disk; that process would not be
    faked, and the memory would be of another device.
    """
    import psutil
    import torch
    import vllm.engine.arg_utils  # noqa: F401 - for the import alone
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda look: look()
    lazy = registry._LazyRegisteredModel
    for name in ("_load_modelinfo_from_cache", "_save_modelinfo_to_cache"):
        if hasattr(lazy, name):
            setattr(lazy, name, lambda *_args: None)
    torch.cuda.Stream = Stream
    _stub_humming()
    chooser = sys.modules.get("vllm.config.vllm")
    if hasattr(chooser, "HAS_TRITON"):  # 0.22: as on every GPU machine; the V2 runner is chosen by it
        chooser.HAS_TRITON = True
    torch.cuda.device_count = lambda: 8
    psutil.virtual_memory = lambda: Part(total=2**40, available=2**40)  # this machine's memory must not decide


class Stream:
    """A CUDA stream that nothing runs on; some layers make one for later."""

    def __init__(self, *_args, **_kwargs):
        """Take what a stream takes."""


def _stub_humming():
    import vllm.utils

    if not hasattr(getattr(vllm.utils, "import_utils", None), "has_humming"):
        for name in _HUMMING:
            sys.modules[f"humming{name}"] = CompiledModule(f"humming{name}")


def _choose_platform():
    from vllm import platforms

    platforms._current_platform = _platform_class()()


def _platform_class():
    import torch
    from vllm.platforms import cuda

    from judge import device

    class FakedCuda(cuda.CudaPlatformBase):
        """The engine's own CUDA platform with its questions to the driver answered by `judge.device`."""

        get_device_capability = classmethod(lambda _cls, *_which, **_named: device.capability())
        get_device_name = classmethod(lambda _cls, *_which, **_named: device.chosen().name)
        get_device_uuid = classmethod(lambda _cls, *_which, **_named: "GPU-faked")
        get_device_total_memory = classmethod(lambda _cls, *_which, **_named: device.chosen().total)
        num_compute_units = classmethod(lambda _cls, *_which, **_named: device.chosen().sms)
        device_count = classmethod(lambda _cls: 8)
        is_fully_connected = classmethod(lambda _cls, _ids: False)
        is_integrated_gpu = classmethod(lambda _cls, *_which, **_named: False)
        set_device = classmethod(lambda _cls, _device: None)
        log_warnings = classmethod(lambda _cls: None)
        import_kernels = classmethod(lambda _cls: None)
        current_device = classmethod(lambda _cls: torch.device("meta"))

    return FakedCuda
