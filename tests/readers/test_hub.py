import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import huggingface_hub
import pytest
from huggingface_hub import constants, file_download

from oomph.errors import OomphError, UnknownModel, UnreadableError, UsageError
from oomph.readers import hub_answers
from oomph.readers.model import Model, read_model
from readers.files import CONFIG, SMALL, lay, packed, safetensors, sharded
from readers.loopback_hub import (
    COMMIT,
    Fault,
    LoopbackHub,
    body,
    dripping,
    hanging_up,
    partial,
    redirect,
    silent,
    status,
    truncated,
)

NAME = "organisation/name"
ONE = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": safetensors(SMALL)}


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[None]:
    """One session without a proxy: to make one takes longer than a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1,localhost")
        close()
        yield
        close()


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache, no token, and an empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)


def close() -> None:
    """Drop the session, whichever HTTP library this huggingface_hub speaks through."""
    utils = huggingface_hub.utils
    drop = getattr(utils, "close_session", None) or getattr(utils, "reset_sessions", None)
    assert drop
    drop()


def ask(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what HF_ENDPOINT does at the start of a process."""
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    for module in (constants, file_download):  # before 1.0 the second keeps its own
        monkeypatch.setattr(module, "HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with LoopbackHub({NAME: ONE}) as serving:
        ask(serving.endpoint, monkeypatch)
        yield serving


def cache(directory: Path, files: dict[str, bytes]) -> None:
    """Lay a snapshot where huggingface_hub keeps it."""
    kept = directory / "cache" / "models--organisation--name"
    lay(kept / "snapshots" / COMMIT, files)
    lay(kept / "refs", {"main": COMMIT.encode()})


def names(model: Model) -> list[str]:
    return [tensor.name for tensor in model.checkpoint or ()]


def test_a_hub_id_gives_its_config_and_its_checkpoint(hub: LoopbackHub) -> None:
    model = read_model(NAME)

    assert model.config == CONFIG
    assert names(model) == list(SMALL)
    assert model.source == f"{NAME} on {hub.endpoint}"
    assert not any("original" in path for path, _ in hub.asked)


def test_no_more_than_headers_is_fetched(hub: LoopbackHub) -> None:
    large = packed(safetensors(SMALL)[8:-84], 84 + 5_000_000)
    hub.repositories[NAME] = ONE | {"model.safetensors": large}

    assert names(read_model(NAME)) == list(SMALL)
    assert [headers.get("range") for path, headers in hub.asked if "safetensors" in path] == ["bytes=0-100000"]


def test_a_long_header_takes_one_more_request(hub: LoopbackHub) -> None:
    many = {f"model.layers.{number}.weight": ("BF16", [2]) for number in range(3000)}
    hub.repositories[NAME] = ONE | {"model.safetensors": safetensors(many)}

    model = read_model(NAME)

    ranges = [headers.get("range", "") for path, headers in hub.asked if "safetensors" in path]
    assert names(model) == list(many)
    assert len(ranges) == 2
    assert ranges[1].startswith("bytes=100001-")


def test_shards_are_read_by_their_index(hub: LoopbackHub) -> None:
    extra = {"consolidated.safetensors": safetensors(SMALL), "original/model.safetensors": b""}
    hub.repositories[NAME] = sharded(20) | extra

    model = read_model(NAME, consolidated_first=False)

    assert names(model) == [f"layers.{number}.weight" for number in range(20)]


def test_every_request_after_the_listing_is_pinned_to_one_commit(hub: LoopbackHub) -> None:
    read_model(NAME, revision="main")

    assert hub.asked[0][0].endswith("/revision/main")
    assert all(f"/resolve/{COMMIT}/" in path for path, _ in hub.asked[1:])


def test_a_token_goes_to_the_hub_and_not_to_where_it_redirects(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with LoopbackHub({NAME: ONE}) as store:
        hub.faults["model.safetensors"] = redirect(store.endpoint)

        assert names(read_model(NAME)) == list(SMALL)
        # What huggingface_hub asks on its own account, once a process, is not ours to sign.
        ours = [headers for path, headers in hub.asked if not path.startswith("/api/agent")]
        assert ours
        assert all(headers.get("authorization") == "Bearer hf_secret" for headers in ours)
        assert [headers.get("authorization") for _, headers in store.asked] == [None]
        assert [headers.get("range") for _, headers in store.asked] == ["bytes=0-100000"]


def test_a_mirror_that_ignores_ranges_is_not_read_to_the_end(hub: LoopbackHub) -> None:
    many = {f"model.layers.{number}.weight": ("BF16", [2]) for number in range(3000)}
    hub.repositories[NAME] = ONE | {"model.safetensors": b""}
    hub.faults["model.safetensors"] = body(safetensors(many) + bytes(1 << 20))

    assert names(read_model(NAME)) == list(many)


LISTING = "/revision/main"
FAULTS: list[tuple[str, Fault, type[OomphError], str]] = [
    (LISTING, status(401, x_error_code="GatedRepo"), UnreadableError, "accept its licence at .*HF_TOKEN"),
    (LISTING, status(403, x_error_code="GatedRepo"), UnreadableError, "accept its licence at .*HF_TOKEN"),
    (LISTING, status(403), UnreadableError, "does not let you read"),
    (LISTING, status(401, x_error_code="RepoNotFound"), UnknownModel, "no such directory here, and http.*HF_TOKEN"),
    (LISTING, status(404, x_error_code="RepoNotFound"), UnknownModel, "no such directory here"),
    (LISTING, status(404), UnknownModel, "no such directory here"),
    (LISTING, status(429, retry_after="37"), UnreadableError, "status 429 .try again in 37 s"),
    (LISTING, status(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), UnreadableError, "after Wed, 21 Oct"),
    (LISTING, status(429, retry_after="\x1b[2J"), UnreadableError, "try again later"),
    (LISTING, status(500), UnreadableError, "answered status 500"),
    (LISTING, status(418), UnreadableError, "answered status 418"),
    (LISTING, body(b"<html>sign in</html>"), UnreadableError, "listing of organisation/name is not JSON"),
    (LISTING, body(b'{"sha": 1}'), UnreadableError, "is HF_ENDPOINT, http://127.0.0.1:[0-9]+, a Hub"),
    (LISTING, body(b'{"siblings": [1, {"rfilename": 2}, {}]}'), UnreadableError, "neither config.json nor"),
    (LISTING, body(b"\x1f\x8b", content_encoding="gzip"), UnreadableError, "came packed as 'gzip'"),
    (LISTING, truncated(b"{}"), UnreadableError, "broke off"),
    (LISTING, hanging_up, UnreadableError, "cannot be reached|broke off"),
    (LISTING, redirect(""), UnreadableError, "from one address to the next without end"),
    ("config.json", status(404, x_error_code="EntryNotFound"), UnreadableError, "config.json .* then not found"),
    ("config.json", status(403, x_error_code="GatedRepo"), UnreadableError, "does not let you read config.json"),
    ("config.json", status(503), UnreadableError, "answered status 503"),
    ("config.json", body(b"x" * 9_000_000), UnreadableError, "larger than 8.00 MiB"),
    ("config.json", truncated(b"{}"), UnreadableError, "broke off"),
    ("model.safetensors", status(416), UnreadableError, "is empty"),
    ("model.safetensors", partial(b"x" * 50, "bytes 7-56/100"), UnreadableError, "Content-Range 'bytes 7-56/100'"),
    ("model.safetensors", partial(b"x" * 50, "bytes 0-49"), UnreadableError, "Content-Range 'bytes 0-49'"),
    ("model.safetensors", partial(b"x" * 50, "bytes 0-200000/300000"), UnreadableError, "Content-Range"),
    ("model.safetensors", partial(b"x" * 50, "bytes 0-49/100"), UnreadableError, "fewer bytes than asked"),
    ("model.safetensors", partial(b"x" * 50, "bytes 0-99/100"), UnreadableError, "broke off after 50 of 100"),
    ("model.safetensors", partial(b"", ""), UnreadableError, "Content-Range ''"),
    ("model.safetensors", body(b"short"), UnreadableError, "ends after 5 bytes"),
    ("model.safetensors", redirect("http://127.0.0.1:1"), UnreadableError, "cannot be reached"),
    ("model.safetensors", redirect("nonsense://"), UnreadableError, "cannot be re"),
]


@pytest.mark.parametrize(("path", "fault", "kind", "said"), FAULTS)
def test_a_failure_of_the_hub_says_what_to_do(
    hub: LoopbackHub, path: str, fault: Fault, kind: type[OomphError], said: str
) -> None:
    hub.faults[path] = fault

    with pytest.raises(kind, match=said):
        read_model(NAME)


@pytest.mark.parametrize("path", [LISTING, "config.json", "model.safetensors"])
def test_an_answer_that_does_not_come_is_not_awaited_for_ever(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    hub.faults[path] = silent

    with pytest.raises(UnreadableError, match=r"did not answer within 0.2 s .*HF_HUB_DOWNLOAD_TIMEOUT higher"):
        read_model(NAME)


def test_an_answer_that_drips_is_not_awaited_for_ever(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_answers, "_PATIENCE", 0.1)
    hub.faults["config.json"] = dripping

    with pytest.raises(UnreadableError, match=r"config.json of organisation/name was still coming after"):
        read_model(NAME)


def test_a_revision_that_is_not_there_is_named(hub: LoopbackHub) -> None:
    with pytest.raises(UnknownModel, match=f"no revision 'v9' on {hub.endpoint}"):
        read_model(NAME, revision="v9")


@pytest.mark.parametrize("where", ["a/b/c", "organisation/", "-x", "a..b", "s3://bucket/model", "organisation/name:Q4"])
def test_what_is_neither_a_path_nor_a_hub_id_is_refused_unasked(hub: LoopbackHub, where: str) -> None:
    with pytest.raises(UnknownModel, match="no such file or directory here, and it is no Hub id"):
        read_model(where)

    assert hub.asked == []


def test_a_directory_of_that_name_comes_before_the_hub(hub: LoopbackHub, tmp_path: Path) -> None:
    lay(tmp_path / "organisation" / "name", {"config.json": b'{"here": true}'})

    assert read_model(NAME).config == {"here": True}
    assert hub.asked == []


@pytest.mark.parametrize("endpoint", ["huggingface.co", "ftp://host", "http://"])
def test_an_endpoint_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    ask(endpoint, monkeypatch)

    with pytest.raises(UsageError, match=f"HF_ENDPOINT is '{endpoint}'"):
        read_model(NAME)


LENIENT = pytest.mark.skipif(not hasattr(huggingface_hub.utils, "close_session"), reason="requests sends it")


@pytest.mark.parametrize("token", [pytest.param("hf_\x0bsecret", marks=LENIENT), "hf_sécret€secret"])
def test_a_token_that_cannot_be_sent_is_not_shown(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)

    with pytest.raises(UnreadableError, match="check HF_TOKEN") as refusal:
        read_model(NAME)
    assert "secret" not in str(refusal.value)
    assert hub.asked == []


def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}"


def no_such_host(*_: object, **__: object) -> NoReturn:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("known", [True, False], ids=["refused", "no such host"])
def test_a_hub_that_cannot_be_reached_says_what_to_do(monkeypatch: pytest.MonkeyPatch, *, known: bool) -> None:
    ask(nobody(), monkeypatch)
    if not known:
        monkeypatch.setattr(socket, "getaddrinfo", no_such_host)

    with pytest.raises(UnreadableError, match=r"cannot be reached: .*HF_ENDPOINT, or give a local.*is in the cache"):
        read_model(NAME)


def test_without_a_network_the_cache_takes_the_hubs_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ask(nobody(), monkeypatch)
    cache(tmp_path, ONE)

    model = read_model(NAME)

    assert names(model) == list(SMALL)
    assert model.source == f"{NAME} in the cache of huggingface_hub"


def test_offline_mode_asks_nobody_and_reads_the_cache(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close()  # before 1.0 a session is made for one mode

    with pytest.raises(
        UnreadableError, match=r"HF_HUB_OFFLINE is set .unset it.*nothing of organisation/name is in the"
    ):
        read_model(NAME)
    cache(tmp_path, {"config.json": ONE["config.json"]})
    assert read_model(NAME).lacking == "no weight files are beside its config"
    cache(tmp_path, ONE)
    assert names(read_model(NAME)) == list(SMALL)
    assert hub.asked == []
    close()


def test_a_cached_file_of_this_commit_is_not_fetched_again(hub: LoopbackHub, tmp_path: Path) -> None:
    cache(tmp_path, ONE)

    assert names(read_model(NAME)) == list(SMALL)
    assert len(hub.asked) == 1
