from collections.abc import Callable

import pytest

from scouting.defaults import Attribute, Chosen, Constant, Entry, Numbers, Options, Parameter, Place, defaults
from scouting.options import Flag
from scouting.source import Package

Write = Callable[[dict[str, str]], Package]

MODULE = """
    from typing import Literal
    GiB = 1 << 30
    Dtype = Literal["auto", "fp8"]
    LIMIT = 4 * GiB
    LOOP = LOOP + 1
    ONLY_THERE = frozenset({"A"})
    LEVEL = {"compilation": {"mode": Mode.FULL}}
    try:
        SIZE = 256 * 1024
    except ImportError:
        SIZE = 0

    class CacheConfig:
        ratio: float = Field(default=0.92, gt=0)
        nothing: int

    class Args:
        def batch(self):
            if memory >= 70 * GiB:
                seqs = {UsageContext.LLM_CLASS: 1024}
            elif tpu:
                seqs = 64
            else:
                seqs = 256
            try:
                self.other = 2
            finally:
                pass

    def grouping(layers, watermark: float = 0.01):
        if big < small * 1.25:
            return 2
"""


def look(write: Write, *places: Place, flags: tuple[Flag, ...] = ()) -> str | None:
    found = defaults(write({"a.py": MODULE, "b.py": "x = 1"}), {"it": places}, flags)
    return next((each.value for each in found), None)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (Attribute("CacheConfig.ratio", ("a.py",)), "0.92"),
        (Attribute("CacheConfig.nothing", ("a.py",)), None),
        (Attribute("Missing.ratio", ("a.py",)), None),
        (Constant("LIMIT", ("a.py",)), str(4 * 2**30)),
        (Constant("ONLY_THERE", ("a.py",)), "frozenset({'A'})"),
        (Constant("SIZE", ("a.py",)), "262144"),
        (Constant("LOOP", ("a.py",)), "LOOP + 1"),
        (Entry("LEVEL", "mode", ("a.py",)), "Mode.FULL"),
        (Options("Dtype", ("a.py",)), "('auto', 'fp8')"),
        (Chosen("Args.batch", "seqs", ("a.py",)), "memory >= 70 * GiB: {LLM_CLASS: 1024}; tpu: 64; else: 256"),
        (Chosen("Args.batch", "self.other", ("a.py",)), "always: 2"),
        (Chosen("Args.batch", "nobody", ("a.py",)), None),
        (Numbers("grouping", ("a.py",)), "1.25"),
        (Parameter("grouping", "watermark", ("a.py",)), "0.01"),
        (Parameter("grouping", "layers", ("a.py",)), None),
        (Constant("LIMIT", ("missing.py",)), None),
    ],
)
def test_each_kind_of_place_is_read(write: Write, place: Place, value: str | None) -> None:
    assert look(write, place) == value


def test_the_first_place_that_knows_answers(write: Write) -> None:
    assert look(write, Constant("LIMIT", ("b.py",)), Constant("x", ("b.py",)), Constant("SIZE", ("a.py",))) == "1"


def test_choices_may_be_those_of_an_option(write: Write) -> None:
    flag = Flag(names=("--block-size",), choices=("8", "16"))

    assert look(write, Options("--block-size", ()), flags=(flag,)) == "('8', '16')"


def test_every_environment_variable_is_listed_with_its_fallback(write: Write) -> None:
    envs = """
        environment_variables: dict = {
            "VLLM_A": lambda: bool(int(os.getenv("VLLM_A", "1"))),
            "VLLM_B": lambda: os.environ.get("VLLM_B"),
            "VLLM_C": env_with_choices("VLLM_C", None, ["x"]),
            "VLLM_D": lambda: here(),
        }
    """
    found = defaults(write({"envs.py": envs}), {}, ())

    assert [(each.name, each.value) for each in found] == [
        ("env VLLM_A", "'1'"),
        ("env VLLM_B", "None"),
        ("env VLLM_C", "None"),
        ("env VLLM_D", "here()"),
    ]
