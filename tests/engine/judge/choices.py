"""Two choices that the engine makes for every start, asked by themselves so that thousands of cases cost seconds.

Knows which method makes each choice and what it reads. The whole configuration (`judge.defaults`) makes the same two
choices among a hundred others; a test holds one against the other.
"""

from judge.parts import Part, nothing


def warm_up():
    """Nothing beyond the imports of the questions themselves."""


def captures(sequences, tokens, speculative=0, largest=None, sizes=None):
    """The batch sizes that `VllmConfig._set_cudagraph_sizes` arrives at, rising."""
    from vllm.config import CUDAGraphMode, VllmConfig

    compilation = Part(
        cudagraph_mode=CUDAGraphMode.FULL_AND_PIECEWISE,
        max_cudagraph_capture_size=largest,
        cudagraph_capture_sizes=sizes,
        pass_config=Part(enable_sp=False, enable_sequence_parallelism=False),
        post_init_cudagraph_sizes=nothing,
        init_with_cudagraph_sizes=lambda found: setattr(compilation, "cudagraph_capture_sizes", found),
    )
    speculation = Part(num_speculative_tokens=speculative, uses_dynamic_speculative_decoding=lambda: False)
    config = VllmConfig.__new__(VllmConfig)
    for name, value in {
        "model_config": Part(enforce_eager=False),
        "compilation_config": compilation,
        "scheduler_config": _scheduler(sequences, tokens),
        "parallel_config": Part(tensor_parallel_size=1),
        "speculative_config": speculation if speculative else None,
        "diffusion_config": None,
        "performance_mode": "balanced",
    }.items():
        object.__setattr__(config, name, value)
    config._set_cudagraph_sizes()
    return sorted(compilation.cudagraph_capture_sizes)


def _scheduler(sequences, tokens):
    from vllm.config import SchedulerConfig

    if "cuda_graph_sizes" not in SchedulerConfig.__dataclass_fields__:
        return Part(max_num_seqs=sequences, max_num_batched_tokens=tokens)
    # Before 0.11.1 the scheduler's own configuration chooses the largest size.
    return SchedulerConfig(max_num_seqs=sequences, max_num_batched_tokens=max(tokens, sequences), max_model_len=1)


def batch(sequences, tokens, context_tokens, usage="server"):
    """`[max_num_seqs, max_num_batched_tokens]` as `EngineArgs` sets what is not given."""
    from vllm.engine.arg_utils import EngineArgs
    from vllm.usage.usage_lib import UsageContext

    given = EngineArgs.__new__(EngineArgs)  # its own beginning looks for the model
    given.max_num_seqs, given.max_num_batched_tokens = sequences, tokens
    given.enable_chunked_prefill = given.enable_prefix_caching = True
    context = UsageContext.OPENAI_API_SERVER if usage == "server" else UsageContext.LLM_CLASS
    model = Part(max_model_len=context_tokens, runner_type="generate", is_multimodal_model=False, is_moe=False)
    choose = getattr(given, "_set_default_max_num_seqs_and_batched_tokens_args", None)
    if choose is None:  # before 0.12 it stands among other defaults
        choose = given._set_default_args
    wanted = choose.__code__.co_varnames[1 : choose.__code__.co_argcount]
    known = {"usage_context": context, "model_config": model, "parallel_config": Part(use_batched_dp_moe=False)}
    choose(*(known[name] for name in wanted))
    return [given.max_num_seqs, given.max_num_batched_tokens]
