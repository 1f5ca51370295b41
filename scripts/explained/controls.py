"""Logs that look like an out-of-memory failure of the engine and are none, or are one of another kind.

Each is our own rendition of what such a log says, with what may be made of it.
"""

from dataclasses import dataclass
from typing import Final

from explained.asking import case_from
from explained.given import Given
from oomph.diagnose.explain import Outcome, explain, outcome

_NONE: Final = frozenset({Outcome.NO_MEMORY_FAILURE})
_DOUBT: Final = frozenset({Outcome.NO_MEMORY_FAILURE, Outcome.UNSURE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One log, and what is right."""

    name: str
    log: str
    outcomes: frozenset[Outcome] = _NONE
    causes: frozenset[str] = frozenset()  # that are right, too, with any outcome

    @property
    def made(self) -> str:
        """What was made of it, in words."""
        case = case_from(self.log, Given())
        findings = explain(case)
        cause = findings[0].cause if findings else None
        return f"{outcome(case, findings)} {cause or '-'}"

    @property
    def right(self) -> bool:
        """Whether that may be."""
        said, _, cause = self.made.partition(" ")
        return said in self.outcomes or cause in self.causes


_HEALTHY: Final = """\
(APIServer pid=1) INFO 05-02 09:00:01 [api_server.py:1200] vLLM API server version 0.19.1
(EngineCore pid=9) INFO 05-02 09:00:30 [gpu_model_runner.py:4820] Model loading took 14.99 GiB memory and 8.12 seconds
(EngineCore pid=9) INFO 05-02 09:01:00 [gpu_worker.py:436] Available KV cache memory: 51.20 GiB
(EngineCore pid=9) INFO 05-02 09:01:00 [kv_cache_utils.py:1319] GPU KV cache size: 419,424 tokens
(EngineCore pid=9) INFO 05-02 09:01:20 [gpu_model_runner.py:5100] Graph capturing finished in 12 secs, took 0.61 GiB
(EngineCore pid=9) INFO 05-02 09:01:21 [core.py:283] init engine (profile, create kv cache, warmup model) took 48.11 s
(APIServer pid=1) INFO:     Application startup complete.
"""

CONTROLS: Final = (
    Control(name="a healthy start-up", log=_HEALTHY),
    Control(
        name="preemption, which is how a full pool is meant to behave",
        log=_HEALTHY
        + "WARNING 05-02 10:00:00 scheduler.py:1754] Sequence group cmpl-7 is preempted by PreemptionMode.RECOMPUTE "
        "mode because there is not enough KV cache space.\n",
    ),
    Control(
        name="a request whose prompt speaks of running out",
        log=_HEALTHY + "INFO 05-02 10:00:00 [logger.py:43] Received request chatcmpl-1: prompt: 'why do I get "
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB?', params: SamplingParams(n=1)\n",
        outcomes=_DOUBT,
    ),
    Control(
        name="a kernel that crashed",
        log=_HEALTHY + "(EngineCore pid=9) ERROR 05-02 10:00:00 [core.py:1108] EngineCore encountered a fatal error.\n"
        '(EngineCore pid=9) ERROR 05-02 10:00:00 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", '
        "line 3000, in execute_model\n"
        "(EngineCore pid=9) ERROR 05-02 10:00:00 [core.py:1108] torch.AcceleratorError: CUDA error: "
        "unspecified launch failure\n",
    ),
    Control(
        name="a model that is not there",
        log="OSError: You are trying to access a gated repo. 401 Client Error. Cannot access gated repo for url\n",
    ),
    Control(
        name="a length that the model does not have",
        log="ValueError: User-specified max_model_len (262144) is greater than the derived max_model_len "
        "(max_position_embeddings=131072.0 or model_max_length=None in model's config.json).\n",
    ),
    Control(
        name="an exit code and nothing else",
        log=_HEALTHY + "container vllm exited with code 137\n",
        outcomes=_DOUBT,
    ),
    Control(
        name="a peer that lost its partner",
        log="(Worker_TP1 pid=7) ERROR 05-02 10:00:00 [multiproc_executor.py:900] RuntimeError: NCCL error: remote "
        "process exited or there was a network error\n",
        outcomes=_DOUBT,
    ),
    Control(
        name="an assertion that a wrapper calls out of memory",
        log="AssertionError: Expandable segments are not compatible with memory pool. Please track "
        "https://github.com/pytorch/pytorch/issues/147851 for the latest updates.\n"
        "MemoryError: Your GPU ran out of memory loading vLLM with 180.00 GB free: lower gpu_memory_utilization\n",
        causes=frozenset({"expandable_segments_incompatible"}),
    ),
    Control(
        name="an allocator setting that breaks collectives",
        log="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
        '(Worker_TP1 pid=7) ERROR   File "/vllm/distributed/device_communicators/custom_all_reduce.py", line 212, '
        "in register_graph_buffers\n"
        "(Worker_TP1 pid=7) ERROR RuntimeError: CUDA error: invalid argument at /csrc/custom_all_reduce.cuh:455\n",
        causes=frozenset({"expandable_segments_incompatible"}),
    ),
    Control(
        name="llama.cpp, which tried again with less and is up",
        log="E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 51748.72 MiB on device 1: cudaMalloc failed: "
        "out of memory\n"
        "E ggml_gallocr_reserve_n_impl: failed to allocate CUDA1 buffer of size 54262464512\n"
        "W sched_reserve: failed to reserve with pipeline parallelism, retrying without pipeline parallelism\n"
        "I sched_reserve: CUDA1 compute buffer size = 1208.02 MiB\n"
        "I main: server is listening on http://127.0.0.1:8080 - starting the main loop\n",
    ),
    Control(
        name="SGLang's pool of tokens, which is no memory",
        log="[2025-04-05 10:00:00 TP0] Prefill out of memory. Try to lower your batch size.\n"
        "Try to allocate 8192 tokens.\nAvailable tokens: 8064\n",
        causes=frozenset({"sglang_memory_pool"}),
    ),
    Control(
        name="a smaller pool after an upgrade, and no crash",
        log=_HEALTHY.replace("0.19.1", "0.22.0")
        + "(EngineCore pid=9) INFO 05-02 09:01:21 [gpu_worker.py:700] CUDA graph pool memory: 0.61 GiB (actual), "
        "9.80 GiB (estimated), difference: 9.19 GiB (93.8%).\n",
        causes=frozenset({"cudagraph_estimate_overcharge"}),
    ),
    Control(
        name="a full /dev/shm, which is the host's",
        log="RuntimeError: unable to write to file </torch_7_123_0>: No space left on device (28)\n"
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory "
        "(shm).\n",
        causes=frozenset({"host_shm_exhausted"}),
    ),
)
