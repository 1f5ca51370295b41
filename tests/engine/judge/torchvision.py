"""A package called torchvision with nothing in it, for transformers to find.

The image processors of transformers import torchvision at the top, and vLLM imports them for every model that can see.
None of it runs here. The package must be found before transformers is imported, because transformers remembers.
"""

import pathlib
import sys
import tempfile

_ANY_NAME = """
class _Any(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Any(name, (), {})
"""
_MODULES = (
    "__init__.py",
    "io/__init__.py",
    "ops/__init__.py",
    "transforms/__init__.py",
    "transforms/functional.py",
    "transforms/v2/__init__.py",
    "transforms/v2/functional.py",
)


def install() -> None:
    """Write the package to a scratch folder and put that on the path."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="oomph-torchvision-"))
    for name in _MODULES:
        file = folder / "torchvision" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_ANY_NAME + ('__version__ = "0.28.0"\n' if name == "__init__.py" else ""), encoding="utf-8")
    metadata = folder / "torchvision-0.28.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: torchvision\nVersion: 0.28.0\n", encoding="utf-8")
    sys.path.append(str(folder))
