"""One request while it is served: how far it is, and the blocks it holds."""

from dataclasses import dataclass, field

from oomph.engines.vllm.admission.workload import Request

UNMARKED = -1


@dataclass(slots=True, eq=False)
class Table:
    """The blocks of one request in one group, in the order of their tokens; block 0 stands for one that is gone."""

    blocks: list[int] = field(default_factory=list)
    marked: int = UNMARKED  # blocks that were considered for being remembered
    state: int | None = None  # the place of the state that the last step read
    retired: int = 0  # places that were looked at when freeing


@dataclass(slots=True, eq=False)
class Run:
    """One request between its arrival and its last token."""

    number: int
    user: int
    place: int  # of its user's requests
    request: Request
    limit: int  # tokens at which it ends
    tables: list[Table]
    tokens: int  # prompt, and answer so far
    computed: int = 0  # of them, or scheduled to be
    expected: int = 0  # tokens that steps under way will bring
    flying: int = 0  # tokens that steps under way compute
    stale: int = 0  # of those, how many were under way when it was preempted
    fork: int = 0  # where its prompt leaves those that others sent; 0: not known
    running: bool = False
    done: bool = False
    since: int = 0  # the step at which it began to wait
    seen: int = 0  # the step that its counts are of
    lonely: tuple[int, int] = (0, 0)  # how often it was thrown back though nobody else ran, with so many tokens
    arrived: int = 0
    admitted: int | None = None
    ended: int | None = None
    waited: int = 0
    preemptions: int = 0

    @property
    def prompt(self) -> int:
        """Tokens of its prompt."""
        return self.request.prompt_tokens

    def owner(self, end: int) -> int:
        """Whose the first so many tokens are: those of a shared prefix are its family's."""
        return -1 - self.request.family if end <= self.request.prefix_tokens else self.number
