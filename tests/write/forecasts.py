"""Forecasts made by hand, one for each thing that can become of a start-up: writing is tested without any engine."""

from collections.abc import Callable
from dataclasses import replace

from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.kv import GraphProfile, KvGroup, KvPool
from oomph.ledger.ledger import Account, Basis, Entry, Ledger
from oomph.ledger.settings import Origin, Setting, Settings
from oomph.units import GIB, MIB, Bounds, Bytes

DRIVER = Entry(
    account=Account.DRIVER,
    size=Bounds(250 * MIB, 750 * MIB, 450 * MIB),
    basis=Basis.ASSUMED,
    because="a CUDA context and the handles of its libraries, on a device on which nobody else is",
)
_INERT = {
    Step.START_CHECK: ("--max-model-len", "--max-num-seqs", "--enforce-eager"),
    Step.LOAD: ("--gpu-memory-utilization", "--max-model-len", "--max-num-seqs"),
    Step.GRAPH_PROFILE: ("--gpu-memory-utilization", "--max-model-len", "--num-gpu-blocks-override"),
    Step.ONE_REQUEST: ("--max-num-batched-tokens", "--swap-space"),
}


def gib(size: float) -> int:
    return round(size * GIB)


def entry(
    account: Account,
    likely: float,
    low: float | None = None,
    high: float | None = None,
    basis: Basis = Basis.CALIBRATED,
) -> Entry:
    size = Bounds(gib(likely if low is None else low), gib(likely if high is None else high), gib(likely))
    return Entry(account=account, size=size, basis=basis, because=f"{account} as a test has them")


def weights(size: float, *, why: str = "from the shapes in its config") -> Entry:
    basis = Basis.OBSERVED if why.startswith("--weights") else Basis.COMPUTED
    return Entry(account=Account.WEIGHTS, size=Bounds(gib(size)), basis=basis, because=why)


def device(name: str, total: float) -> Device:
    return Device(name=name, total=Bytes(gib(total)))


def on_device(step: Step, where: Device, *entries: Entry, because: str = "") -> Gate:
    """A gate at which everything must fit on the device beside the driver."""
    needs = sum((one.size for one in entries), Bounds(0))
    has = Bounds(where.total) - DRIVER.size
    words = " and ".join(f"{one.account} of {one.size.likely.up}" for one in entries)
    return Gate(
        step=step,
        needs=needs,
        has=has,
        said=because or f"{words}; {has.low.down} to {has.high.down} are there for them",
        inert=_INERT.get(step, ()),
        holds=Ledger((DRIVER, *entries)),
    )


def compared(step: Step, needs: Bounds, has: Bounds, *entries: Entry, because: str) -> Gate:
    """A gate that compares two figures of the engine's own."""
    ledger = Ledger((DRIVER, *entries))
    return Gate(step=step, needs=needs, has=has, said=because, inert=_INERT.get(step, ()), holds=ledger)


def start_check(where: Device, share: float) -> Gate:
    needs = Bounds(round(where.total * share))
    words = f"--gpu-memory-utilization {share:g} of {where.total} is {needs}"
    return compared(Step.START_CHECK, needs, Bounds(where.total) - DRIVER.size, because=words)


def settings(**given: bool | float | str | tuple[int, ...]) -> Settings:
    return Settings(
        {
            **{name: Setting(value=value, origin=Origin.GIVEN) for name, value in given.items()},
            "max_num_seqs": Setting(value=256, origin=Origin.DEFAULT, because="config/scheduler.py"),
            "cudagraph_capture_sizes": Setting(
                value=(1, 2, 4, *range(8, 513, 8)), origin=Origin.DERIVED, because="grid for max_num_seqs"
            ),
        }
    )


def kv(blocks: int, *, block_tokens: int = 16, page: int = 64 << 10, layers: int = 36, longest: int = 40_960) -> KvPool:
    need = longest * page * layers // block_tokens
    return KvPool(
        block_tokens=block_tokens,
        page=Bytes(page),
        tensors=layers,
        bytes_per_block=Bytes(page * layers),
        groups=(KvGroup(layers=layers, block_tokens=block_tokens, page=Bytes(page)),),
        tensor=Bytes(page * blocks),
        blocks=blocks,
        tokens=blocks * block_tokens,
        concurrency=blocks * block_tokens / longest,
        need=Bytes(need),
    )


