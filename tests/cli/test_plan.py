import json
import re
from pathlib import Path
from typing import Any

import pytest

from oomph.cli.main import main
from oomph.ledger.gate import Step

ROOT = Path(__file__).parents[2]
QWEN = str(ROOT / "examples" / "qwen3.6-27b")
MTP = ["--kv-cache-dtype", "fp8", "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}']


def gate(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(gate for gate in plan["gates"] if gate["name"] == name)


def test_the_first_line_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "b200", "--release", "0.32.0", "--all", QWEN])
    first, *rest = capsys.readouterr().out.splitlines()

    assert status == 0
    assert re.fullmatch(r"Starts, with room for [\d,]+ tokens\.", first)
    assert rest[0].endswith("qwen3.6-27b on NVIDIA B200, vLLM 0.32.0")
    assert any(line.startswith("  why      --gpu-memory-utilization 0.92 of 178.35 GiB is 164.08 GiB") for line in rest)


def test_more_than_there_is_is_refused_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "24GiB", "--", "vllm", "serve", "--gpu-memory-utilization", "1.0"])

    assert status == 1
    assert "Fails at start-check, 460.00 MiB short." in capsys.readouterr().out


def test_weights_larger_than_the_device_fail_at_load(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "rtx-5090", "--json", QWEN])
    plan = json.loads(capsys.readouterr().out)

    assert status == 1
    assert (plan["verdict"], plan["gate"]) == ("overflows", "load")
    assert plan["gates"][1]["needs"]["low"] >= 54_713_461_728
    assert "--gpu-memory-utilization" in plan["gates"][1]["inert"]


