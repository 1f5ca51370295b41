"""One rule, one file: its code and name from the file's name, its page from the docstring, its verdict from `check`.

Knows how rules are found. Does not know any.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from oomph.diagnose import rules as _rules
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a file of `rules` holds."""

    code: str  # KV001
    name: str  # pool-below-one-request
    cause: str  # by the name that the accuracy of explanations is counted with
    page: str
    check: Callable[[Case], Finding | None]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    names = sorted(module.name for module in pkgutil.iter_modules(_rules.__path__))
    return tuple(_rule(name) for name in names)


def _rule(name: str) -> Rule:
    module = import_module(f"{_rules.__name__}.{name}")
    code, _, condition = name.partition("_")
    return Rule(
        code=code.upper(),
        name=condition.replace("_", "-"),
        cause=module.CAUSE,
        page=module.__doc__ or "",
        check=module.check,
    )
