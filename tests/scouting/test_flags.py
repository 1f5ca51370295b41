from collections.abc import Callable

import pytest

from scouting.flags import flags
from scouting.options import Flag
from scouting.source import Package

Write = Callable[[dict[str, str]], Package]

SERVE = """
    def make_arg_parser(parser):
        parser.add_argument("model_tag", type=str)
        parser.add_argument("--port", type=int, default=8000)
        parser = FrontendArgs.add_cli_args(parser)
        parser = AsyncEngineArgs.add_cli_args(parser)
        return parser
"""
CONFIG = """
    from dataclasses import dataclass
    from typing import Annotated, Any, Literal, Optional, Union

    BlockSize = Literal[8, 16]
    Wide = Literal["auto", BlockSize]

    @dataclass
    class Inner:
        depth: int = 1

    class Other:
        pass

    @dataclass
    class CacheConfig:
        LIMIT: int = 128
        block_size: Optional[BlockSize] = None
        wide: Wide = "auto"
        kv_cache_memory_bytes: int | None = None
        ratio: Annotated[float, "a note"] = Field(default=0.92, gt=0)
        limit: int = Field(default=LIMIT)
        enable_prefix_caching: bool | None = True
        layers: list[str] = field(default_factory=list)
        pair: tuple[int, int] = (1, 2)
        table: dict[str, Any] = field(default_factory=dict)
        inner: Inner = None
        named: str | Literal["a", "b"] = "a"
        token: bool | str | None = None
        other: Optional[Other] = None
        either: bool | Literal["a", "b"] = False
        dtype: Literal["auto", "half"] | torch.dtype = "auto"
        many: int = 4 * 1024**2
        shift: int = 1 << 10
        unseen: str = make()
"""
ENGINE = """
    import argparse
    import json
    from vllm.config import CacheConfig
    from vllm.config.cache import BlockSize

    def _compute_kwargs(cls):
        if name == "limit":
            pass
        elif name in ("many", "nothing"):
            kwargs[name]["type"] = human_readable_int

    def get_kwargs(cls):
        return _compute_kwargs(cls)

    class EngineArgs:
        block_size: int = CacheConfig.block_size
        ratio: float = CacheConfig.ratio
        layers: list[str] = get_field(CacheConfig, "layers")

        @staticmethod
        def add_cli_args(parser):
            cache_kwargs = get_kwargs(CacheConfig)
            group = parser.add_argument_group(title="CacheConfig")
%s
            return parser

    class AsyncEngineArgs(EngineArgs):
        @staticmethod
        def add_cli_args(parser, async_args_only=False):
            if not async_args_only:
                parser = EngineArgs.add_cli_args(parser)
            parser.add_argument("--disable-log-requests", action="store_true")
            return parser
"""
IMPORTS = "    from vllm.engine.arg_utils import AsyncEngineArgs\n"


def read(write: Write, *lines: str) -> dict[str, Flag]:
    engine = ENGINE.replace("%s", "\n".join(" " * 12 + line for line in lines))
    package = write(
        {
            "entrypoints/openai/cli_args.py": IMPORTS + SERVE,
            "engine/arg_utils.py": engine,
            "config/__init__.py": "from vllm.config.cache import CacheConfig",
            "config/cache.py": CONFIG,
        }
    )
    return {flag.names[0]: flag for flag in flags(package)}


def test_options_are_followed_from_the_server_through_both_classes(write: Write) -> None:
    found = read(write, 'group.add_argument("--block-size", type=int)')

    assert list(found) == ["--port", "--block-size", "--disable-log-requests"]
    assert found["--port"].file == "entrypoints/openai/cli_args.py"
    assert found["--block-size"].file == "engine/arg_utils.py"


def test_a_positional_is_not_an_option(write: Write) -> None:
    assert "model_tag" not in read(write)


@pytest.mark.parametrize(
    ("field", "kind", "nargs", "choices", "default"),
    [
        ("block_size", "choice", None, ("8", "16"), "None"),
        ("wide", "choice", None, ("auto", "8", "16"), "'auto'"),
        ("ratio", "float", None, (), "0.92"),
        ("limit", "int", None, (), "128"),
        ("enable_prefix_caching", "bool", "0", (), "True"),
        ("layers", "str", "+", (), "()"),
        ("pair", "int", "+", (), "(1, 2)"),
        ("table", "json", None, (), "()"),
        ("inner", "json", None, (), "None"),
        ("named", "str", None, (), "'a'"),
        ("token", "str", "?", (), "None"),
        ("other", "str", None, (), "None"),
        ("either", "bool", "0", (), "False"),
        ("dtype", "choice", None, ("auto", "half"), "'auto'"),
        ("many", "int", None, (), "4194304"),
        ("shift", "int", None, (), "1024"),
        ("unseen", "str", None, (), None),
    ],
)
def test_a_field_says_kind_and_default(  # one column for each thing a field says
    write: Write, field: str, kind: str, nargs: str | None, choices: tuple[str, ...], default: str | None
) -> None:
    found = read(write, f'group.add_argument("--it", **cache_kwargs["{field}"])')["--it"]

    assert (found.kind, found.nargs, found.choices, found.default) == (kind, nargs, choices, default)


def test_a_size_in_bytes_has_its_own_kind(write: Write) -> None:
    found = read(write, 'group.add_argument("--kv-cache-memory-bytes", **cache_kwargs["kv_cache_memory_bytes"])')

    assert found["--kv-cache-memory-bytes"].kind == "bytes"


