"""Problems that `fit` is asked in tests, made from a number: small models, devices, releases, workloads."""

from dataclasses import replace
from math import prod
from random import Random
from typing import Final

from engines.vllm.models import HYBRID, LLAMA, ROUTED, hybrid
from oomph.architectures.registry import geometry
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.fit.choice import Choice
from oomph.fit.question import Question
from oomph.fit.search import PREFERENCES
from oomph.fit.space import Space
from oomph.fit.workload import Workload
from oomph.ledger.device import Capability, Device, Tenant
from oomph.ledger.lengths import Lengths
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bounds, Bytes

WINDOWED: Final = {
    "architectures": ["Gemma2ForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 3584,
    "intermediate_size": 14_336,
    "num_hidden_layers": 42,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "sliding_window": 4096,
    "vocab_size": 256_000,
    "max_position_embeddings": 8192,
}
LATENT: Final = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 2048,
    "intermediate_size": 10_944,
    "moe_intermediate_size": 1408,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 102_400,
    "max_position_embeddings": 32_768,
}
MODELS: Final = {
    name: Model(name=name, geometry=geometry(config))
    for name, config in (
        ("llama", LLAMA),
        ("hybrid", HYBRID),
        ("windowed", WINDOWED),
        ("routed", ROUTED),
        ("latent", LATENT),
    )
} | {"weighed": replace(hybrid(), name="weighed")}
RELEASES: Final = ("0.8.5", "0.11.2", "0.19.1", "0.20.2", "0.26.0", "0.32.0")
WEIGHTS: Final = {"llama": 15, "hybrid": 51, "windowed": 18, "routed": 57, "latent": 30, "weighed": 18}  # GiB, about
_CAPABILITIES: Final = (None, Capability(major=8, minor=0), Capability(major=9, minor=0), Capability(major=12, minor=0))
_GUESSES: Final = '{"method": "mtp", "num_speculative_tokens": 2}'
_TYPED: Final[tuple[tuple[str, tuple[Value, ...]], ...]] = (
    ("gpu_memory_utilization", (0.5, 0.8, 0.95)),
    ("max_num_seqs", (4, 64)),
    ("max_num_batched_tokens", (1024, 4096)),
    ("max_model_len", (7680, 8192)),
    ("enforce_eager", (True,)),
    ("kv_cache_dtype", ("fp8",)),
    ("enable_prefix_caching", (True, False)),
    ("num_gpu_blocks_override", (500, 4000)),
)


def workload(*, prompt: int, answer: int, users: int, prefix: int = 0, text_only: bool = False) -> Workload:
    """Of requests that are all as long."""
    return Workload(
        prompt=Lengths.given(prompt), answer=Lengths.given(answer), users=users, prefix=prefix, text_only=text_only
    )


def generated(number: int) -> Question:
    """The problem of this number: always the same."""
    dice = Random(number)  # noqa: S311 - chosen once, not secret
    name = dice.choice(tuple(MODELS))
    count = dice.choice((1, 1, 2, 4))
    prompt, answer = dice.choice((200, 1000, 3000, 6000)), dice.choice((50, 300, 1500))
    return Question(
        startup=Startup(
            flags=_flags(dice, name),
            model=MODELS[name],
            devices=_devices(dice, name, count),
            release=HISTORY.release(dice.choice(RELEASES)),
        ),
        workload=workload(
            prompt=prompt,
            answer=answer,
            users=round(2 ** dice.uniform(0, 9)),
            prefix=dice.choice((0, 0, prompt // 2)),
            text_only=dice.random() < 0.3,
        ),
        risk=dice.choice((Rest.SURE, Rest.SURE, Rest.LIKELY)),
        preference=dice.choice(PREFERENCES),
    )


def _devices(dice: Random, name: str, count: int) -> tuple[Device, ...]:
    """As many alike, mostly about as large as the model needs them; some are partly taken by others."""
    fitting = WEIGHTS[name] / count * dice.uniform(0.6, 2.2) + 1
    size = min(200.0, max(8.0, dice.choice((fitting, fitting, dice.uniform(8, 200)))))
    whole = Device(name="card", total=Bytes(round(size * GIB)), capability=dice.choice(_CAPABILITIES))
    if dice.random() < 0.7:
        return (whole,) * count
    most = whole.total - round(dice.uniform(0, 3) * GIB)
    least = most - round(dice.uniform(0, 1) * GIB)
    tenants = (Tenant(pid=1, name="desktop", holds=Bytes(whole.total - most)),)
    taken = replace(whole, free=Bounds(least, most), tenants=dice.choice(((), tenants)))
    return (taken, *(dice.choice((whole, taken)),) * (count - 1))


def _flags(dice: Random, name: str) -> Flags:
    """Mostly none; some typed by a user, who wants them to stay."""
    given: dict[str, Value] = {}
    while dice.random() < 0.3:
        flag, values = dice.choice(_TYPED)
        given[flag] = dice.choice(values)
    if name in {"hybrid", "weighed"} and dice.random() < 0.4:
        given["speculative_config"] = _GUESSES
    return Flags(given)


def thinned(space: Space, number: int, *, most: int) -> Space:
    """The same with fewer values of each lever, so few settings that all of them can be tried."""
    dice = Random(number)  # noqa: S311 - chosen once, not secret
    shares = _some(dice, space.shares, dice.randint(4, 8), always=(space.share,))
    choices = list(space.choices)
    while prod(len(choice.options) for choice in choices) * len(shares) > most:
        place = dice.choice([at for at, choice in enumerate(choices) if len(choice.options) > 1])
        choices[place] = _fewer(dice, choices[place])
    return replace(space, choices=tuple(choices), shares=shares)


def _some(dice: Random, values: tuple[float, ...], count: int, *, always: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sorted({*dice.sample(values, min(count, len(values))), *always}))


def _fewer(dice: Random, choice: Choice) -> Choice:
    """About half of them."""
    keep = set(dice.sample(range(len(choice.options)), -(-len(choice.options) // 2)))
    return replace(choice, options=tuple(option for at, option in enumerate(choice.options) if at in keep))