def forecast(where: Device, gates: tuple[Gate, ...], given: Settings) -> Forecast:
    """One that `replace` makes into another."""
    return Forecast(
        engine="vLLM",
        release="0.32.0",
        basis=Basis.COMPUTED,
        model="Qwen/Qwen3-8B",
        device=where,
        count=1,
        settings=given,
        gates=gates,
        ledger=gates[-1].ledger,
    )


def seed_crash() -> Forecast:
    """The first seed: a throw-away pool of 26.56 GiB beside 18.47 GiB of weights, before any budget exists."""
    card = device("NVIDIA GeForce RTX 5090", 31.35)
    loaded = weights(18.47, why="--weights 18.47GiB")
    step = entry(Account.ACTIVATIONS, 1.1, 0.8, 1.6)
    pool = Entry(
        account=Account.KV_POOL,
        size=Bounds(17 * 512 * 3_276_800),
        basis=Basis.COMPUTED,
        because="512 blocks in 17 allocations of 1.56 GiB",
    )
    graphs = entry(Account.GRAPHS, 0.6, 0.3, 1.1)
    gates = (
        start_check(card, 0.88),
        on_device(Step.LOAD, card, loaded),
        on_device(Step.PROFILE, card, loaded, step),
        on_device(
            Step.GRAPH_PROFILE,
            card,
            loaded,
            pool,
            because=(
                "512 blocks in 17 allocations of 1.56 GiB are 26.56 GiB, beside weights of 18.47 GiB; "
                "30.61 GiB to 31.10 GiB were free before loading; the 8th of 17 allocations is the one that fails"
            ),
        ),
        compared(Step.POOL_SIZE, Bounds(gib(20)), Bounds(gib(27.5)), loaded, step, because="8 GiB are left"),
        compared(Step.ONE_REQUEST, Bounds(gib(2.6)), Bounds(gib(7), gib(8)), loaded, because="2.60 of 7 GiB"),
        on_device(Step.CAPTURE, card, loaded, graphs),
        on_device(Step.WARM_UP, card, loaded, graphs, step),
        on_device(Step.SERVING, card, loaded, graphs, step),
    )
    given = settings(
        max_model_len=65_536,
        gpu_memory_utilization=0.88,
        kv_cache_dtype="fp8",
        speculative_config='{"method": "mtp", "num_speculative_tokens": 2}',
    )
    return replace(
        forecast(card, gates, given),
        model="QuantTrio/Qwen3.6-27B-AWQ",
        release="0.19.1",
        kv=kv(154, block_tokens=1600, page=3_276_800, layers=17, longest=65_536),
        pool=Bounds(gib(7), gib(8)),
        graph_profile=GraphProfile(
            blocks=512, tensors=17, tensor=Bytes(512 * 3_276_800), total=Bytes(17 * 512 * 3_276_800), fails=(8, 8)
        ),
    )


def seed_findings() -> tuple[Finding, ...]:
    return (
        Finding(
            code="GP001",
            name="graph-profile-overflows",
            summary="the throw-away pool in which CUDA graphs are estimated takes 26.56 GiB; 12.4 GiB are free",
            evidence=("512 blocks × 17 tensors × 3,276,800 B",),
            remedies=(
                Remedy(
                    change={"max_cudagraph_capture_size": 192},
                    price="steps of more than 192 tokens run without CUDA graphs, and slower; now more than 512",
                    verdict=Verdict.FITS,
                    spare=Bounds(gib(1.21), gib(2.4)),
                ),
                Remedy(
                    change={"max_num_seqs": 32},
                    price="at most 32 requests at once instead of 256; the rest wait",
                    verdict=Verdict.FITS,
                    spare=Bounds(gib(1.21), gib(2.4)),
                ),
                Remedy(
                    change={"enforce_eager": True},
                    price="no CUDA graphs: every step pays for each launch",
                    verdict=Verdict.FITS,
                ),
                Remedy(
                    change={"release": "0.26.0", "max_num_seqs": 128},
                    price="an upgrade, and at most 128 requests at once instead of 256",
                    verdict=Verdict.UNSURE,
                    spare=Bounds(-gib(0.4), gib(1)),
                ),
            ),
            unhelpful={
                "--gpu-memory-utilization": "the pool is made before any budget is",
                "--max-model-len": "its size is counted in blocks, not in tokens of a request",
            },
        ),
    )


