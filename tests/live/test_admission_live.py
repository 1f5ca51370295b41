"""The same requests to us and to a real vLLM that computes every token: one in this machine's own steps, one over HTTP.

In steps (`LLMEngine.step`, where a request can be put before a certain step) both must say the same of every step.
Over HTTP nobody knows the step at which a request arrives, so peaks may differ by what different arrivals make of them
in the simulation, and by TOLERANCE more.
"""

import json
import re
import subprocess
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from engine.arrivals import Case, ours
from engine.pipe import engine_python
from engines.vllm.admission.pools import asks, attention, pool
from live.served import BLOCK_TOKENS, Served
from live.tiny import tiny
from oomph.engines.history import release
from oomph.engines.vllm.admission.admitted import Admitted
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import closed_loop
from oomph.engines.vllm.pool.limits import Limits

SERVED: Final = release("0.32.0")  # the engine of the environment
TOLERANCE: Final = 2  # requests, at the peaks of running and waiting; preemptions: the same, or half as many again
SURROUNDINGS: Final = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the engine in the process that asks
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
}
FULL: Final = {"kind": "full", "block_tokens": BLOCK_TOKENS, "kv_heads": 2, "head_dim": 32, "dtype": "bfloat16"}


def told(blocks: int, users: list[dict[str, object]], *, sequences: int, step_tokens: int) -> Case:
    settings = {
        "max_model_len": 512,
        "max_num_batched_tokens": step_tokens,
        "max_num_seqs": sequences,
        "prefix_caching": True,
        "overlapped": False,  # vLLM does not overlap steps on a CPU
        "long_prompt": 0,
        "watermark": 0.0,
        "whole_prompt": True,
        "mamba_mode": "none",
    }
    return {"groups": [FULL], "blocks": blocks, "users": users, "settings": settings}


def theirs(case: Case) -> list[list[int]]:
    """What the engine itself counts after every step."""
    settings = case["settings"]
    assert isinstance(settings, dict)
    flags = {
        "max_model_len": settings["max_model_len"],
        "max_num_seqs": settings["max_num_seqs"],
        "max_num_batched_tokens": settings["max_num_batched_tokens"],
        "num_gpu_blocks_override": case["blocks"],
        "block_size": BLOCK_TOKENS,
        "kv_cache_memory_bytes": 16 << 20,
        "enforce_eager": True,
        "dtype": "float32",
        "disable_log_stats": True,
    }
    with tempfile.TemporaryDirectory(prefix="oomph-offline-") as scratch:
        said = Path(scratch) / "answer"
        question = {"answer": str(said), "model": str(tiny()), "engine": flags, "users": case["users"]}
        ran = subprocess.run(
            [str(engine_python()), "-P", "-m", "judge.offline"],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            cwd=scratch,
            env={**SURROUNDINGS, "PYTHONPATH": str(Path(__file__).parents[1] / "engine"), "HOME": scratch},
            timeout=240,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        found = json.loads(said.read_text())
    assert (found["blocks"], found["block_tokens"]) == (case["blocks"], BLOCK_TOKENS)
    assert (found["overlapped"], found["prefix_caching"]) == (False, True)
    seen: list[list[int]] = found["seen"]
    return seen


@pytest.mark.usefixtures("engine")
def test_every_step_of_a_real_engine_is_as_foreseen() -> None:
    crowd: list[dict[str, object]] = [
        {"start": 1 + 3 * place, "pause": place % 3, "requests": [[50 + place, 120, 32, 0], [70, 90, 32, 0]]}
        for place in range(10)
    ]
    case = told(20, crowd, sequences=8, step_tokens=128)
    foreseen = ours(case, SERVED)

    assert theirs(case) == foreseen
    assert sum(step[3] for step in foreseen) > 3, "a workload in which somebody is thrown back"
    assert max(step[2] for step in foreseen) > 3, "and several wait"


# --- over HTTP

USERS, PROMPT, ANSWER, ROUNDS = 12, 100, 200, 2


def foreseen(blocks: int, stagger: int) -> Admitted:
    """So many users who begin so many steps after each other."""
    users = closed_loop(USERS, [asks(PROMPT, ANSWER)] * ROUNDS, stagger=stagger)
    limits = Limits(context_tokens=1024, step_tokens=2048)
    held = pool(blocks - 1, attention(block=BLOCK_TOKENS))
    return simulate(held, users, limits, Scheduling(sequences=64), SERVED)


def test_a_server_holds_as_many_requests_as_foreseen(server: Served) -> None:
    cases = [foreseen(server.blocks, stagger) for stagger in range(6)]
    before = gauges(server)["preemptions"]

    with ThreadPoolExecutor(USERS) as crowd:
        users = [crowd.submit(user, server, number) for number in range(USERS)]
        seen = [gauges(server)]
        while not all(each.done() for each in users):
            seen.append(gauges(server))
            time.sleep(0.01)
        assert [each.result() for each in users] == [ROUNDS * ANSWER] * USERS
    thrown = gauges(server)["preemptions"] - before

    near("running", max(each["running"] for each in seen), [case.peak_running for case in cases])
    near("waiting", max(each["waiting"] for each in seen), [case.peak_waiting for case in cases])
    counts = [case.preemptions for case in cases]
    assert min(counts) * 0.5 - TOLERANCE <= thrown <= max(counts) * 1.5 + TOLERANCE, (thrown, counts)


def near(what: str, observed: float, cases: list[int]) -> None:
    assert min(cases) - TOLERANCE <= observed <= max(cases) + TOLERANCE, (what, observed, cases)


def user(server: Served, number: int) -> int:
    """One user's requests, one after the other; how many tokens were answered."""
    answered = 0
    for turn in range(ROUNDS):
        words = [3 + (number * 31 + turn * 17 + place * (number + 2)) % 500 for place in range(PROMPT)]
        body = {
            "model": server.model,
            "prompt": words,
            "max_tokens": ANSWER,
            "ignore_eos": True,
            "temperature": 0,
        }
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{server.url}/v1/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - loopback
            answered += json.load(answer)["usage"]["completion_tokens"]
    return answered


def gauges(server: Served) -> dict[str, float]:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as answer:  # noqa: S310 - loopback
        text = answer.read().decode()
    names = {
        "running": "num_requests_running",
        "waiting": "num_requests_waiting",
        "preemptions": "num_preemptions_total",
    }
    found = {
        word: re.search(rf"^vllm:{name}{{[^}}]*}} ([\d.e+]+)$", text, re.MULTILINE) for word, name in names.items()
    }
    return {word: float(match[1]) if match else 0.0 for word, match in found.items()}
