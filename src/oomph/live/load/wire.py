"""One server over HTTP: asked for pages, and told apart from what is not one.

Knows addresses, keys, and what each way of failing means to a person. Does not know what pages say.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oomph.errors import OomphError, UnreadableError
from oomph.readers.endpoint import endpoint
from oomph.readers.session import EndlessError, session, whole_page

if TYPE_CHECKING:
    import aiohttp

_PATIENCE: Final = 30.0  # seconds for a page
_CONNECT: Final = 10.0  # seconds for a connection
_KEPT: Final = 4.0  # seconds that an idle connection is kept; vLLM's server closes its side after 5
_PAGE: Final = 32 << 20  # bytes; the metrics of one engine take some 60,000
_WRONG_KEY: Final = (401, 403)
_NO_SUCH_PAGE: Final = 404
_SERVER_ERROR: Final = 500
_WRONG: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A session with one server."""

    url: str  # without a path and without a slash at the end
    session: "aiohttp.ClientSession"

    async def text(self, path: str, *, patience: float = _PATIENCE) -> str:
        """A page, or a refusal that says what to try."""
        return (await self._asked("GET", path, None, patience)).decode(errors="replace")

    async def json(self, path: str, body: Mapping[str, object] | None = None) -> object:
        """A page that is JSON; with a body, asked by POST."""
        import json  # noqa: PLC0415 - the method's name hides it

        raw = await self._asked("GET" if body is None else "POST", path, body, _PATIENCE)
        try:
            value: object = json.loads(raw)
        except ValueError:
            message = f"asking {self.url}{path}: the answer is not JSON but {raw[:80]!r} (is this a vLLM server?)"
            raise UnreadableError(message) from None
        return value

    async def health(self, *, patience: float = 5.0) -> int | None:
        """The status of /health; None where nobody answers."""
        import aiohttp  # noqa: PLC0415 - only who drives a server needs it

        limit = aiohttp.ClientTimeout(total=patience)
        try:
            async with self.session.get(f"{self.url}/health", timeout=limit) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            return None

    async def _asked(self, how: str, path: str, body: Mapping[str, object] | None, patience: float) -> bytes:
        import aiohttp  # noqa: PLC0415 - likewise

        where = f"{self.url}{path}"
        limit = aiohttp.ClientTimeout(total=patience, sock_connect=_CONNECT)
        try:
            async with self.session.request(how, where, json=body, timeout=limit) as answer:
                raw = await whole_page(answer, _PAGE)
                if answer.status >= _WRONG:
                    raise _refusal(where, answer.status, raw)
                return raw
        except TimeoutError:
            message = f"asking {where}: no answer within {patience:g} s (is it starting, or stuck?)"
            raise UnreadableError(message) from None
        except EndlessError:
            message = f"asking {where}: more than {_PAGE >> 20} MiB, as no page has (is this a vLLM server?)"
            raise UnreadableError(message) from None
        except (aiohttp.ClientError, OSError) as met:
            raise _unreached(where, met) from None


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    """A session; the key comes from the environment."""
    async with session(kept=_KEPT) as opened:
        yield Wire(url=endpoint(url).base, session=opened)


def _refusal(where: str, status: int, raw: bytes) -> OomphError:
    said = raw[:200].decode(errors="replace").strip()
    if status in _WRONG_KEY:
        message = f"asking {where}: {status}, this server wants a key (export VLLM_API_KEY=…, or OPENAI_API_KEY)"
    elif status == _NO_SUCH_PAGE:
        message = f"asking {where}: 404, no such page (is this a vLLM server, and this its own address?)"
    elif status >= _SERVER_ERROR:
        message = f"asking {where}: {status}, {said or 'no words'} (the server is broken before any load: see its log)"
    else:
        message = f"asking {where}: {status}, {said or 'no words'}"
    return UnreadableError(message)


def _unreached(where: str, met: Exception) -> OomphError:
    import aiohttp  # noqa: PLC0415 - likewise

    if isinstance(met, aiohttp.ClientConnectorCertificateError):
        message = f"asking {where}: its certificate is not trusted here (export SSL_CERT_FILE=ca.pem): {met}"
    elif isinstance(met, aiohttp.ClientSSLError):
        message = f"asking {where}: no TLS there (write http:// instead of https://): {met}"
    elif isinstance(met, aiohttp.ClientConnectorDNSError):
        message = f"asking {where}: no host of this name is known here"
    elif isinstance(met, aiohttp.ClientConnectorError):
        message = f"asking {where}: nobody listens there (is the server up, and is the port right?): {met.strerror}"
    else:
        message = f"asking {where}: the connection broke: {type(met).__name__} {met}"
    return UnreadableError(message)
