"""`oomph explain` as it is run, on logs of our own making and on the two that oomph was begun for."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from oomph.cli.main import main

ROOT: Final = Path(__file__).parents[2]
LOGS: Final = ROOT / "tests" / "logs"
EXAMPLE: Final = ROOT / "examples" / "graph-profile.log"
SEEDS: Final = ROOT.parent / "shared" / "seeds"
QWEN: Final = str(ROOT / "examples" / "qwen3.6-27b")
MTP: Final = '{"method": "mtp", "num_speculative_tokens": 2}'
FIRST: Final = ["--gpu-memory-utilization", "0.8", "--language-model-only", "--max-model-len", "16384"]
CRASHES: Final = {
    "first": (17, 3_276_800, "rtx-5090", [*FIRST, "--kv-cache-dtype", "fp8", "--speculative-config", MTP]),
    "second": (16, 3_211_264, "rtx-3090", ["--kv-cache-dtype", "fp8_e5m2", "--max-model-len", "32768"]),
}
FILES: Final = {
    "first": (EXAMPLE, "000_8da75b2c80c3eeeb.txt"),
    "second": (LOGS / "graph_profile_slice.log", "003_8953dc39b22d4fa4.txt"),
}
crash = pytest.mark.parametrize("name", CRASHES)

Found = dict[str, Any]


def explained(log: Path, *arguments: str, capsys: pytest.CaptureFixture[str]) -> Found:
    main(["explain", str(log), "--json", *arguments])
    found: Found = json.loads(capsys.readouterr().out)
    return found


def with_model(name: str) -> list[str]:
    *_, gpu, flags = CRASHES[name]
    return ["--release", "0.19.1", "--gpu", gpu, "--", "vllm", "serve", QWEN, *flags]


@pytest.fixture(params=["our own", "as it was told"])
def logs(request: pytest.FixtureRequest) -> dict[str, Path]:
    """Both crashes: as we tell them, and as they were told, where that is at hand."""
    own = request.param == "our own"
    found = {name: ours if own else SEEDS / theirs for name, (ours, theirs) in FILES.items()}
    if not own and not SEEDS.exists():
        if os.environ.get("CI"):
            pytest.fail("the shared seeds are not beside this checkout")
        pytest.skip("the shared seeds are not beside this checkout")
    return found


@crash
def test_the_pool_of_the_graph_profile_is_named_and_derived(
    name: str, logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tensors, page, *_ = CRASHES[name]
    found = explained(logs[name], *with_model(name), capsys=capsys)
    root = found["findings"][0]

    assert (found["verdict"], found["phase"]) == ("explained", "graph-profile")
    assert (root["cause"], root["code"]) == ("graph_profile_minimal_kv", "GP001")
    assert any(f"512 blocks × {page:,} B: one of {tensors} tensors" in line for line in root["arithmetic"])
    assert any("OutOfMemoryError" in each["text"] and each["line"] for each in root["evidence"])


@crash
def test_the_share_is_said_to_be_idle_with_the_reason_and_nobody_else_is_blamed(
    name: str, logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(logs[name], *with_model(name), capsys=capsys)
    root = found["findings"][0]
    vain = {each["flag"]: each["why"] for each in root["does_not_help"]}

    assert "budget" in vain["--gpu-memory-utilization"]
    assert "0.95 alike" in vain["--gpu-memory-utilization"]
    assert all("gpu_memory_utilization" not in remedy["change"] for remedy in root["remedies"])
    assert "hami" not in json.dumps(root["remedies"]).lower() + root["summary"].lower()
    assert all(other["confidence"] < root["confidence"] for other in found["findings"][1:])


@crash
def test_remedies_pass_the_gate_that_failed(
    name: str, logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(logs[name], *with_model(name), capsys=capsys)
    remedies = found["findings"][0]["remedies"]
    levers = [remedy["lever"] for remedy in remedies]
    spare = {remedy["lever"]: remedy["spare"] for remedy in remedies if remedy["spare"]}

    assert {"max_num_seqs_down", "fewer_cudagraph_sizes", "enforce_eager", "kv_cache_memory_bytes"} <= set(levers)
    assert spare["max_num_seqs_down"]["low"] >= 0
    assert spare["fewer_cudagraph_sizes"]["low"] >= 0
    assert all(remedy["price"] for remedy in remedies)
    assert all(remedy["verdict"] != "overflows" for remedy in remedies)


def test_no_remedy_takes_more_than_was_there_when_it_ran_out(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Four tensors of 1.5625 GiB were there and 1.37 GiB were free: a pool of 7.62 GiB fits, and no larger one."""
    found = explained(logs["first"], *with_model("first"), capsys=capsys)
    fewer = next(each for each in found["findings"][0]["remedies"] if each["lever"] == "fewer_cudagraph_sizes")

    assert fewer["change"]["max_cudagraph_capture_size"] * 17 * 3_276_800 <= 7.62 * (1 << 30)


