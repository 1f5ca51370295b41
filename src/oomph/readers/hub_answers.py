"""One request to the Hub → its bytes, or the one sentence that says what to do.

Knows HTTP as the Hub and its mirrors speak it, bounded in bytes and in seconds. Does not know what is asked for.

huggingface_hub gives the session, the token, the endpoint and the offline mode. Why nothing higher of it is used (as
seen in 0.36.0 and 2.4.0): `model_info`, `hf_hub_download` and `parse_safetensors_file_metadata` read a body of any
length at any slowness, and the second retries for minutes; the third takes a whole file into memory when a mirror
ignores the range, drops bytes that are not UTF-8, and checks neither sizes nor Content-Range;
`get_sharded_safetensors_metadata` is new, knows the main branch only, and does not say how long the files are.
"""

import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from huggingface_hub import constants, get_session
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined] # documented, but not in an __all__

import oomph
from oomph.errors import UnknownModel, UnreadableError, UsageError
from oomph.units import MIB, Bytes

_CHUNK: Final = 65_536
_PATIENCE: Final = 60.0  # seconds for one body; a drip resets the timeout of a read for ever
_RANGE: Final = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")
_WHEN: Final = re.compile(r"[\w ,:+-]{1,40}")
# huggingface_hub speaks through requests before 1.0, then httpx, then httpx2: what can go wrong is an OSError or the
# HTTPError of the one in use, and the names of its kinds agree.
_FAILURES: Final[tuple[type[Exception], ...]] = (
    OSError,
    *(kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError" and issubclass(kind, Exception)),
)


class Unreachable(UnreadableError):  # noqa: N818 - reads as what happened
    """The Hub did not answer, or not now: what is in the cache may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of the Hub, in words for a message."""

    repository: str
    revision: str | None
    file: str | None = None

    def __str__(self) -> str:
        return f"{self.file} of {self.repository}" if self.file else self.repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A piece of a file, and how long the whole is."""

    body: bytes
    size: int


def get(url: str, question: Question, *, limit: int) -> bytes:
    """Fetch a small file; of one beyond the limit, just enough to see that it is."""
    return _fetch(url, question, span=None, limit=limit + 1).body


def get_span(url: str, question: Question, *, first: int, count: int) -> Answer:
    """Fetch so many bytes of a file, fewer where it ends before."""
    return _fetch(url, question, span=(first, first + count - 1), limit=count)


def _fetch(url: str, question: Question, *, span: tuple[int, int] | None, limit: int) -> Answer:
    headers = build_hf_headers(library_name="oomph", library_version=oomph.__version__)
    headers["accept-encoding"] = "identity"  # a compressed body has no bounds before it is unpacked
    if span:
        headers["range"] = f"bytes={span[0]}-{span[1]}"
    try:
        with _opened(url, headers) as response:
            return _answer(response, question, span=span, limit=limit)
    except _FAILURES as failure:
        _refuse_failure(failure, question)
    except UnicodeError:  # a token that is not ASCII
        _refuse(question, "cannot be asked for: the token holds what no header may", "check HF_TOKEN")


def _opened(url: str, headers: dict[str, str]) -> AbstractContextManager[Any]:
    if not re.match(r"https?://[\w.\[-]", url):
        message = f"HF_ENDPOINT is {constants.ENDPOINT[:200]!r}, which is no address (write https://host)"
        raise UsageError(message)
    session: Any = get_session()
    timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
    if callable(getattr(session, "stream", None)):  # httpx and httpx2
        stream: AbstractContextManager[Any] = session.stream("GET", url, headers=headers, timeout=timeout)
        return stream
    return closing(session.get(url, headers=headers, timeout=timeout, stream=True))


def _answer(response: Any, question: Question, *, span: tuple[int, int] | None, limit: int) -> Answer:  # noqa: ANN401 - of either library
    if response.status_code not in {200, 206}:
        _refuse_status(response, question)
    if (packed := response.headers.get("content-encoding", "identity")) != "identity":
        _refuse(question, f"came packed as {packed[:20]!r}, which was not asked for", "try another HF_ENDPOINT")
    length = response.headers.get("content-length", "")
    begin, size = 0, int(length) if re.fullmatch("[0-9]{1,19}", length) else None
    promised = size
    if response.status_code == 206:  # noqa: PLR2004 - the name of "partial content"
        begin, promised, size = _range(response.headers.get("content-range", ""), question, span)
    skip = span[0] - begin if span else 0  # a mirror that ignores the range sends all: pass over what is before
    if skip > MIB:
        _refuse(question, "came from its beginning, although a range was asked for", "try another HF_ENDPOINT")
    body = _body(response, question, limit=skip + limit)
    if promised is not None and len(body) < min(promised, skip + limit):
        _refuse(question, f"broke off after {len(body)} of {promised} bytes", "try again")
    return Answer(body=body[skip:], size=size if size is not None else begin + len(body))


def _range(said: str, question: Question, span: tuple[int, int] | None) -> tuple[int, int, int]:
    """What a Content-Range says: where it begins, how many bytes it brings, and how long the whole is."""
    found = _RANGE.fullmatch(said)
    first, last, size = (int(part) for part in found.groups()) if found else (0, -1, 0)
    if span is None or first != span[0] or not first <= last <= min(span[1], size - 1):
        met = f"came with Content-Range {said[:60]!r}, and bytes {span} were asked for"
        _refuse(question, met, "try another HF_ENDPOINT")
    if last < min(span[1], size - 1):
        _refuse(question, f"came with fewer bytes than asked for: {said[:60]!r}", "try again")
    return first, last - first + 1, size


def _body(response: Any, question: Question, *, limit: int) -> bytes:  # noqa: ANN401 - of either library
    until = time.monotonic() + _PATIENCE
    body = bytearray()
    for chunk in _chunks(response):
        body += chunk
        if len(body) >= limit:
            break
        if time.monotonic() > until:
            message = f"{question} was still coming after {_PATIENCE:.0f} s, {Bytes(len(body))} of it (try again)"
            raise Unreachable(message)
    return bytes(body[:limit])


def _chunks(response: Any) -> Iterator[bytes]:  # noqa: ANN401 - of either library
    chunks: Iterator[bytes] = (
        response.iter_raw() if hasattr(response, "iter_raw") else response.iter_content(chunk_size=_CHUNK)
    )
    return chunks


def _refuse(question: Question, met: str, cure: str) -> NoReturn:
    message = f"{question} {met} ({cure}, or give a local directory)"
    raise UnreadableError(message)


def _refuse_status(response: Any, question: Question) -> NoReturn:  # noqa: ANN401 - of either library
    status, code = response.status_code, response.headers.get("x-error-code", "")
    host = constants.ENDPOINT
    if code == "RevisionNotFound":
        message = f"{question.repository} has no revision {question.revision!r} on {host} (see its branches and tags)"
        raise UnknownModel(message)
    if code == "GatedRepo" or (status in {401, 403} and code != "RepoNotFound"):
        message = (
            f"{host} does not let you read {question}: status {status} (accept its licence at "
            f"{host}/{question.repository}, then give a token that may read it: hf auth login, or HF_TOKEN)"
        )
        raise UnreadableError(message)
    if status in {401, 404} and question.file is None:
        message = (
            f"no model {question.repository!r}: there is no such directory here, and {host} has none of that name "
            "(check the spelling, write ./name for a directory; for a private one give a token: HF_TOKEN)"
        )
        raise UnknownModel(message)
    if status == 404:  # noqa: PLR2004 - the name of "not found"
        _refuse(question, f"is listed by {host}, and then not found", "try again")
    if status == 429:  # noqa: PLR2004 - the name of "too many requests"
        after = response.headers.get("retry-after", "")
        wait = f"in {after} s" if after.isdecimal() else f"after {after}" if _WHEN.fullmatch(after) else "later"
        message = f"{host} takes no more requests for now: status 429 (try again {wait}; with HF_TOKEN it allows more)"
        raise Unreachable(message)
    if status == 416:  # noqa: PLR2004 - the name of "range not satisfiable"
        _refuse(question, "is empty", "download it again")
    message = f"{host} answered status {status} for {question} (try again later, or give a local directory)"
    raise Unreachable(message) if status >= 500 else UnreadableError(message)  # noqa: PLR2004 - the server's own fault


def _refuse_failure(failure: Exception, question: Question) -> NoReturn:
    kind, host = type(failure).__name__, constants.ENDPOINT
    if kind == "OfflineModeIsEnabled":
        met, cure = "HF_HUB_OFFLINE is set", "unset it"
    elif "Timeout" in kind or isinstance(failure, TimeoutError):
        met = f"{host} did not answer within {constants.HF_HUB_DOWNLOAD_TIMEOUT} s"
        cure = "try again, or set HF_HUB_DOWNLOAD_TIMEOUT higher"
    elif kind == "TooManyRedirects":
        met, cure = f"{host} sends from one address to the next without end", "check HF_ENDPOINT"
    elif kind in {"RemoteProtocolError", "ChunkedEncodingError", "ReadError"}:
        met, cure = f"{host} broke off its answer", "try again"
    elif kind in {"LocalProtocolError", "InvalidHeader"}:  # its text would show the token
        met, cure = "the token holds what no header may", "check HF_TOKEN"
    else:
        met, cure = f"{host} cannot be reached: {str(failure)[:120]}", "check the network and HF_ENDPOINT"
    message = f"{question} cannot be read: {met} ({cure}, or give a local directory)"
    raise Unreachable(message) from None
