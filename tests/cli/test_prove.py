"""What `oomph prove` says when it cannot even begin. That it proves anything is shown in tests/live."""

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from oomph.cli.main import main
from oomph.cli.prove_progress import went
from oomph.readers.planned import read_planned

pytest.importorskip("aiohttp")
from aiohttp import web

METRICS = (
    'vllm:num_requests_running{model_name="tiny"} 0\n'
    'vllm:cache_config_info{block_size="32",num_gpu_blocks="64",engine="0"} 1.0\n'
)
MODELS = json.dumps({"data": [{"id": "tiny", "max_model_len": 1024}]})


@contextmanager
def serving(pages: Mapping[str, tuple[int, str]], *, reading: float = 0.0) -> Iterator[str]:
    """A server that answers with these pages, and with 404 otherwise; so many seconds it reads before it answers."""
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    where: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        status, text = pages.get(request.path, (404, "no such page"))
        if request.path == "/v1/completions":
            await asyncio.sleep(reading)
        text = text.replace("TIME", f"{time.monotonic() % 1000 / 1000:.6f}")
        return web.Response(status=status, text=text)

    async def serve() -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        where.append(runner.addresses[0][1])
        ready.set()
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield f"http://127.0.0.1:{where[0]}"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--users", "0"), "--users 0 makes no sense here: from 1"),
        (("--prefix", "600"), "--prefix 600 makes no sense here: from 0 to 512"),
        (("--patience", "0"), "--patience 0 makes no sense"),
        (("--killers", "burst,brust"), "--killers does not know 'brust' (it knows longest, burst"),
        (("--allow", "waitng"), "--allow does not know 'waitng' (it knows waiting, preemption)"),
        (("--plan", "no-such-file"), "no plan 'no-such-file': there is no such file"),
        (("--json", "--html", "-"), "the standard output takes one answer"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_sent(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", "http://127.0.0.1:1", *words]) == 2
    assert said in capsys.readouterr().err


def test_an_address_that_is_none_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "ftp://x"]) == 2
    said = capsys.readouterr().err
    assert "not the address of an engine: 'ftp://x' (write host:8000 or http://host:8000)" in said
    assert "@FILE" not in said


def test_a_pool_of_which_nobody_tells_is_not_drawn_as_an_empty_one() -> None:
    assert went([None, 0.0, 0.5, 1.0, None]) == " ▁▄█ "


def test_nobody_at_the_address(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]

    assert main(["prove", f"127.0.0.1:{port}"]) == 3
    assert "nobody listens there (is the server up, and is the port right?)" in capsys.readouterr().err


