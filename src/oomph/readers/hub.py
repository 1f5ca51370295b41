"""A model on the Hub: its file names, its small files, its headers; only what is asked for is fetched.

Knows repositories, revisions and huggingface_hub's cache: a file that lies there for this very commit is not fetched,
and when the Hub cannot be asked (offline mode, no network) the cached snapshot takes its place. Nothing is written to
the cache. Does not know which files matter.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from oomph.errors import UnknownModel, UnreadableError
from oomph.ledger.checkpoint import Tensor
from oomph.readers import safetensors, strict_json
from oomph.readers.directory import Directory, read_small

try:
    from huggingface_hub import constants, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # documented, but not in an __all__

    from oomph.readers.hub_answers import Question, Unreachable, get, get_span
except ImportError as error:
    message = f"a Hub id needs huggingface_hub: {error} (pip install huggingface_hub, or give a local directory)"
    raise UnreadableError(message) from None

_FIRST: Final = 100_001  # bytes: 97 of 100 headers are shorter, says huggingface_hub, which asks for as many
_AT_ONCE: Final = 8  # requests; a large model has 160 files
_COMMIT: Final = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository at one commit."""

    name: str
    revision: str  # a commit, where the Hub tells it
    source: str
    names: frozenset[str]

    def content(self, name: str, *, limit: int) -> bytes:
        """The bytes of a small file; of one beyond the limit, just enough to see that it is."""
        if cached := self._cached(name):
            return read_small(cached, limit=limit)
        return get(self._url(name), self._question(name), limit=limit)

    def headers(self, names: Sequence[str]) -> Iterator[tuple[Tensor, ...]]:
        """The tensors of each file, in order; several files are asked for at once."""
        pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
        try:
            yield from pool.map(self._header, names)
        finally:
            pool.shutdown(cancel_futures=True)

    def _header(self, name: str) -> tuple[Tensor, ...]:
        if cached := self._cached(name):
            return safetensors.read_file(cached)
        url, question = self._url(name), self._question(name)
        begin = get_span(url, question, first=0, count=_FIRST)
        prefix = safetensors.PREFIX
        length = safetensors.header_length(begin.body[:prefix], size=begin.size, file=str(question))
        header = begin.body[prefix : prefix + length]
        if len(header) < length:
            rest = get_span(url, question, first=len(begin.body), count=length - len(header))
            header += rest.body
        return safetensors.read_header(header, size=begin.size, file=str(question))

    def _cached(self, name: str) -> Path | None:
        found = try_to_load_from_cache(self.name, name, revision=self.revision)
        return Path(found) if isinstance(found, str) else None

    def _url(self, name: str) -> str:
        return hf_hub_url(self.name, name, revision=self.revision, endpoint=constants.ENDPOINT)

    def _question(self, name: str) -> Question:
        return Question(repository=self.name, revision=self.revision, file=name)


def open_repository(name: str, *, revision: str | None = None) -> Repository | Directory:
    """List a repository; where the Hub cannot be asked, the cached snapshot of it."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        message = (
            f"no model {name[:200]!r}: there is no such file or directory here, and it is no Hub id "
            "(write ./directory, ./config.json or organisation/name)"
        )
        raise UnknownModel(message) from None
    try:
        return _listed(name, revision)
    except Unreachable as why:
        snapshot = _snapshot(name, revision)
        if snapshot is None:
            message = f"{why}; nothing of {name} is in the cache, and there is no such directory here"
            raise UnreadableError(message) from None
        return Directory.open(snapshot, source=f"{name} in the cache of huggingface_hub")


def _listed(name: str, revision: str | None) -> Repository:
    question = Question(repository=name, revision=revision)
    wanted = revision or constants.DEFAULT_REVISION
    url = f"{constants.ENDPOINT}/api/models/{name}/revision/{quote(wanted, safe='')}"
    said = strict_json.read_object(get(url, question, limit=strict_json.LIMIT), file=f"the Hub's listing of {name}")
    commit, siblings = said.get("sha"), said.get("siblings")
    if not isinstance(siblings, list):
        message = f"the Hub's listing of {name} lists no files (is HF_ENDPOINT, {constants.ENDPOINT}, a Hub?)"
        raise UnreadableError(message)
    paths = (entry.get("rfilename") for entry in siblings if isinstance(entry, dict))
    return Repository(
        name=name,
        revision=commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else wanted,
        source=f"{name} on {constants.ENDPOINT}",
        names=frozenset(path for path in paths if isinstance(path, str) and path and "/" not in path),
    )


def _snapshot(name: str, revision: str | None) -> Path | None:
    """Where the cache keeps this repository, if it holds the config at least."""
    for config in ("config.json", "params.json"):
        found = try_to_load_from_cache(name, config, revision=revision)
        if isinstance(found, str):
            return Path(found).parent
    return None
