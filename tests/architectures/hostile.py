"""Broken configs by the thousand: real and small ones, changed at random places, through everything that reads them.

Knows how to break a config, and what must hold however it is broken: an answer or one of our errors, soon, and in
little memory. Run as a program it does so in a process of its own, whose memory is limited; the arguments are a seed,
a number of cases, and files with configs.
"""

import json
import resource
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Final, cast

from architectures.small_configs import SMALL, Config
from oomph.architectures.registry import FILES, geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.history import release
from oomph.engines.vllm import kv
from oomph.engines.vllm.resolve import resolve
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import parameters, total
from oomph.errors import OomphError
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.geometry import Geometry
from oomph.ledger.settings import Flags
from oomph.units import GIB, MIB, Bytes

MEMORY: Final = 64 * MIB  # that all cases together may add to the process
SECONDS: Final = 5.0  # for one case; a usual one takes a thousandth of that
_OF_SMALL: Final = 0.5  # of all cases: they are read soonest
RELEASES: Final = tuple(map(release, ("0.11.0", "0.19.1", "0.26.0", "0.32.0")))
NAMES: Final = sorted({name for names in FILES.values() for name in names})


def _nested(depth: int) -> object:
    found: object = 1
    for _ in range(depth):
        found = [found]
    return found


VALUES: Final[tuple[object, ...]] = (
    *(None, True, False, 0, 1, 2, 3, 7, -1, -(10**9), 10**9, 2**31, 2**31 - 1, 2**63, 10**30, 10**4000),
    *(0.5, 1.0, 2.5, -1.5, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "float32", "fp8", "sliding_attention", "full_attention", "linear_attention", "7", "9" * 5000, "\ud800"),
    *(["re:(.|.)*x$"], ["re:" + ".*" * 9 + "x$"], ["re:" + ".?" * 30 + "x"], ["re:("], ["*" * 40]),
    *([], [1], [0] * 5000, [None, 1], ["x", 2], [[[]]], [-1, 10**9], [1.5, float("nan")], _nested(900)),
    *({}, {"a": {}}, {"hidden_size": []}, {"": None}, {"text_config": {"text_config": {}}}),
)


def broken(sources: list[Config], seed: int) -> Config:
    """One config, changed in one to five places."""
    random = Random(seed)  # noqa: S311 - the same cases every time
    found = cast("Config", _copy(random.choice(SMALL if random.random() < _OF_SMALL else sources)))
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        _change(found, sources, random)
    return found


def _copy(value: object) -> object:
    """Deep, and far faster than the library's, because there is only what JSON has."""
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def _change(config: Config, sources: list[Config], random: Random) -> None:
    place = config
    while (inner := [each for each in place.values() if isinstance(each, dict) and each]) and random.random() < 0.7:
        place = random.choice(inner)
    name = random.choice(list(place)) if place else "hidden_size"
    match random.randrange(8):
        case 0:
            place.pop(name, None)
        case 1 | 2 | 3:
            place[name] = random.choice(VALUES)
        case 4:
            place[name] = _near(place.get(name), random)
        case 5:
            config["architectures"] = [random.choice(NAMES)]
        case 6:
            other = random.choice(sources)
            place.update({key: _copy(other[key]) for key in random.sample(list(other), min(4, len(other)))})
        case 7:
            place[name] = place.get(random.choice(list(place))) if place else place


def _near(value: object, random: Random) -> object:
    """Something of the same kind that is likely to be read, and unlikely to fit the rest."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return random.choice((value + 1, value - 1, value * 2, value * 1000, -value, value // 2, 0.3 * min(value, 9)))
    if isinstance(value, list) and value:
        changed = list(value)
        changed[random.randrange(len(changed))] = random.choice(VALUES)
        return random.choice((value[:-1], value * 3, value[::-1], changed, value * 200))
    return [value]


def through(config: Mapping[str, object], seed: int) -> str:
    """Read, weigh and plan: what became of it. Raises what is not one of our errors."""
    random = Random(seed)  # noqa: S311 - the same cases every time
    ranks = Ranks(tensor=random.choice((1, 1, 2, 8)), pipeline=random.choice((1, 1, 3)))
    try:
        found = geometry(config)
    except OomphError:
        return "refused"
    parameters(found)
    return f"{_weighed(found, config, ranks)}, {_planned(found, ranks, random)}"


def _weighed(found: Geometry, config: Mapping[str, object], ranks: Ranks) -> str:
    try:
        total(found, ranks, quantization=quantization(config))
    except OomphError:
        return "not weighed"
    return "weighed"


def _planned(found: Geometry, ranks: Ranks, random: Random) -> str:
    asked, device = random.choice(RELEASES), CATALOGUE[random.choice(("rtx-3090", "h100-80gb", "b200"))]
    flags = Flags(
        {
            "tensor_parallel_size": ranks.tensor,
            "kv_cache_dtype": random.choice(("auto", "fp8")),
            "block_size": random.choice((None, 32)),
            "speculative_config": random.choice((None, '{"method": "mtp", "num_speculative_tokens": 3}')),
        }
    )
    try:
        settings = resolve(flags, device=device, release=asked, context_tokens=found.context_tokens)
        kept = kv.kept(found, flags, settings, device=device, release=asked)
        kv.pool(kept, asked, available=random.choice((Bytes(GIB), Bytes(40 * GIB))))
        kv.graph_profile(kept, settings, asked)
    except OomphError:
        return "not planned"
    return "planned"


# --- as a program


def _limit_memory() -> None:
    """To what the process has now, and no more than that."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _too_slow(*_: object) -> None:
    message = f"not done after {SECONDS:g} s"
    raise TimeoutError(message)


def main(seed: int, cases: int, files: list[str]) -> None:
    """Print how often each outcome was met, and every case that ended otherwise."""
    sources = [*SMALL, *(json.loads(Path(file).read_text()) for file in files)]
    for name in FILES:
        import_module(f"oomph.architectures.{name}")  # so that only configs can cost memory
    outcomes: Counter[str] = Counter()
    crashes = []
    signal.signal(signal.SIGALRM, _too_slow)
    _limit_memory()
    for case in range(seed, seed + cases):
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            outcomes[through(broken(sources, case), case)] += 1
        except Exception:  # noqa: BLE001 - whatever is not ours is what this program looks for
            outcomes["crashed"] += 1
            crashes.append(f"case {case}: {traceback.format_exc(limit=-3)}")
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"outcomes": outcomes, "crashes": crashes[:20]}))  # noqa: T201 - a program's answer


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
