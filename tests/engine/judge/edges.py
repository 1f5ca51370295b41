"""What a model asks of the device while it is built: streams, events, and tensors placed on it by name.

Knows how to answer without a device: streams do nothing, and a tensor for the GPU goes where the whole model goes, to
torch's meta device. Does not change any shape.
"""

import contextlib
import importlib
import sys
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from judge import fakes
from judge.parts import nothing


class Idle:
    """A stream or an event that nothing waits for."""

    def __init__(self, *_args, **_kwargs):
        self.cuda_stream = 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_kwargs: None


class OnMeta(TorchFunctionMode):
    """Every tensor that is made for the GPU by name is made on the meta device."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if _is_gpu(kwargs.get("device")):
            kwargs["device"] = "meta"
        if function in {torch.Tensor.to, torch.Tensor.cuda}:
            args = (args[0], *("meta" if _is_gpu(each) else each for each in args[1:]))
            function = torch.Tensor.to
            args = args if len(args) > 1 or kwargs else (*args, "meta")
        return function(*args, **kwargs)


def _is_gpu(device):
    return isinstance(device, str | torch.device) and str(device).startswith("cuda")


@contextlib.contextmanager
def without_device():
    """While this lasts, a model can be built that would touch the GPU."""
    names = ("Stream", "Event", "current_stream", "default_stream", "ExternalStream")
    with contextlib.ExitStack() as patches:
        for module in (torch.cuda, torch):
            for name in names:
                if hasattr(module, name):
                    patches.enter_context(mock.patch.object(module, name, Idle))
        patches.enter_context(mock.patch.object(torch.cuda, "current_device", return_value=0))
        if hasattr(torch, "accelerator"):
            patches.enter_context(mock.patch.object(torch.accelerator, "empty_cache", nothing, create=True))
        patches.enter_context(mock.patch.object(sys, "meta_path", [*sys.meta_path, fakes.Submodules]))
        patches.enter_context(OnMeta())
        for module, divide in _divides_experts():
            patches.enter_context(mock.patch.object(module, "determine_expert_map", _on_cpu(divide)))
        _scratch_on_meta()
        yield


def _divides_experts():
    """Where a release divides experts between ranks; the map is read while the model is built, so it must be real."""
    for name in ("expert_map_manager", "layer"):
        try:
            module = importlib.import_module(f"vllm.model_executor.layers.fused_moe.{name}")
        except ImportError:
            continue
        if hasattr(module, "determine_expert_map"):
            yield module, module.determine_expert_map


def _on_cpu(function):
    def wrapper(*args, **kwargs):
        with torch.device("cpu"):
            return function(*args, **kwargs)

    return wrapper


def _scratch_on_meta():
    """Give the engine the scratch memory that its runner would make before the model; sparse attention asks for it."""
    try:
        from vllm.v1.worker import workspace
    except ImportError:  # before 0.13
        return
    if not workspace.is_workspace_manager_initialized():
        workspace.init_workspace_manager(torch.device("meta"))
