"""Questions to the worker: how much memory it asks for, and how much of it profiling leaves for the KV cache.

Knows which functions of torch the worker reads the device through, and plays a device for them that goes through
three moments: the initial snapshot, just before the profile run, and after it. Does not add or subtract on the worker's
behalf: `request_memory`, `memory_profiling` and `Worker.determine_available_memory` are the engine's own.
"""

import contextlib
import functools
import gc
import os
from unittest import mock

import torch

from judge.parts import Part, nothing
from judge.planner import listening

_CHARGE = "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"


def request_memory(total, free, utilization):
    """`{"requested": bytes}`, a float before 0.14, or the engine's refusal when less is free."""
    gpu = Device(total=total, initial_free=free)
    with gpu.in_place():
        return {"requested": _initialized(gpu, Part(gpu_memory_utilization=utilization)).requested_memory}


def snapshot(total, free, available, integrated):
    """`{"total", "free"}` that the worker believes at its first look, of a driver that says these and a host that does.

    available    what the host could give away, as psutil tells it
    integrated   whether CUDA says that the device has no memory of its own; its capability is the room's
    """
    import psutil
    from vllm.platforms import current_platform

    gpu, (gpu_worker, worker_utils) = Device(total=total, initial_free=free), _engine()
    host = mock.patch.object(psutil, "virtual_memory", return_value=Part(available=available))
    shared = mock.patch.object(type(current_platform), "is_integrated_gpu", classmethod(lambda *_: integrated))
    with gpu.in_place(), host, shared:
        named = hasattr(worker_utils, "request_memory")  # 0.14
        found = gpu_worker.MemorySnapshot(**({"device": torch.device("cuda:0")} if named else {}))
    return {"total": found.total_memory, "free": found.free_memory}


def available_memory(
    *,
    utilization,
    weights,
    graph_estimate=0,
    charge_graphs=None,
    eager=False,
    kv_cache_memory_bytes=None,
    **scenario,
):
    """`{"available": bytes for the KV cache, "requested": bytes, "printed": [lines]}`, or the engine's refusal.

    utilization             --gpu-memory-utilization
    weights                 what loading the model allocated ("Model loading took"), as the runner reports it
    graph_estimate          what the runner's profile_cudagraph_memory returns
    charge_graphs           the environment flag that has the estimate subtracted; None leaves the release's default
    eager                   no CUDA graphs: --enforce-eager, cudagraph mode NONE
    kv_cache_memory_bytes   --kv-cache-memory-bytes

    The device, in bytes; see `Device`: total, initial_free, torch_before, torch_peak, torch_after, and optionally
    reserved_initial, reserved_after, nontorch_growth, graph_leftover, graph_peak.
    """
    gpu = Device(**scenario)
    cache = Part(gpu_memory_utilization=utilization, kv_cache_memory_bytes=kv_cache_memory_bytes)
    with gpu.in_place(), _flag(charge_graphs):
        worker = _initialized(gpu, cache)
        worker.model_runner = _runner(gpu, weights, graph_estimate)
        _configure(worker, eager=eager)
        gpu_worker, _ = _engine()
        # The configuration is only made current for the profile run, which is ours.
        alone = mock.patch.object(gpu_worker, "set_current_vllm_config", contextlib.nullcontext, create=True)
        with alone, listening(gpu_worker) as said:
            available = worker.determine_available_memory()
    return {"available": available, "requested": worker.requested_memory, "printed": said}


