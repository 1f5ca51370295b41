"""Stand-ins for objects of the engine that a question does not need whole.

Knows how to fail loudly: a part that the engine asks for and nobody faked is the judge's fault, and is named.
"""


class NotFakedError(AttributeError):
    """The engine looked at something the judge did not provide. Also what `hasattr` and `getattr` expect."""


class Part:
    """A namespace of exactly the given fields."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __getattr__(self, name):
        message = f"the engine read {name!r}; this part has only {sorted(self.__dict__)}"
        raise NotFakedError(message)


def nothing(*_args, **_kwargs):
    """Do nothing, whatever is asked."""