def test_what_was_on_the_device_adds_up(logs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(logs["first"], *with_model("first"), capsys=capsys)
    sizes = {entry["because"][:2] + entry["account"]: entry["size"]["likely"] for entry in found["ledger"]}
    seen = found["observations"]

    assert sizes["4 kv pool"] == 4 * 512 * 3_276_800
    assert sum(sizes.values()) == seen["device total"][0]["value"]["likely"] - seen["device free"][0]["value"]["likely"]
    agrees = {each["what"]: each["agrees"] for each in found["compared"]}
    assert agrees["tensor of the throw-away pool"] is True


def test_without_a_model_it_is_explained_all_the_same(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(logs["first"], capsys=capsys)

    assert found["findings"][0]["cause"] == "graph_profile_minimal_kv"
    assert found["forecast"] is None
    assert found["findings"][0]["remedies"]


def test_the_answer_is_the_first_sentence_and_the_proof_follows(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["explain", str(LOGS / "sampler_warm_up.log")])
    out = capsys.readouterr().out

    assert status == 1
    assert out.startswith("Warming up the sampler for 1,024 sequences does not fit")
    assert out.index("how we know") < out.index("what to do") < out.index("what does not help here")
    assert "1.74 GiB = 1024 × 152064 × 12 B" in out.replace("\n           ", " ")


def test_a_log_that_cannot_show_its_cause_is_unsure_with_candidates_and_what_to_bring(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = main(["explain", str(LOGS / "no_room_alone.log")])
    out = capsys.readouterr().out

    assert status == 3
    assert out.startswith("Not sure;")
    assert "what it may be" in out
    assert "what would make it sure" in out


def test_a_log_without_a_memory_failure_says_so_with_status_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("INFO: Application startup complete.\n")

    assert main(["explain", str(tmp_path / "a.log")]) == 0
    assert capsys.readouterr().out.startswith("No memory failure is in this log.")


def test_a_compressed_log_is_read_as_the_plain_one_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = LOGS / "sampler_warm_up.log"
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(plain.read_bytes()))

    assert explained(tmp_path / "a.log.gz", capsys=capsys) == explained(plain, capsys=capsys)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.log"], "no log 'absent.log'"),
        (["--gpu", "no such card", str(LOGS / "no_room_alone.log")], "no device is known by 'no such card'"),
        (["--release", "nightly", str(LOGS / "no_room_alone.log")], "not a release"),
        ([str(LOGS / "no_room_alone.log"), "--", "vllm", "serve", "m", "--max-num-sequences", "4"], "--max-num-seq"),
        (["--json", "--html", "-", str(LOGS / "no_room_alone.log")], "one answer"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_status_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_release_older_than_all_that_were_read_is_no_obstacle(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(LOGS / "no_room_alone.log", "--release", "0.4.2", capsys=capsys)

    assert found["release"] == "0.4.2"
    assert found["verdict"] == "unsure"


def test_a_model_that_cannot_be_had_is_told_and_the_log_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = str(tmp_path / "absent")
    words = ["--release", "0.19.1", "--gpu", "rtx-5090", "--", "vllm", "serve", absent]
    found = explained(EXAMPLE, *words, capsys=capsys)

    assert found["findings"][0]["cause"] == "graph_profile_minimal_kv"
    assert any("no forecast stands beside the log" in note for note in found["notes"])


def test_nothing_is_fetched_because_a_log_names_it() -> None:
    """The log names a repository on the Hub; the library that would ask for it is not even imported."""
    program = (
        "import sys; from oomph.cli.main import main; "
        f"main(['explain', {str(EXAMPLE)!r}, '--gpu', 'rtx-5090']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "org/Qwen3.6-27B-AWQ" in ran.stdout
    assert "huggingface_hub" not in ran.stderr
    assert "rich" not in ran.stderr.split()


def test_a_page_stands_alone(tmp_path: Path) -> None:
    main(["explain", str(LOGS / "sampler_warm_up.log"), "--html", str(tmp_path / "a.html")])
    page = (tmp_path / "a.html").read_text()

    assert page.startswith("<!doctype html>")
    assert "Warming up the sampler" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_log_is_read_from_a_pipe() -> None:
    log = (LOGS / "sampler_warm_up.log").read_bytes()
    program = "import sys; from oomph.cli.main import main; sys.exit(main(['explain', '-']))"
    ran = subprocess.run([sys.executable, "-c", program], input=log, capture_output=True, check=False)

    assert ran.returncode == 1
    assert ran.stdout.decode().startswith("Warming up the sampler")


def test_the_tag_of_a_container_gives_the_release(capsys: pytest.CaptureFixture[str]) -> None:
    docker = ["docker", "run", "--gpus", "all", "vllm/vllm-openai:v0.19.1", "--model", QWEN]
    found = explained(LOGS / "graph_profile_slice.log", "--gpu", "rtx-3090", "--", *docker, capsys=capsys)

    assert found["release"] == "0.19.1"
    assert found["forecast"] is not None


def test_where_log_and_user_disagree_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--release", "0.20.2", "--gpu", "rtx-3090", "--", "vllm", "serve", QWEN, "--max-model-len", "4096"]
    found = explained(EXAMPLE, *words, capsys=capsys)
    notes = " ".join(found["notes"])

    assert "the log is of vLLM 0.19.1, and is explained as of 0.20.2" in notes
    assert "the log was started with max_model_len 16384; 4096 is taken" in notes
    assert "the engine saw a device of 31.36 GiB, and NVIDIA GeForce RTX 3090 has 23.57 GiB" in notes
    assert found["device"]["total"] == round(31.36 * (1 << 30))


def test_what_a_stranger_put_into_a_log_is_only_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "<img src=x onerror=alert(1)>[bold]\x1b]0;owned\x07\x1b[2J\u202e"
    line = (LOGS / "no_room_alone.log").read_text().strip()
    (tmp_path / "a.log").write_text(f"{line} {hostile}\n")

    main(["explain", str(tmp_path / "a.log"), "--all", "--html", str(tmp_path / "a.html")])
    shown, page = capsys.readouterr().out, (tmp_path / "a.html").read_text()

    assert "onerror=alert(1)" in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in page
    assert not any(sign in shown + page for sign in "\x1b\x07\u202e")