def fits() -> Forecast:
    """Qwen3-8B on a card of 24 GiB."""
    card = device("NVIDIA GeForce RTX 4090", 23.53)
    return _whole_way(card, graphs=entry(Account.GRAPHS, 0.55, 0.4, 0.8))


def unsure_at_capture() -> Forecast:
    """The same with so many graphs that nobody can tell whether they fit beside the pool."""
    card = device("NVIDIA GeForce RTX 4090", 23.53)
    return _whole_way(card, graphs=entry(Account.GRAPHS, 1.2, 0.5, 2.6))


def refused_at_one_request() -> Forecast:
    """A pool in which the longest request has no room; findings name the largest that has."""
    card = device("NVIDIA L4", 21.97)
    return _whole_way(card, graphs=entry(Account.GRAPHS, 0.55, 0.4, 0.8), longest=131_072)


def eight_ranks() -> Forecast:
    """Eight cards, one rank each; the poorest decides."""
    card = device("NVIDIA H100 80GB HBM3", 79.19)
    made = _whole_way(card, graphs=entry(Account.GRAPHS, 0.9, 0.6, 1.6), loaded=65.72, longest=16_384)
    return replace(made, model="meta-llama/Llama-3.1-405B-Instruct-FP8", count=8, rank=3)


def without_graph_profile() -> Forecast:
    """A release that charges no graphs."""
    card = device("NVIDIA A100-SXM4-80GB", 79.15)
    made = _whole_way(card, graphs=entry(Account.GRAPHS, 1.4, 0.9, 2.0))
    return replace(
        made,
        release="0.11.0",
        gates=tuple(gate for gate in made.gates if gate.step is not Step.GRAPH_PROFILE),
        skipped={Step.GRAPH_PROFILE: "vLLM 0.11.0 estimates no graphs before it sizes the pool"},
    )


def _whole_way(card: Device, *, graphs: Entry, loaded: float = 15.27, longest: int = 32_768) -> Forecast:
    share, stay, step = 0.92, weights(loaded), entry(Account.ACTIVATIONS, 0.75, 0.6, 1.1)
    spoken = stay.size + step.size + Bounds(gib(0.3))
    budget = Bounds(round(card.total * share))
    size = budget - spoken
    pool = Entry(account=Account.KV_POOL, size=size, basis=Basis.CALIBRATED, because="what the budget leaves")
    settled = Entry(account=Account.KV_POOL, size=Bounds(size.likely), basis=Basis.CALIBRATED, because="likely")
    likely = kv(size.likely // (36 * (64 << 10)), longest=longest)
    need = likely.need or Bytes(0)
    serving = (stay, settled, graphs, entry(Account.ACTIVATIONS, 0.2, 0.1, 0.4))
    asked = f"one request of {longest:,} tokens takes {need.up}"
    left = f"the pool has {size.low.down} to {size.high.down}"
    gates = (
        start_check(card, share),
        on_device(Step.LOAD, card, stay),
        on_device(Step.PROFILE, card, stay, step),
        on_device(Step.GRAPH_PROFILE, card, stay, graphs),
        compared(Step.POOL_SIZE, spoken, budget, stay, step, because=f"{spoken.likely.up} of {budget} are taken"),
        compared(Step.ONE_REQUEST, Bounds(need), size, stay, pool, because=f"{asked}, {left}"),
        on_device(Step.CAPTURE, card, stay, settled, graphs),
        on_device(Step.WARM_UP, card, *serving),
        on_device(Step.SERVING, card, *serving),
    )
    given = settings(gpu_memory_utilization=share, max_model_len=longest)
    return replace(forecast(card, gates, given), kv=likely, pool=size)


SIX: dict[str, tuple[Callable[[], Forecast], tuple[Finding, ...]]] = {
    "seed-crash": (seed_crash, seed_findings()),
    "fits": (fits, ()),
    "unsure-at-capture": (unsure_at_capture, ()),
    "refused-at-one-request": (refused_at_one_request, ()),
    "eight-ranks": (eight_ranks, ()),
    "without-graph-profile": (without_graph_profile, ()),
}
