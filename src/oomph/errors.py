"""What a caller may catch.

    OomphError                 everything raised on purpose
    ├── UsageError             the question cannot be asked like this (exit status 2)
    │   ├── UnknownRelease     not a release of this engine, or older than what was read
    │   ├── UnknownFlag        no such flag in this release; carries the nearest one
    │   ├── UnknownDevice      no such device in the catalogue; carries the nearest one
    │   └── UnknownModel       neither a path here nor a model on the Hub
    └── UnreadableError        an input exists but cannot be read (exit status 3)
        └── UnknownArchitecture    a model of a kind that was never read; never guessed

Not fitting is a Verdict and a mistake in a set-up is a Finding: neither is raised.
"""


class OomphError(Exception):
    """Everything raised on purpose: says what was being done, what was met, and what to try."""


class UsageError(OomphError):
    """The question cannot be asked like this."""


class UnknownRelease(UsageError):  # noqa: N818 - reads as what happened: "except UnknownRelease"
    """Not a release of this engine, or older than what was read."""


class UnknownFlag(UsageError):  # noqa: N818 - likewise
    """No such flag in this release."""


class UnknownDevice(UsageError):  # noqa: N818 - likewise
    """No such device in the catalogue."""


class UnknownModel(UsageError):  # noqa: N818 - likewise
    """Neither a path here nor a model on the Hub."""


class UnreadableError(OomphError):
    """An input exists but cannot be read."""


class UnknownArchitecture(UnreadableError):  # noqa: N818 - likewise
    """A model of a kind that was never read."""
