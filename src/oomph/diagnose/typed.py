"""A change of one flag, as it is typed, in words of a sentence."""

from oomph.ledger.settings import Value


def written(flag: str) -> str:
    """The flag's name as it stands on a command line."""
    return "--" + flag.replace("_", "-")


def typed(flag: str, value: Value) -> str:
    """With its value; a flag that is left out is said to be."""
    if value is None:
        return f"no {written(flag)}"
    return written(flag) if value is True else f"{written(flag)} {value}"