@pytest.mark.parametrize("share", ["0.80", "0.88", "0.92", "0.95"])
def test_the_first_seed_crash_fails_at_the_graph_profile_whatever_the_share(
    share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["vllm", "serve", QWEN, *MTP, "--gpu-memory-utilization", share]
    main(["plan", "--gpu", "rtx-5090", "--release", "0.19.1", "--weights", "18.47GiB", "--json", "--", *words])
    plan = json.loads(capsys.readouterr().out)

    assert (plan["verdict"], plan["gate"]) == ("overflows", "graph-profile")
    assert plan["graph_profile"] == {
        "blocks": 512,
        "tensors": 17,
        "tensor": 1_677_721_600,
        "total": 28_521_267_200,
        "fails": plan["graph_profile"]["fails"],
    }
    assert all(1 <= place <= 17 for place in plan["graph_profile"]["fails"].values())
    assert "--gpu-memory-utilization" in gate(plan, "graph-profile")["inert"]


def test_fewer_sequences_pass_the_graph_profile(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vllm", "serve", QWEN, *MTP, "--max-num-seqs", "8"]
    main(["plan", "--gpu", "rtx-5090", "--release", "0.19.1", "--weights", "18.47GiB", "--json", "--", *words])
    plan = json.loads(capsys.readouterr().out)

    assert plan["graph_profile"]["blocks"] == 48
    assert gate(plan, "graph-profile")["verdict"] == "fits"


def test_a_given_pool_is_counted_to_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vllm", "serve", QWEN, *MTP, "--kv-cache-memory-bytes", "8G", "--max-model-len", "65536"]
    main(["plan", "--gpu", "b200", "--release", "0.19.1", "--json", "--", *words])
    kv = json.loads(capsys.readouterr().out)["kv"]

    assert (kv["page"], kv["block_tokens"], kv["blocks"]) == (3_276_800, 1600, 154)
    assert (kv["tokens"], round(kv["concurrency"], 2)) == (60_800, 3.08)
    assert [group["layers"] for group in kv["groups"]] == [16, 16, 16, 17]


@pytest.mark.parametrize(
    "flags",
    [
        ["--offload-group-size", "8"],
        ["--hf-config-path", "elsewhere"],
        ["--use-replayssm"],
        ["--kv-transfer-config", '{"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}'],
    ],
)
def test_beside_a_flag_that_is_not_modelled_no_gate_is_judged_by_the_weights(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plan", "--gpu", "rtx-3090", "--json", "--", "vllm", "serve", QWEN, *flags])
    plan = json.loads(capsys.readouterr().out)

    assert (plan["verdict"], plan["basis"]) == ("unsure", "assumed")
    assert any("is not computed yet" in warning for warning in plan["warnings"])


def test_a_given_pool_that_holds_no_request_fails_at_one_request(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vllm", "serve", QWEN, "--kv-cache-memory-bytes", "2G"]
    status = main(["plan", "--gpu", "b200", "--release", "0.19.1", "--json", "--", *words])
    plan = json.loads(capsys.readouterr().out)

    assert status == 1
    assert (plan["verdict"], plan["gate"], plan["kv"]["blocks"]) == ("overflows", "one-request", None)
    assert gate(plan, "one-request")["has"]["low"] == plan["kv"]["size"]["low"] == 2 << 30
    assert "one request of 262,144 tokens takes" in gate(plan, "one-request")["because"]


def test_what_only_a_measurement_can_tell_is_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "24GiB", "--", "vllm", "serve", "--gpu-memory-utilization", "0.98"])

    assert status == 3
    assert "Cannot tell at start-check" in capsys.readouterr().out


def test_the_contract_has_its_keys_and_whole_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--gpu", "a100-80gb x4", "--release", "0.19.1", "--json", "--", "vllm", "serve", QWEN, "-tp", "4"])
    plan = json.loads(capsys.readouterr().out)

    assert plan["schema"] == "oomph.plan/1"
    assert (plan["release"], plan["verdict"], plan["gate"]) == ("0.19.1", "fits", None)
    assert plan["model"] == {"name": QWEN, "family": "delta", "parameters": 27_356_728_560}
    assert plan["device"] == {"name": "NVIDIA A100-SXM4-80GB", "total": 84986665370, "free": None, "count": 4}
    assert plan["settings"]["tensor_parallel_size"] == {"value": 4, "origin": "given", "because": ""}
    assert plan["gates"][0]["name"] == "start-check"
    assert plan["gates"][0]["needs"] == {"low": 76487998833, "likely": 76487998833, "high": 76487998833}
    assert "--max-model-len" in plan["gates"][0]["inert"]
    assert [gate["name"] for gate in plan["gates"]] == [step for step in Step if step not in plan["skipped"]]
    assert [entry["size"]["likely"] for entry in plan["ledger"] if entry["account"] == "weights"] == [13_972_425_216]
    assert {"ledger", "kv", "graph_profile", "findings", "rank"} <= plan.keys()


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["--gpu", "rtx-5091"], 2, "did you mean rtx-5090?"),
        (["--gpu", "24GiB", "--release", "0.5.5"], 2, "older than the first release that was read"),
        (["--gpu", "24GiB", "--release", "new"], 2, "not a release: 'new'"),
        (["--gpu", "24GiB", "--", "vllm", "serve", "m", "--swap-space", "4"], 2, "it was removed in 0.18.0"),
        (["--gpu", "24GiB", "--weights", "18GB", QWEN], 2, "--weights: not a size"),
        (["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "--speculative-config", "{"], 2, "not JSON"),
        (["--gpu", "24GiB x5", "--", "vllm", "serve", QWEN, "-tp", "5"], 2, "cannot be divided between 5 ranks"),
        (["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "-tp", "2"], 2, "2 ranks need as many GPUs"),
        (["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "--gpu-memory-utilization", "nan"], 2, "nan"),
        (["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "--gpu-memory-utilization", "1.5"], 2, "at most 1"),
        (["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "--max-num-seqs", "0"], 2, "at least 1"),
        (
            ["--gpu", "24GiB", "--", "vllm", "serve", QWEN, "--kv-cache-dtype", "int3"],
            2,
            "not one of what vLLM 0.32.0 takes",
        ),
        (["--gpu", "24GiB", str(ROOT / "docs")], 3, "config.json"),
    ],
)
def test_what_cannot_be_answered_says_what_to_write(
    words: list[str], status: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = main(["plan", *words])
    said = capsys.readouterr()

    assert (found, said.out) == (status, "")
    assert said.err.startswith("oomph plan: ")
    assert why in said.err


def test_a_release_newer_than_read_is_answered_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--gpu", "24GiB", "--release", "0.99.0"])
    said = capsys.readouterr().out

    assert "vLLM 0.99.0 is newer than 0.32.0, the newest release that was read" in said


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])

    assert stop.value.code == 0
    assert "plan" in capsys.readouterr().out
