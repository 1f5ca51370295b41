"""How many requests a pool holds, and how large a pool must be for so many: by hand, then each against the other."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fit.problems import MODELS, workload
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.fit.demand import Demand, demand
from oomph.fit.given import with_pool
from oomph.fit.held import enough, held
from oomph.fit.workload import Workload
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.kv import KvGroup, KvPool
from oomph.ledger.lengths import Lengths
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags
from oomph.units import GIB, MIB, Bounds, Bytes

PAGE = Bytes(2 * 8 * 128 * 2 * 16)  # keys and values of 8 heads of 128, in 16 bits, of 16 tokens
BLOCK = Bytes(32 * PAGE)  # of Llama 3.1 8B: 2 MiB
POOL = KvPool(
    block_tokens=16,
    page=PAGE,
    tensors=32,
    bytes_per_block=BLOCK,
    groups=(KvGroup(layers=32, block_tokens=16, page=PAGE),),
    blocks=1001,
    least=901,
)
WORK = workload(prompt=900, answer=100, users=8)  # 1,000 tokens: 63 blocks


def taken(work: Workload, *, shares: bool) -> tuple[int, int]:
    """Blocks that all requests share, and those of each."""
    found = demand(POOL, work, shares=shares)
    return found.shared, found.longest


def forecast_of(pool: KvPool | None, *, sequences: int = 256) -> Forecast:
    start = Startup(
        flags=Flags({"max_num_seqs": sequences}),
        model=MODELS["llama"],
        devices=(Device(name="card", total=Bytes(24 * GIB)),),
        release=HISTORY.release("0.32.0"),
    )
    return replace(start.forecast(), kv=pool)


def test_a_block_of_llama_8b_has_2_mib() -> None:
    assert BLOCK == 2 * MIB


def test_1000_blocks_hold_15_requests_of_63_and_900_hold_14() -> None:
    assert held(forecast_of(POOL), WORK, shares=False, risk=Rest.LIKELY) == 1000 // 63 == 15
    assert held(forecast_of(POOL), WORK, shares=False, risk=Rest.SURE) == 900 // 63 == 14


def test_the_block_that_is_never_handed_out_holds_nothing() -> None:
    just = replace(POOL, blocks=63 * 8 + 1)
    too_few = replace(POOL, blocks=63 * 8)

    assert held(forecast_of(just), WORK, shares=False, risk=Rest.LIKELY) == 8
    assert held(forecast_of(too_few), WORK, shares=False, risk=Rest.LIKELY) == 7


def test_no_more_requests_run_than_fit_in_a_batch() -> None:
    assert held(forecast_of(POOL, sequences=6), WORK, shares=False, risk=Rest.SURE) == 6


def test_a_shared_beginning_is_kept_once_where_prefixes_are_cached() -> None:
    alike = workload(prompt=900, answer=100, users=8, prefix=800)  # 50 whole blocks

    assert taken(alike, shares=True) == (50, 13)
    assert taken(alike, shares=False) == (0, 63)
    assert held(forecast_of(POOL), alike, shares=True, risk=Rest.LIKELY) == 950 // 13
    assert held(forecast_of(POOL), alike, shares=False, risk=Rest.LIKELY) == 15


def test_the_last_token_of_a_prompt_is_computed_anew_though_all_of_it_is_shared() -> None:
    whole = workload(prompt=800, answer=16, users=8, prefix=800)  # 50 blocks, of which 49 are shared

    assert taken(whole, shares=True) == (49, 2)


def test_a_request_takes_a_block_at_least() -> None:
    assert taken(workload(prompt=1, answer=0, users=1), shares=True) == (0, 1)


def test_without_a_pool_nothing_is_held() -> None:
    assert held(forecast_of(None), WORK, shares=False, risk=Rest.SURE) == 0
    assert held(forecast_of(replace(POOL, blocks=None, least=None)), WORK, shares=False, risk=Rest.LIKELY) == 0


def test_eight_requests_of_63_blocks_need_505_blocks() -> None:
    assert enough(POOL, WORK, 8, shares=False) == (1 + 8 * 63) * BLOCK


@settings(max_examples=200, deadline=None, derandomize=True)
@given(prompt=st.integers(1, 5000), prefix=st.integers(0, 900), users=st.integers(1, 300), shares=st.booleans())
def test_what_is_enough_holds_as_many_and_a_block_less_does_not(
    *, prompt: int, prefix: int, users: int, shares: bool
) -> None:
    work = workload(prompt=prompt, answer=10, users=users, prefix=min(prefix, prompt))
    blocks = enough(POOL, work, users, shares=shares) // BLOCK
    exact, short = (forecast_of(replace(POOL, blocks=count), sequences=1000) for count in (blocks, blocks - 1))

    assert held(exact, work, shares=shares, risk=Rest.LIKELY) == users
    assert held(short, work, shares=shares, risk=Rest.LIKELY) == users - 1


def test_requests_of_mixed_lengths_take_their_mean_and_a_margin_for_long_ones_that_meet() -> None:
    mixed = Demand(shared=10, longest=100, most=100, mean=50, spread=20)

    assert mixed.of(1) == 10 + 100  # one may be the longest
    assert mixed.of(4) == 10 + 324  # 4 × 50 + 3.09 × 20 × 2
    assert mixed.of(0) == 10
    assert mixed.held(333, most=256) == 3
    assert mixed.held(334, most=256) == 4
    assert mixed.held(10_000, most=6) == 6


def test_shorter_requests_beside_long_ones_never_take_more_than_if_all_were_long() -> None:
    long = workload(prompt=900, answer=100, users=8)
    half = replace(long, prompt=Lengths.given(900, p50=300))

    assert enough(POOL, half, 50, shares=False) < enough(POOL, long, 50, shares=False)
    assert enough(POOL, half, 1, shares=False) == enough(POOL, long, 1, shares=False)


def test_the_rank_of_which_least_is_known_decides_how_many_blocks_are_sure() -> None:
    known = Device(name="card", total=Bytes(24 * GIB), free=Bounds(20 * GIB))
    doubtful = replace(known, free=Bounds(20 * GIB, 23 * GIB))
    one = Startup(
        flags=Flags({"pipeline_parallel_size": 2, "max_model_len": 1024}),
        model=MODELS["llama"],
        devices=(known, known),
        release=HISTORY.release("0.20.2"),
    )
    sure, unsure = (replace(one, devices=(known, second)).forecast().kv for second in (known, doubtful))
    assert sure is not None
    assert unsure is not None
    assert sure.blocks is not None
    assert sure.least is not None
    assert unsure.least is not None

    assert unsure.least <= sure.least < sure.blocks


def test_a_pool_that_is_given_has_all_its_blocks_for_sure() -> None:
    kv = forecast_start("llama", max_model_len=1024).but({"kv_cache_memory_bytes": GIB}).forecast().kv

    assert kv is not None
    assert kv.least == kv.blocks == 512


def given_pool(start: Startup, users: int) -> int:
    return int(str(with_pool(start, WORK, users=users).flags["kv_cache_memory_bytes"]))


def test_a_given_pool_is_what_users_need_rounded_up_to_64_mib() -> None:
    start = forecast_start("llama", max_model_len=1024)

    assert given_pool(start, 8) == 16 * 64 * MIB  # 505 blocks of 2 MiB are 1,010 MiB
    assert given_pool(start, 80) == 158 * 64 * MIB  # 5,041 blocks are 10,082 MiB


def test_a_given_pool_holds_one_request_of_the_longest_length_and_a_block_besides() -> None:
    start = forecast_start("llama", max_model_len=32_768)  # 2,048 blocks: 4 GiB

    assert given_pool(start, 1) == 4 * GIB + 64 * MIB


def test_a_given_pool_holds_a_block_for_the_state_of_every_sequence() -> None:
    start = forecast_start("weighed", max_model_len=1024, max_num_seqs=64)
    eager = start.but({"enforce_eager": True})
    block = start.forecast().kv

    assert block is not None
    assert given_pool(start, 1) >= 64 * block.bytes_per_block
    assert given_pool(eager, 1) < 64 * block.bytes_per_block


def forecast_start(name: str, **flags: int) -> Startup:
    return Startup(
        flags=Flags(flags),
        model=MODELS[name],
        devices=(Device(name="card", total=Bytes(40 * GIB)),),
        release=HISTORY.release("0.20.2"),
    )
