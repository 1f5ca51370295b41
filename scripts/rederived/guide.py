"""The sizing guide, claim by claim, and its table row by row."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.ledger.rest import Rest
from oomph.units import Bytes
from rederived.asking import Users, least, most, pool, smallest, start, users, weights
from rederived.checklist import CARD, EIGHT, SEVENTY
from rederived.claim import Claim, Verdict, about, differs, gb, in_gb, of
from rederived.shapes import CONFIGS

_LONG, _SHORT = 32_768, 4096
_PACKED: Final = "Llama-3.1-8B-GPTQ-4"
_FOUR: Final = "rtx-4090 x4"
MANY: Final = 32  # users, where the guide says that production needs more


def claims() -> Iterator[Claim]:
    """In the order of the guide."""
    yield _seven()
    yield _eight_times()
    yield _more_share()
    yield _packed()
    yield _tripled()
    yield _four_cards()


def _seven() -> Claim:
    size = weights(start("Llama-2-7B", "a100-40gb").forecast())
    return Claim(
        says="7B in FP16: roughly 14 GB",
        found=f"{gb(size)}, {differs(14, in_gb(size))}",
        verdict=about(14, in_gb(size)),
    )


def _eight_times() -> Claim:
    long, short = (start(EIGHT, CARD, max_model_len=length) for length in (_LONG, _SHORT))
    before, after = pool(long.forecast()), pool(short.forecast())
    return Claim(
        says="`max_model_len` 32768 to 4096: KV memory about 8 times less",
        found=f"{before} of pool before, {after} after; {users(long, _LONG).words} request of 32k or "
        f"{users(short, _SHORT).words} of 4k fill it",
        verdict=of(right=before > 4 * after),
        instead="to free memory on the device, lower the share or give `--kv-cache-memory-bytes`",
    )


def _more_share() -> Claim:
    usual, more = (start(EIGHT, CARD, gpu_memory_utilization=share, max_model_len=_LONG) for share in (0.90, 0.95))
    grown = pool(more.forecast()) / pool(usual.forecast())
    gate = more.forecast().stopped_at
    left = "every gate is passed" if gate is None else f"{gate.step} is {gate.verdict}: {gate.because}"
    return Claim(
        says="0.95 instead of 0.90: 5 % more, with care above that",
        found=f"the pool grows {grown:.2f} times, to {pool(more.forecast())}; {left}",
        verdict=Verdict.RIGHT if gate is None else Verdict.PARTLY,
    )


def _packed() -> Claim:
    plain, packed = (weights(start(name, CARD).forecast()) for name in (EIGHT, _PACKED))
    return Claim(
        says="8B in 4 bits: roughly 4 GB instead of 14 GB",
        found=f"{gb(packed)} instead of {gb(plain)}: {differs(4, in_gb(packed))} and {differs(14, in_gb(plain))}",
        verdict=about(4, in_gb(packed)),
        instead=f"embedding and head stay in 16 bits: {gb(_both_ends(EIGHT))} of it",
    )


def _both_ends(name: str) -> Bytes:
    """Embedding and head, which people leave as they are."""
    config = CONFIGS[name]
    return Bytes(2 * 2 * int(str(config["vocab_size"])) * int(str(config["hidden_size"])))


def _tripled() -> Claim:
    plain, packed = (start(name, CARD, max_model_len=16_384) for name in (EIGHT, _PACKED))
    grown = pool(packed.forecast()) / pool(plain.forecast())
    return Claim(
        says="so 4 bits triple the room for KV",
        found=f"{grown:.1f} times: {pool(packed.forecast())} instead of {pool(plain.forecast())} on 24 GB",
        verdict=about(3, grown),
    )


def _four_cards() -> Claim:
    begun = start(SEVENTY, _FOUR, tensor_parallel_size=4, max_model_len=8192)
    gate = begun.forecast().stopped_at
    rounded = least(SEVENTY, 8192, 1, rounded=True)
    return Claim(
        says="70B in FP16 runs comfortably on four 24 GB cards",
        found="it starts" if gate is None else f"fails at {gate.step}: {gate.because}",
        verdict=of(right=gate is None),
        instead=""
        if rounded is None
        else f"least memory for one user, rounded to 8 bits: {rounded.words}; in 4 bits four cards hold "
        f"{most(start('Llama-3.1-70B-AWQ', _FOUR), 8192, Rest.SURE)} requests of 8k",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A size of model in the guide's table."""

    words: str
    name: str
    said: int  # GB
    cards: tuple[tuple[str, str], ...]  # as the guide names them, and as the catalogue does

    @property
    def weights(self) -> Bytes:
        """In 16 bits."""
        return weights(start(self.name, "h200 x2", tensor_parallel_size=1).forecast())

    def needs(self, count: int) -> Bytes:
        """Of one device that would do in 16 bits."""
        return smallest(self.name, _SHORT, count) or Bytes(0)

    def held(self, gpu: str) -> Users:
        """Requests of 4k at once by the best setting in 16 bits."""
        begun = start(self.name, gpu)
        return Users(sure=most(begun, _SHORT, Rest.SURE), likely=most(begun, _SHORT, Rest.LIKELY))

    def least(self, count: int, *, rounded: bool = False) -> str:
        """The hardware of the least memory for so many."""
        found = least(self.name, _SHORT, count, rounded=rounded)
        return "none that is known" if found is None else f"{found.key} ×{found.count}, {found.memory}"


_PRO: Final = "rtx-pro-6000"
ROWS: Final = (
    Row(words="7B", name="Llama-2-7B", said=16, cards=(("RTX 5080", "rtx-5080"), ("RTX 5090", "rtx-5090"))),
    Row(words="8B", name=EIGHT, said=16, cards=(("RTX 5080", "rtx-5080"), ("RTX 5090", "rtx-5090"))),
    Row(words="13B", name="Llama-2-13B", said=28, cards=(("RTX PRO 6000", _PRO), ("2 × RTX 5090", "rtx-5090 x2"))),
    Row(words="34B", name="CodeLlama-34B", said=70, cards=(("RTX PRO 6000", _PRO), ("4 × RTX 5090", "rtx-5090 x4"))),
    Row(
        words="70B",
        name=SEVENTY,
        said=140,
        cards=(("2 × RTX PRO 6000", f"{_PRO} x2"), ("4 × RTX PRO 6000", f"{_PRO} x4")),
    ),
)
