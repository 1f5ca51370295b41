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
