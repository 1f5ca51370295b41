import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import release
from oomph.engines.vllm.formulas.batches import Usage
from oomph.errors import OomphError, UsageError
from oomph.ledger.settings import Value
from oomph.readers.command_line import read_command
from oomph.readers.python_call import read_call

R0191 = release("0.19.1")


def test_a_call_gives_the_same_flags_as_the_command() -> None:
    call = read_command(['LLM("org/m", tensor_parallel_size=2, max_model_len=8192, enforce_eager=True)'], R0191)
    line = read_command(["vllm serve org/m -tp 2 --max-model-len 8192 --enforce-eager"], R0191)

    assert (call.model, dict(call.flags)) == (line.model, dict(line.flags))
    assert (call.usage, line.usage) == (Usage.OFFLINE, Usage.SERVER)


@pytest.mark.parametrize(
    ("argument", "key", "value"),
    [
        ("max_model_len=32 * 1024", "max_model_len", 32_768),
        ("gpu_memory_utilization=.9", "gpu_memory_utilization", 0.9),
        ("dtype=torch.float16", "dtype", "float16"),
        ("enable_prefix_caching=False", "enable_prefix_caching", False),
        ("cudagraph_capture_sizes=[1, 2, 4]", "cudagraph_capture_sizes", (1, 2, 4)),
        ('speculative_config={"method": "mtp", "n": 2}', "speculative_config", '{"method": "mtp", "n": 2}'),
        (
            'limit_mm_per_prompt={"image": 2, "x": [True, None]}',
            "limit_mm_per_prompt",
            '{"image": 2, "x": [true, null]}',
        ),
        ("compilation_config=3", "compilation_config", "3"),
        ("**{'max_num_seqs': 4}", "max_num_seqs", 4),
        ("max_model_len=-1", "max_model_len", -1),
    ],
)
def test_literals_are_read_as_python_would(argument: str, key: str, value: Value) -> None:
    command = read_command([f"llm = LLM(model='org/m', {argument})"], R0191)

    assert (command.model, dict(command.flags)) == ("org/m", {key: value})


def test_a_pasted_program_explains_its_own_names() -> None:
    command = read_command(
        [
            """
            >>> import os
            >>> from vllm import LLM, SamplingParams
            >>> os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
            >>> os.environ["HF_TOKEN"] = "hf_x"
            >>> name = "org/m"
            >>> rest = dict(a=1)
            >>> llm = LLM(
            ...     model=name,
            ...     gpu_memory_utilization=0.85,  # start here
            ...     max_num_seqs=16,
            ... )
            """.replace("            ", "")
        ],
        R0191,
    )

    assert command.model == "org/m"
    assert dict(command.flags) == {
        "gpu_memory_utilization": 0.85,
        "max_num_seqs": 16,
        "CUDA_VISIBLE_DEVICES": "0,1",
    }
    assert command.gpus == 2


@pytest.mark.parametrize(
    "text",
    [
        "engine = AsyncLLMEngine.from_engine_args(AsyncEngineArgs(model='org/m', max_num_seqs=4))",
        "Then we write: LLM(model='org/m', max_num_seqs=4) and it fails.",
        "INFO 07-01 [utils.py:326] non-default args: {'model': 'org/m', 'max_num_seqs': 4}",
        "{'model_tag': 'org/m', 'model': 'org/m', 'max_num_seqs': 4, ...}",
        (
            "Namespace(subparser='serve', model_tag='org/m', config='', model='org/m', max_num_seqs=4, "
            "kv_transfer_config=None, dispatch_function=<function serve at 0x7f53e8e1dd80>)"
        ),
        "LLM('org/m',max_num_seqs=4)",
    ],
)
def test_the_arguments_are_found_in_what_stands_around_them(text: str) -> None:
    command = read_command([text], R0191)

    assert (command.model, dict(command.flags)) == ("org/m", {"max_num_seqs": 4})


def test_what_vllm_prints_of_its_own_kinds_is_read_or_left_out_with_a_note() -> None:
    text = (
        "{'model': 'org/m', 'dtype': torch.bfloat16, 'pooler_config': PoolerConfig(pooling_type='LAST'), "
        "'compilation_config': {'cudagraph_mode': <CUDAGraphMode.FULL: (2, 1)>, 'use': null, 'on': true}}"
    )
    command = read_command([text], R0191)

    assert dict(command.flags) == {
        "dtype": "bfloat16",
        "compilation_config": '{"cudagraph_mode": "FULL", "use": null, "on": true}',
    }
    assert command.notes == (
        "pooler_config=PoolerConfig(pooling_type='LAST') was left out: its value is not in the text",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("LLM(model=model_path)", "model=model_path: what that holds is not known here (write the value)"),
        ("LLM('m', max_model_len=int(x))", "max_model_len=int(x): what that holds is not known here"),
        ("LLM('m', **options)", "**options holds arguments that cannot be seen"),
        ("LLM('m', max_modellen=4)", "did you mean --max-model-len?"),
        ("LLM('m', tensor_parallel=2)", "did you mean tensor_parallel_size?"),
        ("LLM('m', swap_space=4)", "vLLM 0.19.1 has no --swap-space: it was removed in 0.18.0"),
        ("LLM('m', max_num_seqs=True)", "max_num_seqs=True: vLLM takes a whole number here"),
        ("LLM('m', gpu_memory_utilization=1.5)", "above 0 and at most 1"),
        ("LLM('m', max_model_len=10 ** 9)", "max_model_len=10 ** 9: what that holds is not known here"),
        ("LLM(model='m', 4 5)", "this looks like Python but cannot be read as such"),
        ("{'model': 'm', 'max_num_seqs': ...}", "max_num_seqs=...: what that holds is not known here"),
    ],
)
def test_what_only_running_it_would_tell_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_command([text], R0191)

    assert why in str(refused.value)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(UsageError):
        read_command(["LLM('m', max_num_seqs=" + "-" * 50_000 + "1)"], R0191)


@given(st.text(st.sampled_from("LM(){}[]'\"=,:*.-+ \n\\1axNone")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        outcome: object = read_call(f"LLM({text}", notes=[])
    except OomphError as refused:
        outcome = str(refused)

    assert outcome
