"""Start-ups as vLLM tells them, rendered from its own sentences and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vllm.test_lines import FIGURES
from oomph.engines.history import Release
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.hearing import HINTS, MEANS, heard
from oomph.engines.vllm.lines import SENTENCES, spoken
from oomph.engines.vllm.notation import NOTATIONS
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.speaker import message, place, speaker
from oomph.engines.vllm.transcript import transcript
from oomph.ledger.observation import Observation, Quantity
from oomph.units import GIB, MIB, Bounds

OVERFLOW = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried} GiB. GPU 0 has a total capacity of"


def read(*lines: str) -> tuple[Observation, ...]:
    return transcript(enumerate(lines, start=1))


def alone(*lines: str) -> Observation:
    (only,) = read(*lines)
    return only


def value(observation: Observation, quantity: Quantity) -> object:
    reading = observation.reading(quantity)
    return None if reading is None else reading.value


def kinds(sentence: Sentence) -> dict[str, str]:
    return {name: next(key for key, known in NOTATIONS.items() if known is gap) for name, gap in sentence.gaps.items()}


@given(st.sampled_from(SENTENCES), st.sampled_from(["named", "not named"]), st.data())
def test_every_sentence_of_every_release_is_heard_and_its_quantities_noted(
    sentence: Sentence, release: str, data: st.DataObject
) -> None:
    figures = {name: data.draw(FIGURES[kind], label=name) for name, kind in kinds(sentence).items()}
    prefix = "(Worker_TP1 pid=7) INFO 11-15 01:02:03 [gpu_worker.py:1] "
    banner = f"vLLM API server version {sentence.span.since}" if release == "named" else "a line"
    more = "…" if sentence.template.endswith(" ") else ""
    told = alone(banner, prefix + sentence.write(**figures) + more)

    assert sentence.name in {line.name for line in told.lines}
    for gap, quantity in MEANS.get(sentence.name, {}).items():
        if gap in figures:
            noted = told.ranks["Worker_TP1"][quantity]
            assert noted.line == 2
            assert figures[gap] in noted.value if isinstance(noted.value, Bounds) else noted.value == figures[gap]


@pytest.mark.parametrize("known", HISTORY.releases, ids=str)
def test_the_figures_of_a_release_are_read_exactly_whether_it_is_named_or_not(known: Release) -> None:
    truth = {
        name: (index + 1) * 987_654_321 for index, name in enumerate(("size", "free", "total", "budget", "needed"))
    }
    truth |= {"weights": 5 * GIB + 1, "non_torch": 77 * MIB, "activations": GIB // 3, "graphs": 31, "consumed": 6 * GIB}
    said = [sentence for name in ("weights", "usage", "pool", "pool below request") for sentence in spoken(name, known)]
    for sentence in said:
        sizes = {name: truth.get(name, 3 * GIB) for name, kind in kinds(sentence).items() if "gib" in kind}
        others = {name: 1 for name, kind in kinds(sentence).items() if "gib" not in kind}
        for lines in (
            (f"vLLM API server version {known}", sentence.write(**sizes, **others)),
            (sentence.write(**sizes, **others),),
        ):
            told = alone(*lines)
            for gap, quantity in MEANS[sentence.name].items():
                if gap in sizes:
                    size = value(told, quantity)
                    assert isinstance(size, Bounds)
                    assert sizes[gap] in size
                    assert size.doubt <= 0.01 * GIB + 2


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.template[:40])
def test_every_sentence_holds_a_word_by_which_its_line_is_found(sentence: Sentence) -> None:
    literal = sentence.pattern.pattern.encode().replace(b"\\", b"")

    assert any(hint in literal for hint in HINTS)


def test_a_start_up_is_read_whole() -> None:
    told = alone(
        "(APIServer pid=1) INFO 11-15 01:11:36 [api_utils.py:347]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.19.1",
        "(APIServer pid=1) INFO 11-15 01:11:36 [api_utils.py:347]   █▄█▀ █     █     █     █  model   a/b",
        "(APIServer pid=1) INFO 11-15 01:11:36 [utils.py:233] non-default args: {'model': 'a/b', 'max_num_seqs': 8}",
        "(EngineCore pid=2) INFO 11-15 01:11:45 [core.py:106] Initializing a V1 LLM engine (v0.19.1) with config: "
        "model='a/b', speculative_config=None, dtype=torch.bfloat16, max_seq_len=2048, tensor_parallel_size=1, seed=0",
        "(EngineCore pid=2) INFO 11-15 01:11:46 [gpu_model_runner.py:4820] Model loading took 14.99 GiB memory and 3 s",
        "(EngineCore pid=2) INFO 11-15 01:11:50 [gpu_worker.py:400] Available KV cache memory: 5.5 GiB",
        "(EngineCore pid=2) INFO 11-15 01:11:50 [kv_cache_utils.py:1] GPU KV cache size: 40,960 tokens",
    )

    assert (told.release, told.model, dict(told.flags)) == ("0.19.1", "a/b", {"max_num_seqs": 8})
    assert told.config["dtype"] == "torch.bfloat16"
    assert value(told, Quantity.POOL) == Bounds(5_900_211_322, 5_910_948_742, 5_905_580_032)  # 5.495 to 5.505 GiB
    assert value(told, Quantity.TOKENS) == 40_960


def test_each_rank_speaks_for_itself() -> None:
    told = alone(
        *(
            f"(Worker_PP{stage}_TP{tensor} pid={stage}{tensor}) INFO 11-15 01:11:46 [gpu_model_runner.py:1] "
            f"Model loading took {10 * stage + tensor}.25 GiB memory and 3.100000 seconds"
            for stage in range(2)
            for tensor in range(2)
        )
    )
    sizes = {rank: said[Quantity.WEIGHTS].value for rank, said in told.ranks.items()}

    assert list(sizes) == ["Worker_PP0_TP0", "Worker_PP0_TP1", "Worker_PP1_TP0", "Worker_PP1_TP1"]
    assert [place(rank, tensor=2) for rank in sizes] == [0, 1, 2, 3]
    assert {size.likely / GIB for size in told.sizes(Quantity.WEIGHTS)} == {0.25, 1.25, 10.25, 11.25}


def test_a_restart_is_another_start_up() -> None:
    once = (
        "vLLM API server version 0.11.0",
        "non-default args: {'model': 'a/b', 'max_num_seqs': 8}",
        "(EngineCore_DP0 pid=1) INFO 11-15 01:11:46 [x.py:1] Model loading took 1.2500 GiB and 3.100000 seconds",
    )
    first, second = read(*once, once[0], once[1].replace("8", "4"), once[2].replace("1.2500", "2.5000"))

    assert (first.flags["max_num_seqs"], second.flags["max_num_seqs"]) == (8, 4)
    assert [each.sizes(Quantity.WEIGHTS)[0].likely / GIB for each in (first, second)] == [1.25, 2.5]
    assert (first.first, second.first) == (1, 4)


def test_servers_that_begin_beside_each_other_are_one_start_up() -> None:
    told = alone(
        "(ApiServer_0 pid=1) INFO 11-15 01:11:36 [x.py:1] vLLM server version 0.19.1, serving model a/b",
        "(EngineCore_DP0 pid=2) INFO 11-15 01:11:46 [x.py:1] Model loading took 1.25 GiB memory and 3.1 seconds",
        "(ApiServer_1 pid=3) INFO 11-15 01:11:36 [x.py:1] vLLM server version 0.19.1, serving model a/b",
        "(EngineCore_DP1 pid=4) INFO 11-15 01:11:46 [x.py:1] Initializing a V1 LLM engine (v0.19.1) with config: a=1",
    )

    assert told.model == "a/b"


def test_a_failure_is_one_account_and_the_first_counts() -> None:
    told = alone(
        "[rank1]: " + OVERFLOW.format(tried="1.50") + " 23.00 GiB of which",
        "[rank1]: 1.00 GiB is free.",
        "[rank1]: Including non-PyTorch memory, this process has 20.00 GiB memory in use.",
        "[rank1]: Of the allocated memory 15.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
        "unallocated.",
        "[rank1]: " + OVERFLOW.format(tried="9.99") + " 23.00 GiB of which 1.00 GiB is free.",
        "[rank1]: Including non-PyTorch memory, this process has 21.00 GiB memory in use.",
    )
    likely = {
        quantity: reading.value.likely / GIB
        for quantity, reading in told.ranks["rank 1"].items()
        if isinstance(reading.value, Bounds)
    }

    assert likely == {
        Quantity.TRIED: 1.5,
        Quantity.IN_USE: 20,
        Quantity.ALLOCATED: 15,
        Quantity.RESERVED: 1,
        Quantity.OUTSIDE: 4,
    }


def test_a_length_that_is_fitted_later_counts() -> None:
    told = alone(
        "(EngineCore pid=1) INFO 11-15 01:11:46 [x.py:1] Using max model len 4096",
        "(EngineCore pid=1) INFO 11-15 01:11:46 [x.py:1] Using max model len 128",  # of the draft
        "(EngineCore pid=1) INFO 11-15 01:11:46 [x.py:1] Auto-fit max_model_len: reduced from 4096 to 896 to fit in "
        "available KV cache memory (0.0 GiB CPU)",
    )

    assert value(told, Quantity.LENGTH) == 896


def test_keys_in_the_arguments_are_kept_nowhere() -> None:
    told = alone("INFO 11-15 01:11:46 [x.py:1] non-default args: {'model': 'm', 'api_key': ['sk-1234'], 'port': 1}")

    assert "sk-1234" not in repr(told)
    assert told.model == "m"


@pytest.mark.parametrize(
    ("text", "who", "what"),
    [
        ("(EngineCore pid=258) INFO 04-24 10:21:03 [x.py:3] hello", "EngineCore", "hello"),
        (
            "2026-04-24T10:21:03.1234Z stderr F (Worker_TP0_EP0 pid=5) ERROR 04-24 10:21:03 [x.py:3] no",
            "Worker_TP0_EP0",
            "no",
        ),
        ("vllm-1  | INFO 04-24 10:21:03 model_runner.py:1072] old", "", "old"),
        ("(VllmWorker rank=3 pid=10672) WARNING 03-16 06:12:38 [m.py:375] w", "VllmWorker rank=3", "w"),
        ("(VllmWorkerProcess pid=77) INFO 04-24 10:21:03 x.py:1] v", "VllmWorkerProcess 77", "v"),
        ("(RayWorkerWrapper pid=77, ip=10.0.0.2) INFO 04-24 10:21:03 [x.py:1] r", "RayWorkerWrapper 77 10.0.0.2", "r"),
        ("[rank1]: Traceback", "rank 1", "Traceback"),
        ("no prefix at all", "", "no prefix at all"),
    ],
)
def test_prefixes_say_who_speaks(text: str, who: str, what: str) -> None:
    assert (speaker(text), message(text)) == (who, what)


def test_where_two_wordings_fit_that_of_the_release_counts() -> None:
    line = "Error in memory profiling. Initial free memory 12.25 GiB, current free memory 13.25 GiB"
    (_, old), (_, new) = (
        next(iter(heard(line, known)))
        for known in (spoken("memory came back", HISTORY.release(name))[0].span.since for name in ("0.9.1", "0.19.1"))
    )

    assert isinstance(old["free"], Bounds)
    assert isinstance(new["free"], Bounds)
    assert old["free"].exact
    assert not new["free"].exact


@given(st.lists(st.text(max_size=200), max_size=20))
def test_no_text_breaks_it(lines: list[str]) -> None:
    told = read(*lines, "Model loading took 1.25 GiB memory and 3.100000 seconds")

    assert any(each.sizes(Quantity.WEIGHTS) for each in told)


def test_a_log_of_endless_speakers_does_not_grow_what_is_kept() -> None:
    told = alone(*(f"(Worker_TP{index} pid=1) Model loading took 1.25 GiB memory and 3.1 s" for index in range(9_000)))

    assert len(told.ranks) <= 4_096
    assert len(told.lines) <= 4_096
