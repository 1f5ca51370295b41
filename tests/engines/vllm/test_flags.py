import re

import pytest

from oomph.engines.history import Release, release
from oomph.engines.vllm.flags.find import FLAGS, find
from oomph.engines.vllm.flags.flag import Kind
from oomph.engines.vllm.flags.gone import GONE, NEVER
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownFlag


@pytest.mark.parametrize(
    ("written", "text", "key"),
    [
        ("--max-num-seqs", "0.6.0", "max_num_seqs"),
        ("--max_num_seqs", "0.32.0", "max_num_seqs"),
        ("-tp", "0.19.1", "tensor_parallel_size"),
        ("-O", "0.11.2", "compilation_config"),
        ("-cc", "0.12.0", "compilation_config"),
        ("--kv-cache-memory", "0.19.1", "kv_cache_memory_bytes"),  # cut short, as vLLM's own log prints it
        ("--no-enable-prefix-caching", "0.19.1", "enable_prefix_caching"),
        ("--device-memory-utilization", "0.31.0", "gpu_memory_utilization"),
    ],
)
def test_a_flag_is_found_by_every_name_that_its_release_takes(written: str, text: str, key: str) -> None:
    assert find(written, release(text)).key == key


@pytest.mark.parametrize(
    ("written", "text", "why"),
    [
        ("--swap-space", "0.18.0", "it was removed in 0.18.0; blocks are no longer swapped to the host"),
        ("--cuda-graph-sizes", "0.19.1", "it was removed in 0.13.0; use --cudagraph-capture-sizes"),
        ("--preemption-mode", "0.32.0", "it was removed in 0.11.0; requests that must wait are always computed again"),
        ("--num-scheduler-steps", "0.10.1", "it was removed in 0.10.1; steps are no longer bundled"),
        ("--max-seq-len-to-capture", "0.11.0", "graphs are captured by batch size, at any length"),
        ("--num-speculative-tokens", "0.8.3", "it was removed in 0.8.3: use --speculative-config"),
        ("--kv-cache-memory-bytes", "0.10.1", "it came with 0.10.2"),
        ("-O", "0.12.0", "it was removed in 0.12.0: use --compilation-config"),
        ("-cc", "0.11.2", "it came with 0.12.0"),
        ("--max-num-on-the-fly-batches", "0.19.1", "no release of vLLM has --max-num-on-the-fly-batches: batches"),
        ("--mem-fraction-static", "0.19.1", "SGLang's name; in vLLM it is --gpu-memory-utilization"),
        ("--max-modellen", "0.19.1", "did you mean --max-model-len?"),
        ("--qqqqqqqqqqqqq", "0.19.1", "no release of vLLM has --qqqqqqqqqqqqq"),
    ],
)
def test_what_a_release_does_not_take_is_refused_with_what_to_write(written: str, text: str, why: str) -> None:
    with pytest.raises(UnknownFlag, match=re.escape(why)):
        find(written, release(text))


def test_a_name_cut_so_short_that_two_flags_begin_with_it_is_refused() -> None:
    with pytest.raises(UnknownFlag, match="--max-num could be any of --max-num-batched-tokens, --max-num-partial"):
        find("--max-num", release("0.19.1"))


@pytest.mark.parametrize("known", HISTORY.releases, ids=str)
def test_no_name_means_two_flags_in_one_release(known: Release) -> None:
    names = [name for flag in FLAGS for name in flag.names(known)]

    assert len(names) == len(set(names)) > 100


def test_a_successor_exists_in_the_first_release_that_needs_it() -> None:
    gone = [flag for flag in FLAGS if flag.now is not None]

    assert len(gone) > 20
    for flag in gone:
        assert flag.span.until is not None, flag.name
        assert find(flag.now or "", flag.span.until).name == flag.now


def test_every_flag_that_is_gone_says_what_to_do_and_names_only_flags_of_today() -> None:
    silent = {flag.name for flag in FLAGS if flag.span.until is not None and not flag.now} - set(GONE)
    named = {meant for said in (*GONE.values(), *NEVER.values()) for meant in re.findall(r"--?[a-z][a-z-]+", said)}
    today = {name for flag in FLAGS for name in flag.names(release("0.32.0"))}

    assert silent == set()
    assert len(named) > 15
    assert {name for name in named if name.startswith("--") and name not in today} == set()


def test_no_flag_that_exists_is_said_to_have_never_existed() -> None:
    assert {name for flag in FLAGS for name in (flag.name, *flag.short)} & set(NEVER) == set()


def test_memory_flags_take_what_vllm_says_they_take() -> None:
    kinds = {name: find(name, release("0.32.0")).kind for name in ("--max-model-len", "--gpu-memory-utilization")}

    assert kinds == {"--max-model-len": Kind.HUMAN, "--gpu-memory-utilization": Kind.FRACTION}
