"""One request to a completions endpoint, from sending to its last token, whatever happens on the way.

Knows server-sent events and connections that fail: never raises for what a server does. Does not know why a request is
sent.
"""

import errno
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from oomph.ledger.proof import Ask, Failure
from oomph.live.load.reply import Reply, words
from oomph.live.load.wire import Wire
from oomph.readers.session import EndlessError, whole_page

if TYPE_CHECKING:
    import aiohttp

_SERVER_ERROR: Final = 500
_WRONG: Final = 400
_CONNECT: Final = 10.0  # seconds for a connection
_ERROR: Final = 1 << 20  # bytes of an answer that says what is wrong
_ANSWER: Final = 1 << 30  # bytes of one with the probabilities of a whole prompt, and of one event of a stream
_OURS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL})  # no more files or ports on this machine
_HEADERS: Final = {"Content-Type": "application/json"}


@dataclass(slots=True, kw_only=True)
class Pulse:
    """What moves while it runs, for whoever watches."""

    pieces: int = 0  # of answers
    in_flight: int = 0
    ended: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Sends requests over one wire, by one clock."""

    wire: Wire
    pulse: Pulse = field(default_factory=Pulse)
    begun: float = field(default_factory=time.perf_counter)

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.begun

    async def send(self, reply: Reply, body: bytes) -> None:
        """Send a request, and let its answer grow until it ends in one way or the other."""
        import aiohttp  # noqa: PLC0415 - only who drives a server needs it

        self.pulse.in_flight += 1
        try:
            await self._send(reply, body)
        except aiohttp.ClientConnectorError as met:
            kind = Failure.OURS if met.errno in _OURS else Failure.REFUSED
            reply.fail(kind, met.strerror or str(met))
        except (aiohttp.ClientError, OSError) as met:
            reply.fail(Failure.CUT, str(met) or type(met).__name__)
        except (ValueError, AttributeError, TypeError) as met:  # JSON of another kind, or none
            reply.fail(Failure.GARBLED, str(met))
        except EndlessError:
            reply.fail(Failure.GARBLED, "an answer without end")
        finally:
            self.pulse.in_flight -= 1

    async def _send(self, reply: Reply, body: bytes) -> None:
        import aiohttp  # noqa: PLC0415 - likewise

        url = f"{self.wire.url}/v1/completions"
        limit = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT)
        async with self.wire.session.post(url, data=body, headers=_HEADERS, timeout=limit) as response:
            if response.status >= _WRONG:
                kind = Failure.SERVER if response.status >= _SERVER_ERROR else Failure.REJECTED
                reply.fail(
                    kind, f"{response.status} {words((await whole_page(response, _ERROR)).decode(errors='replace'))}"
                )
            elif streamed(reply.ask):
                await self._stream(response, reply)
            else:
                reply.add(await whole_page(response, _ANSWER), self.now)

    async def _stream(self, response: "aiohttp.ClientResponse", reply: Reply) -> None:
        """Events are lines that begin with `data:`; several may arrive together, and one in parts."""
        rest = bytearray()
        async for chunk in response.content.iter_any():
            now = self.now
            begin, line_end, after = chunk.rpartition(b"\n")
            if not line_end:
                rest += chunk
                if len(rest) > _ANSWER:
                    raise EndlessError
                continue
            lines = (bytes(rest) + begin).split(b"\n")
            rest = bytearray(after)
            for line in lines:
                if line.startswith(b"data:") and reply.add(line[5:].strip(), now):
                    self.pulse.pieces += 1
        if not reply.done:
            reply.fail(Failure.CUT, "the answer stopped in the middle")


def streamed(ask: Ask) -> bool:
    """Whether the answer comes piece by piece; vLLM refuses to stream the probabilities of a prompt."""
    return ask.prompt_logprobs is None