class Device:
    """What the driver and torch's allocator report, at three moments.

    total              memory of the device
    initial_free       free at the initial snapshot (after the communicators are set up)
    torch_before       allocated by torch just before the profile run: weights and the runner's buffers
    torch_peak         the most that torch had allocated during the profile run
    torch_after        allocated by torch after it, garbage collected
    reserved_initial   reserved by torch at the initial snapshot
    reserved_after     reserved by torch after the profile run and the emptying of its cache (default: torch_after)
    nontorch_growth    how much the memory that is not torch's grew from the snapshot to the end of the profile run;
                       negative when another process gave memory back
    graph_leftover     memory that is not torch's and stays behind when graphs are profiled
    graph_peak         the most that torch had allocated while graphs were profiled

    Free memory follows: what was free, less the growth of reserved and of other memory.
    """

    def __init__(  # noqa: PLR0913 - a scenario has that many numbers
        self,
        *,
        total,
        initial_free,
        torch_before=0,
        torch_peak=0,
        torch_after=0,
        reserved_initial=0,
        reserved_after=None,
        nontorch_growth=0,
        graph_leftover=0,
        graph_peak=0,
    ):
        self.total, self.free = total, initial_free
        self.reserved, self.allocated, self.peak = reserved_initial, 0, 0
        self._before, self._peak, self._after = torch_before, torch_peak, torch_after
        self._reserved_after = torch_after if reserved_after is None else reserved_after
        self._nontorch_growth = nontorch_growth
        self._graph_leftover, self._graph_peak = graph_leftover, graph_peak

    def load(self, *_args, **_kwargs):
        """The model has been loaded."""
        self._reserve(max(self.reserved, self._before))
        self.allocated = self._before
        self.peak = max(self.peak, self.allocated)

    def profile(self, *_args, **_kwargs):
        """The profile run has been made and its garbage collected."""
        self.peak = max(self.peak, self._peak)
        self.allocated = self._after
        self._reserve(self._reserved_after)
        self.free -= self._nontorch_growth

    def profile_graphs(self):
        """Graphs have been captured for measurement and thrown away."""
        self.peak = max(self.peak, self._graph_peak)
        self.free -= self._graph_leftover

    def _reserve(self, size):
        self.free -= size - self.reserved
        self.reserved = size

    def _reset_peak(self, *_args):
        self.peak = self.allocated

    def _stats(self, *_args):
        return {"allocated_bytes.all.peak": self.peak, "allocated_bytes.all.current": self.allocated}

    @contextlib.contextmanager
    def in_place(self):
        """Answer for torch.cuda and torch.accelerator."""
        reads = {
            "mem_get_info": lambda *_: (self.free, self.total),
            "get_memory_info": lambda *_: (self.free, self.total),
            "memory_stats": self._stats,
            "memory_reserved": lambda *_: self.reserved,
            "memory_allocated": lambda *_: self.allocated,
            "max_memory_allocated": lambda *_: self.peak,
            "reset_peak_memory_stats": self._reset_peak,
            "empty_cache": nothing,
            "synchronize": nothing,
            "set_device": nothing,
        }
        with contextlib.ExitStack() as patches:
            for module in (torch.cuda, torch.accelerator):
                for name, answer in reads.items():
                    if hasattr(module, name):
                        patches.enter_context(mock.patch.object(module, name, answer))
            yield


@functools.cache
def _engine():
    """The worker's modules, imported once per room."""
    from vllm.v1.worker import gpu_worker
    from vllm.v1.worker import utils as worker_utils

    # The worker collects garbage at every turn; with half a million imported objects that takes a third of a second.
    gc.collect()
    gc.freeze()
    return gpu_worker, worker_utils


def _initialized(gpu, cache):
    """A worker as `init_device` leaves it: with its snapshot and the memory it asks for."""
    gpu_worker, worker_utils = _engine()
    worker = gpu_worker.Worker.__new__(gpu_worker.Worker)
    worker.cache_config = cache
    worker.device = torch.device("cuda:0")
    if hasattr(worker_utils, "request_memory"):  # 0.14
        worker.init_snapshot = gpu_worker.MemorySnapshot(device=worker.device)
        worker.requested_memory = worker_utils.request_memory(worker.init_snapshot, cache)
    else:
        _run_init_device(gpu_worker, worker)
    gpu.load()
    return worker


def _run_init_device(gpu_worker, worker):
    """The arithmetic stands in the middle of `init_device`, so all of it runs, with its edges faked."""
    worker.device_config = Part(device=torch.device("cuda:0"), device_type="cuda")
    worker.model_config = Part(dtype=torch.bfloat16, seed=0)
    worker.parallel_config = Part(
        distributed_executor_backend="ray", data_parallel_size=1, tensor_parallel_size=1, pipeline_parallel_size=1
    )
    worker.vllm_config = Part(parallel_config=Part(enable_dbo=False))
    worker.local_rank, worker.rank, worker.distributed_init_method = 0, 1, ""
    worker.use_v2_model_runner = False
    edges = ("init_worker_distributed_environment", "set_random_seed", "GPUModelRunner", "init_workspace_manager")
    with contextlib.ExitStack() as patches:
        for name in edges:
            if hasattr(gpu_worker, name):
                patches.enter_context(mock.patch.object(gpu_worker, name, nothing))
        worker.init_device()


def _runner(gpu, weights, graph_estimate):
    def profile_cudagraph_memory():
        gpu.profile_graphs()
        return graph_estimate

    return Part(
        model_memory_usage=weights,
        profile_run=gpu.profile,
        profile_cudagraph_memory=profile_cudagraph_memory,
    )


def _configure(worker, *, eager):
    from vllm.config import CUDAGraphMode

    mode = CUDAGraphMode.NONE if eager else CUDAGraphMode.FULL_AND_PIECEWISE
    worker.model_config = Part(enforce_eager=eager, multimodal_config=None)
    worker.parallel_config = Part(world_size=1, data_parallel_size=1)
    worker.vllm_config = Part(compilation_config=Part(cudagraph_mode=mode))
    worker._scoped_allocator_max_split = lambda **_: contextlib.nullcontext()


def _flag(charge_graphs):
    if charge_graphs is None:
        return mock.patch.dict(os.environ)
    return mock.patch.dict(os.environ, {_CHARGE: str(int(charge_graphs))})
