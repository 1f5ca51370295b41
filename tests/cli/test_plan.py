import json

import pytest

from oomph.cli.main import main


def test_the_first_line_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "rtx-5090", "--release", "0.19.1", "--", "vllm", "serve", "Qwen/Qwen3-8B"])
    first, *rest = capsys.readouterr().out.splitlines()

    assert status == 3
    assert first == (
        "vLLM 0.19.1 on NVIDIA GeForce RTX 5090: passes start-check; the later gates are not forecast yet."
    )
    assert any(line.startswith("  why    --gpu-memory-utilization 0.9 of 31.35 GiB is 28.21 GiB") for line in rest)


def test_more_than_there_is_is_refused_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "24GiB", "--", "vllm", "serve", "m", "--gpu-memory-utilization", "1.0"])

    assert status == 1
    assert "refused at start-check, 450.00 MiB short" in capsys.readouterr().out


def test_what_only_a_measurement_can_tell_is_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "24GiB", "--", "vllm", "serve", "m", "--gpu-memory-utilization", "0.98"])

    assert status == 3
    assert "cannot tell at start-check" in capsys.readouterr().out


def test_the_contract_has_its_keys_and_whole_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--gpu", "a100-80gb x4", "--release", "0.19.1", "--json", "--", "vllm", "serve", "m", "-tp", "4"])
    plan = json.loads(capsys.readouterr().out)

    assert plan["schema"] == "oomph.plan/1"
    assert (plan["release"], plan["model"], plan["verdict"], plan["gate"]) == ("0.19.1", {"name": "m"}, "unsure", None)
    assert plan["device"] == {"name": "NVIDIA A100-SXM4-80GB", "total": 84986665370, "free": None, "count": 4}
    assert plan["settings"]["tensor_parallel_size"] == {"value": 4, "origin": "given", "because": ""}
    assert plan["gates"][0]["name"] == "start-check"
    assert plan["gates"][0]["needs"] == {"low": 76487998833, "likely": 76487998833, "high": 76487998833}
    assert "--max-model-len" in plan["gates"][0]["inert"]
    assert {"ledger", "kv", "graph_profile", "findings"} <= plan.keys()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--gpu", "rtx-5091"], "did you mean rtx-5090?"),
        (["--gpu", "24GiB", "--release", "0.5.5"], "older than the first release that was read"),
        (["--gpu", "24GiB", "--release", "new"], "not a release: 'new'"),
        (["--gpu", "24GiB", "--", "vllm", "serve", "m", "--swap-space", "4"], "it was removed in 0.18.0"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_to_write(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["plan", *words])
    said = capsys.readouterr()

    assert (status, said.out) == (2, "")
    assert said.err.startswith("oomph plan: ")
    assert why in said.err


def test_a_release_newer_than_read_is_answered_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--gpu", "24GiB", "--release", "0.99.0"])
    said = capsys.readouterr().out

    assert "note: vLLM 0.99.0 is newer than 0.32.0, the newest release that was read" in said


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])

    assert stop.value.code == 0
    assert "plan" in capsys.readouterr().out