def test_no_tls_where_tls_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with serving({}) as url:
        assert main(["prove", url.replace("http://", "https://")]) == 3
    assert "no TLS there (write http:// instead of https://)" in capsys.readouterr().err
    assert ssl.OPENSSL_VERSION  # the test means nothing without it


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ({}, "404, no such page (is this a vLLM server, and this its own address?)"),
        ({"/v1/models": (401, "Unauthorized")}, "this server wants a key (export VLLM_API_KEY=…, or OPENAI_API_KEY)"),
        ({"/v1/models": (502, "Bad Gateway")}, "the server is broken before any load"),
        ({"/v1/models": (200, "<html>")}, "the answer is not JSON"),
        ({"/v1/models": (200, "{}")}, "no model is served there"),
        ({"/v1/models": (200, MODELS), "/metrics": (200, "llamacpp:x 1\n")}, "nothing of vLLM there"),
        (
            {"/v1/models": (200, MODELS), "/metrics": (200, METRICS), "/tokenize": (200, "{}")},
            "no tokens in the answer",
        ),
    ],
)
def test_what_is_no_vllm_server_is_told_with_what_to_try(
    pages: Mapping[str, tuple[int, str]], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(pages) as url:
        assert main(["prove", url]) == 3
    assert said in capsys.readouterr().err


def test_a_load_that_the_server_does_not_take_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with serving({"/v1/models": (200, MODELS), "/metrics": (200, METRICS)}) as url:
        assert main(["prove", url, "--prompt", "1000", "--answer", "25"]) == 2
    assert "1,025, and this server takes at most 1,024 (--max-model-len)" in capsys.readouterr().err


def test_a_model_that_is_not_served_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with serving({"/v1/models": (200, MODELS), "/metrics": (200, METRICS)}) as url:
        assert main(["prove", url, "--model", "large"]) == 2
    assert "does not serve 'large' but tiny" in capsys.readouterr().err


def test_a_server_that_takes_no_such_request_cannot_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    pages = {
        "/v1/models": (200, MODELS),
        "/metrics": (200, METRICS),
        "/tokenize": (200, '{"tokens": [5, 6, 7]}'),
        "/health": (200, ""),
        "/v1/completions": (400, '{"error": {"message": "no completions here"}}'),
    }
    with serving(pages) as url:
        assert main(["prove", url]) == 3
    assert capsys.readouterr().out.startswith("Cannot tell: 1 of 1 requests were turned away: 400 no completions here")


def answering(*, prompt: int = 8, answer: int = 2) -> dict[str, tuple[int, str]]:
    """Pages of a server that answers every request of that length at once."""
    piece = json.dumps({"choices": [{"text": "x"}]})
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": answer}})
    stream = f"data: {piece}\n\ndata: {piece}\n\ndata: {usage}\n\ndata: [DONE]\n\n"
    return {
        "/v1/models": (200, MODELS),
        "/metrics": (200, METRICS + 'vllm:num_preemptions_total{model_name="tiny"} 0\n'),
        "/tokenize": (200, '{"tokens": [5, 6, 7]}'),
        "/health": (200, ""),
        "/v1/completions": (200, stream),
    }


LOAD = ("--prompt", "8", "--answer", "2", "--killers", "none", "--allow", "waiting")


@pytest.mark.parametrize(("used", "status"), [("TIME", 0), ("0.5", 1)])
def test_an_engine_that_only_takes_blocks_reads_a_long_prompt_and_does_not_hang(
    used: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = answering()
    pages["/metrics"] = (200, f'{pages["/metrics"][1]}vllm:kv_cache_usage_perc{{model_name="tiny"}} {used}\n')
    with serving(pages, reading=1.8) as url:
        words = [*LOAD, "--users", "1", "--for", "0.1", "--ramp", "0", "--patience", "1", "--every", "0.2"]
        assert main(["prove", url, *words]) == status
    assert ("the engine hangs" in capsys.readouterr().out) is (status == 1)


def test_one_request_is_not_called_a_load_of_32(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(answering()) as url:
        assert main(["prove", url, *LOAD, "--users", "32", "--for", "0", "--ramp", "0"]) == 3
    assert capsys.readouterr().out.startswith("Cannot tell: no load was held")


def test_an_interrupt_concludes_with_what_was_played(tmp_path: Path) -> None:
    page = tmp_path / "proof.html"
    with serving(answering()) as url:
        words = [*LOAD, "--users", "2", "--ramp", "0.1", "--for", "60", "--json", "--html", str(page)]
        process = subprocess.Popen(
            [sys.executable, "-m", "oomph", "prove", url, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        try:
            while not process.stderr.readline().startswith("ramp"):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    told = json.loads(said)

    assert (process.returncode, told["result"]) == (3, "cannot tell")
    assert [stage["name"] for stage in told["stages"]] == ["first request", "ramp"]
    assert [scene["name"] for scene in told["not_run"]] == ["hold"]
    assert "interrupted before all was played" in page.read_text()


def test_more_connections_than_this_machine_gives_are_refused_before_anything_is_sent() -> None:
    resource = pytest.importorskip("resource")
    limits = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)); "
    run = (
        "import sys; from oomph.cli.main import main; sys.exit(main(['prove', 'http://127.0.0.1:1', '--users', '400']))"
    )
    done = subprocess.run([sys.executable, "-c", limits + run], capture_output=True, text=True, check=False, timeout=60)

    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 256
    assert done.returncode == 2
    assert "1,600 requests at once need as many connections, and this machine lets a process open 256" in done.stderr


def test_a_soft_limit_of_connections_is_raised() -> None:
    pytest.importorskip("resource")
    limits = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (128, 1024)); "
    run = (
        "from oomph.live.load.connections import make_room; make_room(500); "
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", limits + run], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "(564, 1024)"


def test_a_connection_that_this_machine_cannot_open_is_not_the_servers_fault() -> None:
    limits = (
        "import asyncio, resource; from oomph.live.load.client import Client; from oomph.live.load.reply import Reply; "
    )
    sent = """
from oomph.ledger.proof import Ask
from oomph.live.load.wire import wire
async def go():
    async with wire("http://127.0.0.1:1") as connected:
        reply = Reply(ask=Ask(prompt=1, answer=1), user=0, turn=0, sent=0.0, begun=lambda: None)
        client = Client(wire=connected)
        await client.send(reply, b"{}")
        first = reply.failure
        reply.failure = None
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        await client.send(reply, b"{}")
        print(first, "|", reply.failure, "|", reply.said)
asyncio.run(go())
"""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", limits + sent], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "connection refused | no connection to be had here | Too many open files"


def test_the_key_is_sent_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    with keyed() as (url, seen):
        assert main(["prove", url]) == 3
    assert seen == ["Bearer sk-x"]
    assert "401" in capsys.readouterr().err


@contextmanager
def keyed() -> Iterator[tuple[str, list[str]]]:
    """A bare server that notes the key and refuses."""
    seen: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            line, _ = door.accept()
            with line:
                asked = line.recv(65536).decode()
                seen.extend(each.partition(": ")[2] for each in asked.split("\r\n") if each.startswith("Authorization"))
                line.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}", seen
        thread.join(10)


def test_a_saved_plan_is_read_for_what_a_server_shows(tmp_path: Path) -> None:
    plan = {
        "schema": "oomph.plan/1",
        "release": "0.32.0",
        "model": {"name": "tiny"},
        "settings": {"max_model_len": {"value": 1024}},
        "kv": {"blocks": 64, "block_tokens": 32, "tokens": True},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))

    planned = read_planned(str(tmp_path / "plan.json"))

    assert (planned.release, planned.model, planned.length) == ("0.32.0", "tiny", 1024)
    assert (planned.blocks, planned.block_tokens, planned.tokens) == (64, 32, None)
