"""Questions about the command line: how a number is read, and which options `vllm serve` has."""

import argparse
import importlib

# Where the release keeps the parser of `vllm serve`, newest first.
_PARSERS = ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")


def human_readable_int(text, *, auto=False):
    """The number that the engine reads from this text; with `auto`, by the reader of --max-model-len."""
    from vllm.engine import arg_utils

    reader = getattr(arg_utils, "human_readable_int_or_auto" if auto else "human_readable_int", None)
    if reader is None:
        message = "this release has no human_readable_int_or_auto"
        raise LookupError(message)
    return reader(text)


def flags():
    """Every option of `vllm serve`: its names, destination, default and choices, in the order of its help."""
    module = _parser_module()
    parser = module.make_arg_parser(module.FlexibleArgumentParser())
    return [_described(action) for action in parser._actions if action.option_strings]


class _Refused(Exception):  # noqa: N818 - what argparse would say before it ends the process
    """The parser's own words."""


def parsed(words):
    """What `vllm serve` makes of these words: every value that is not the default, or the words of its refusal."""
    module = _parser_module()
    top = module.FlexibleArgumentParser(prog="vllm")
    serve = top.add_subparsers(dest="subparser").add_parser("serve")
    module.make_arg_parser(serve)
    top.error = serve.error = _refuse
    try:
        found = vars(top.parse_args(["serve", *words]))
    except (_Refused, ValueError, OSError) as refused:
        return {"refused": str(refused)}
    said = {name: value for name, value in found.items() if value != serve.get_default(name)}
    return {"values": {name: _plain(value) for name, value in said.items() if name not in {"subparser", "config"}}}


def _refuse(message):
    raise _Refused(message)


def _plain(value):
    """A value as JSON can carry it; configurations of vLLM's own kinds are only named."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, set)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return f"<{type(value).__name__}>"


def _parser_module():
    for name in _PARSERS:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if missing.name is None or not name.startswith(missing.name):
                raise
    message = f"the parser of `vllm serve` is in none of {_PARSERS}"
    raise LookupError(message)


def _described(action):
    type_ = action.type
    return {
        "names": list(action.option_strings),
        "dest": action.dest,
        "default": None if action.default is argparse.SUPPRESS else repr(action.default),
        "choices": None if action.choices is None else [str(choice) for choice in action.choices],
        "type": None if type_ is None else getattr(type_, "__name__", type(type_).__name__),
        "action": type(action).__name__,
    }
