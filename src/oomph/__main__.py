"""`oomph`, and `python -m oomph`: brings up the command line."""

import gc
import sys
from importlib import import_module


def start() -> int:
    """Run the command line; while it is imported nothing is collected, because imports make objects and no garbage."""
    gc.disable()
    main = import_module("oomph.cli.main").main
    gc.enable()
    return int(main())


if __name__ == "__main__":
    sys.exit(start())
