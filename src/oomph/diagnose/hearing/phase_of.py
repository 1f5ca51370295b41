"""What an engine was doing when it failed: by the sentence it failed with, the frames, and the last good sentence.

Knows the order in which these are asked. Does not know which name belongs to which phase: `phase_names`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from oomph.diagnose.case import Case, Frame, Phase
from oomph.diagnose.finding import Said
from oomph.diagnose.grounds.capturing import past_profile
from oomph.diagnose.hearing.phase_names import (
    ABORTED,
    BARE,
    FILES,
    FUNCTIONS,
    GRAPHS_PROFILED,
    HOST,
    LOOPS,
    NEXT,
    NOT_UP,
    ON_DEVICE,
    REPORTED,
    SAID_BEFORE,
    SENTENCES,
    UP,
    Table,
)
from oomph.engines.traceback import frame_in
from oomph.engines.vllm.lines import spoken
from oomph.engines.vllm.sites import Site, site
from oomph.ledger.observation import Quantity
from oomph.units import MIB, Bounds

_BUILT: Final = re.compile(r".*model_executor/(?:models|layers)/.{1,80}:__init__")  # while the model is made
_CALL: Final = re.compile(r"\bself\.(?P<of>model_runner\.|worker\.|model_executor\.)?(?P<name>\w{4,60})\(")
_CODE: Final = 200  # characters of a line of source
# The worker itself calls these only after graphs are captured; the profile calls them inside the runner.
_AFTER_CAPTURE: Final = frozenset({"_dummy_sampler_run", "_dummy_pooler_run"})
_LARGE: Final = 0.125  # of a device, in one request
_DRAFTS: Final = ("speculative_model", "speculative_config", "num_speculative_tokens")
_SERVING: Final = frozenset({Phase.SERVING_PREFILL, Phase.SERVING_DECODE})
_ASLEEP: Final = 0.5  # of what is allocated, in private pools: that is sleep mode's, not of graphs


def phase_of(case: Case) -> tuple[Phase | None, bool]:
    """The phase, and whether it is only assumed because nothing shows it."""
    for asked in (_host, _sentence, _frames, _spent, _told_by, _growing, _served, _last_good):
        phase = asked(case)
        if phase is not None and not (phase in _SERVING and _starting(case)):
            return phase, False
    usual = _graphs(case) or _large(case) or (Phase.PROFILE if _forward(case) else None)
    if usual is None and case.failure is not None and not case.failure.frames:
        usual = _first(BARE, case.failure.said.text)
    return usual, usual is not None


def _host(case: Case) -> Phase | None:
    """The kernel, or who speaks for it, says that the host ran out."""
    texts = (failure.said.text for failure in case.failures)
    return next((Phase.HOST for text in texts if HOST.search(text) and not ON_DEVICE.search(text)), None)


def _sentence(case: Case) -> Phase | None:
    """What it failed with is said in one phase only."""
    found = (_first(SENTENCES, failure.said.text) for failure in case.failures)
    return next(filter(None, found), None) or (Phase.SERVING_PREFILL if case.line(ABORTED) is not None else None)


def _frames(case: Case) -> Phase | None:
    """A function on the way to the failure is called in one phase only."""
    told = [frame for failure in case.failures for frame in failure.frames]
    for frames in (told, list(_all_frames(case))):
        if (phase := _by_frames(case, frames)) is not None:
            return phase
    return _by_frames(case, list(_quoted(case)))


def _all_frames(case: Case) -> Iterator[Frame]:
    for said in case.log:
        if (found := frame_in(said.text)) is not None:
            yield Frame(file=found[0], function=found[1], line=said.line)


def _quoted(case: Case) -> Iterator[Frame]:
    """What the lines of source below frames call, where the frame itself was not pasted."""
    for said in case.log:
        for found in _CALL.finditer(said.text, 0, _CODE):
            of_worker = found["of"] == "model_runner." and found["name"] in _AFTER_CAPTURE
            name = "compile_or_warm_up_model" if of_worker else found["name"]
            yield Frame(file="", function=name, line=said.line)


def _by_frames(case: Case, frames: list[Frame]) -> Phase | None:
    """The first name of the table that is there."""
    places = {f"{frame.file}:{frame.function}" for frame in frames}
    for name, phase in FUNCTIONS:
        if any(place.endswith(name) for place in places):
            return _nearer(case, name, phase)
    return Phase.LOAD if any(_BUILT.fullmatch(place) for place in places) else None


def _nearer(case: Case, name: str, phase: Phase) -> Phase:
    """Where one function is called in two phases, what is on the device tells them apart."""
    if name in {":initialize_from_config", ":_initialize_kv_caches"} and _captured(case):
        return Phase.WARM_UP
    if phase is Phase.KV_ALLOC and "kv_cache" in name and _above_budget(case):
        return Phase.GRAPH_PROFILE
    if phase is Phase.PROFILE and "determine_available_memory" in name and case.line(GRAPHS_PROFILED) is not None:
        return Phase.GRAPH_PROFILE
    if phase is Phase.PROFILE and name.startswith(":_dummy") and (_captured(case) or case.spoken("graphs captured")):
        return Phase.WARM_UP
    if phase is Phase.SERVING_PREFILL and name.startswith("fla/") and case.spoken("weights") and not case.served:
        return Phase.PROFILE if case.spoken("pool") is None else Phase.SERVING_PREFILL
    return phase


def _captured(case: Case) -> bool:
    """Whether graphs were there already: torch tells of private pools, and they are not those of sleep mode."""
    private, allocated = case.size(Quantity.PRIVATE), case.size(Quantity.ALLOCATED)
    if private is None:
        return False
    return allocated is None or private.likely < _ASLEEP * allocated.likely


def _above_budget(case: Case) -> bool:
    """A pool that was sized by a budget never asks for more than the device has; the throw-away one does."""
    tried, total = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_TOTAL)
    allocated = case.size(Quantity.ALLOCATED)
    if tried is None or total is None or allocated is None or case.spoken("pool") is not None:
        return False
    profiled = case.release is None or bool(spoken("graphs profiled", case.release))
    return profiled and not case.flags.get("enforce_eager") and allocated.likely + tried.likely > total.likely


def _spent(case: Case) -> Phase | None:
    """The profile of vLLM left nothing, or measured nothing."""
    if case.engine not in {None, "vLLM"}:
        return None
    pools = () if case.observation is None else case.observation.sizes(Quantity.POOL)
    if any(pool.high <= 0 for pool in pools):
        return Phase.PROFILE
    weights = case.size(Quantity.WEIGHTS)
    return Phase.KV_ALLOC if weights is not None and weights.high < MIB and case.failures else None


def _told_by(case: Case) -> Phase | None:
    """A worker that failed to start had no weights yet; some files log only once requests are served."""
    files = [said.file for said in _told(case)]
    if any(site(file, case.release) is Site.LOADING for file in files) and not _up(case):
        return Phase.LOAD
    return Phase.SERVING_PREFILL if any(file.startswith(FILES) for file in files) else None


def _told(case: Case) -> Iterator[Said]:
    """The lines of a traceback."""
    yield from (failure.said for failure in case.failures)
    yield from (said for said in case.log if said.file and frame_in(said.text) is not None)


def _starting(case: Case) -> bool:
    """Whether it was not up yet: by what it says of that, by its frames, and last by the number of who tells."""
    if _up(case):
        return False
    return case.line(NOT_UP) is not None or any(
        site(said.file, case.release) in {Site.STARTING, Site.LOADING} for said in _told(case)
    )


def _up(case: Case) -> bool:
    """Whether it says, or its frames show, that it was up."""
    if case.line(UP) is not None:
        return True
    frames = (frame for failure in case.failures for frame in failure.frames)
    return case.line(NOT_UP) is None and (case.served or any(frame.function in LOOPS for frame in frames))


def _growing(case: Case) -> Phase | None:
    """It slept again and again, and each time more was still in use."""
    lines = () if case.observation is None else case.observation.lines
    held = [held for line in lines if line.name == "slept" and isinstance(held := line.figures.get("held"), Bounds)]
    grows = len(held) > 1 and all(before.high < after.low for before, after in pairwise(held))
    return Phase.IDLE_GROWTH if grows else None


def _served(case: Case) -> Phase | None:
    failed = bool(case.failures) or case.line(REPORTED) is not None
    return Phase.SERVING_PREFILL if case.served and failed else None


def _last_good(case: Case) -> Phase | None:
    """What comes after the last thing that it said, before it failed."""
    if case.served and not case.failures:
        return None
    lines = () if case.observation is None else case.observation.lines
    names = {line.line: line.name for line in lines if line.name in NEXT}
    for said in reversed(list(_before(case))):
        phase = NEXT.get(names.get(said.line, "")) or _first(SAID_BEFORE, said.text)
        if phase is not None:
            served = phase is not Phase.GRAPH_CAPTURE and _captured(case) and _forward(case)
            captured = phase is Phase.PROFILE and past_profile(case)
            return Phase.SERVING_PREFILL if served else Phase.GRAPH_CAPTURE if captured else phase
    return None


def _before(case: Case) -> Iterator[Said]:
    """The lines up to the failure, and with it."""
    for said in case.log:
        yield said
        if case.failure is not None and said == case.failure.said:
            return


def _first(table: Table, text: str) -> Phase | None:
    return next((phase for words, phase in table if words.search(text)), None)


def _forward(case: Case) -> bool:
    """Whether a model was running."""
    return any(frame.function == "forward" for frame in _all_frames(case))


def _graphs(case: Case) -> Phase | None:
    """Graphs are there, so it had started; where it drafts, it decodes most of the time."""
    drafts = any(name in case.flags for name in _DRAFTS)
    return (Phase.SERVING_DECODE if drafts else Phase.SERVING_PREFILL) if _captured(case) else None


def _large(case: Case) -> Phase | None:
    """Much was asked for at once: no weight is that large, but what a profile computes may be."""
    tried, total = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_TOTAL)
    return Phase.PROFILE if tried is not None and total is not None and tried.low > _LARGE * total.high else None