def test_only_the_fields_that_the_release_lists_accept_sizes_as_people_write_them(write: Write) -> None:
    found = read(
        write,
        'group.add_argument("--many", **cache_kwargs["many"])',
        'group.add_argument("--limit", **cache_kwargs["limit"])',
        'group.add_argument("--shift", **cache_kwargs["shift"])',
    )

    assert {name: flag.human for name, flag in found.items() if flag.kind == "int" and name != "--port"} == {
        "--many": True,
        "--limit": True,
        "--shift": False,
    }


def test_a_boolean_field_brings_its_negation_for_every_long_name(write: Write) -> None:
    found = read(write, 'group.add_argument("-x", "--epc", "--cache", **cache_kwargs["enable_prefix_caching"])')

    assert found["--epc"].names == ("--epc", "--cache", "-x")
    assert found["--epc"].negations == ("--no-epc", "--no-cache")


def test_store_true_has_no_negation(write: Write) -> None:
    found = read(write)["--disable-log-requests"]

    assert (found.kind, found.nargs, found.negations, found.default) == ("bool", "0", (), "False")


def test_what_the_call_says_goes_over_what_the_field_says(write: Write) -> None:
    found = read(
        write,
        'cache_kwargs["ratio"]["type"] = optional_type(json.loads)',
        'del cache_kwargs["layers"]["nargs"]',
        'alone = cache_kwargs["shift"]',
        'alone["default"] = argparse.SUPPRESS',
        'group.add_argument("--ratio", **cache_kwargs["ratio"])',
        'group.add_argument("--layers", **cache_kwargs["layers"])',
        'group.add_argument("--shift", **alone)',
        'group.add_argument("--limit", **{**cache_kwargs["limit"], "default": None})',
    )

    assert found["--ratio"].kind == "json"
    assert found["--layers"].nargs is None
    assert found["--shift"].default is None
    assert found["--limit"].default == "None"


def test_defaults_are_followed_through_the_engine_arguments(write: Write) -> None:
    found = read(
        write,
        'parser.add_argument("--ratio", type=float, default=EngineArgs.ratio)',
        'parser.add_argument("--layers", type=nullable_str, nargs="+", default=EngineArgs.layers)',
        'parser.add_argument("--machine", type=int, default=16 if here() else 128)',
    )

    assert found["--ratio"].default == "0.92"
    assert (found["--layers"].default, found["--layers"].kind, found["--layers"].nargs) == ("()", "str", "+")
    assert found["--machine"].default is None


def test_choices_are_read_from_lists_and_from_named_literals(write: Write) -> None:
    found = read(
        write,
        'parser.add_argument("--one", type=int, choices=[8, 16])',
        'parser.add_argument("--two", choices=get_args(BlockSize))',
        'parser.add_argument("--three", type=str, choices=[f.value for f in Formats])',
    )

    assert (found["--one"].kind, found["--one"].choices) == ("choice", ("8", "16"))
    assert (found["--two"].kind, found["--two"].choices) == ("choice", ("8", "16"))
    assert (found["--three"].kind, found["--three"].choices) == ("choice", ())


def test_a_loop_over_a_table_adds_each_row(write: Write) -> None:
    found = read(
        write,
        'for arg, type in [("--old-backend", str), ("--old-switch", bool)]:',
        "    group.add_argument(arg, type=type, deprecated=True)",
    )

    assert (found["--old-backend"].kind, found["--old-switch"].kind) == ("str", "bool")


def test_a_frontend_class_adds_all_its_fields_and_those_of_its_base(write: Write) -> None:
    frontend = """
    from vllm.engine.arg_utils import AsyncEngineArgs

    @config
    class BaseFrontendArgs:
        allowed_origins: list[str] = field(default_factory=lambda: ["*"])

        @classmethod
        def _customize_cli_kwargs(cls, frontend_kwargs):
            frontend_kwargs["allowed_origins"]["type"] = json.loads
            del frontend_kwargs["allowed_origins"]["nargs"]
            return frontend_kwargs

        @classmethod
        def add_cli_args(cls, parser):
            frontend_kwargs = get_kwargs(cls)
            frontend_kwargs = cls._customize_cli_kwargs(frontend_kwargs)
            group = parser.add_argument_group(title="Frontend")
            for key, value in frontend_kwargs.items():
                group.add_argument(f"--{key.replace('_', '-')}", **value)
            return parser

    @config
    class FrontendArgs(BaseFrontendArgs):
        disable_docs: bool = False
    """
    package = write({"entrypoints/launchers/cli_args.py": frontend + SERVE, "engine/arg_utils.py": "x = 1"})
    found = {flag.names[0]: flag for flag in flags(package)}

    assert list(found) == ["--port", "--allowed-origins", "--disable-docs"]
    assert (found["--allowed-origins"].kind, found["--allowed-origins"].nargs) == ("json", None)
    assert found["--allowed-origins"].default == "('*',)"
    assert found["--disable-docs"].negations == ("--no-disable-docs",)


def test_of_the_older_command_file_only_the_serve_parser_counts(write: Write) -> None:
    scripts = """
    def main():
        serve_parser.add_argument("--config", type=str, default="")
        chat_parser.add_argument("--system-prompt", type=str)
        make_arg_parser(serve_parser)
    """

    assert [flag.names for flag in flags(write({"scripts.py": scripts}))] == [("--config",)]
