"""A command as a file of variables, for a shell or for systemd.

vLLM reads no flag from its environment, only the variables of its envs.py and those of the libraries below it. So the
model and the flags stand in two variables of our own, which whoever starts the engine puts behind `vllm serve`; the
comment on top says how. Quotes are a shell's, which systemd reads too (`EnvironmentFile=`); `docker run --env-file`
reads none, so for a container take the form docker.
"""

import re
import shlex
from typing import Final

from oomph.ledger.command import Command
from oomph.write.manifest.container import title
from oomph.write.manifest.words import arguments, environment

_MARKED: Final = re.compile(r'(["\\$`])')


def env_file(command: Command) -> str:
    """Lines of NAME="value"."""
    flags = " ".join(shlex.join(words) for words in arguments(command))
    pairs = {**environment(command), "MODEL": shlex.quote(command.model), "FLAGS": flags}
    lines = (
        f"# {title(command)}.",
        '# In a shell: set -a; . ./FILE; eval "exec vllm serve $MODEL $FLAGS"',
        "# In a unit of systemd: EnvironmentFile=/path/FILE and ExecStart=/path/vllm serve $MODEL $FLAGS",
        *(f'{name}="{_MARKED.sub(_escaped, value)}"' for name, value in pairs.items()),
    )
    return "\n".join((*lines, ""))


def _escaped(sign: re.Match[str]) -> str:
    return f"\\{sign[1]}"
