"""Forecasts and findings for hypothesis: any sizes, any verdicts, any names that a stranger may have chosen."""

from hypothesis import strategies as st

from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.kv import GraphProfile, KvGroup, KvPool
from oomph.ledger.ledger import Account, Basis, Entry, Ledger
from oomph.ledger.settings import Origin, Setting, Settings
from oomph.units import GIB, Bounds, Bytes
from strategies import bounds

HOSTILE = ["<script>alert(1)</script>", "[bold red]x[/]", "\x1b[31mred\x1b[0m", "a\nb", "\u202egnp.exe", "]]>&quot;'\""]
LONG = ["模型" * 30, "e\u0301" * 50, "W" * 300]
names = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE), st.sampled_from(LONG))
words = names.filter(bool)
small = st.integers(0, 200 * GIB)
near = st.lists(small, min_size=3, max_size=3).map(sorted).map(lambda three: Bounds(three[0], three[2], three[1]))
sizes = st.one_of(near, near, near, bounds)
entries = st.builds(Entry, account=st.sampled_from(Account), size=sizes, basis=st.sampled_from(Basis), because=words)
ledgers = st.lists(entries, max_size=6).map(lambda some: Ledger(tuple(some)))
flags = st.lists(words, max_size=3).map(tuple)
values = st.one_of(st.booleans(), st.none(), st.integers(), names, st.lists(st.integers(0, 512), max_size=5).map(tuple))
settings = st.dictionaries(
    words, st.builds(Setting, value=values, origin=st.sampled_from(Origin), because=names), max_size=4
).map(Settings)
devices = st.builds(Device, name=names, total=st.integers(1, 300 * GIB).map(Bytes))
byte_counts = st.integers(0, 1 << 40).map(Bytes)
counts = st.integers(0, 1 << 40)
groups = st.builds(KvGroup, layers=counts, block_tokens=counts, page=byte_counts)
pools = st.builds(
    KvPool,
    block_tokens=counts,
    page=byte_counts,
    tensors=counts,
    bytes_per_block=byte_counts,
    groups=st.lists(groups, max_size=3).map(tuple),
    blocks=st.none() | counts,
    tokens=st.none() | counts,
    concurrency=st.none() | st.floats(0, 1e6),
    need=st.none() | byte_counts,
)
profiles = st.builds(
    GraphProfile,
    blocks=counts,
    tensors=counts,
    tensor=byte_counts,
    total=byte_counts,
    fails=st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
)
remedies = st.builds(
    Remedy,
    change=st.dictionaries(words | st.just("release") | st.just("VLLM_X"), values, min_size=1, max_size=2),
    price=words,
    verdict=st.sampled_from(Verdict),
    spare=st.none() | sizes,
    fails_at=st.none() | st.sampled_from(Step),
)
findings = st.lists(
    st.builds(
        Finding,
        code=words,
        name=words,
        summary=words,
        evidence=flags,
        remedies=st.lists(remedies, max_size=3).map(tuple),
        unhelpful=st.none() | st.dictionaries(words, words, max_size=3),
    ),
    max_size=2,
).map(tuple)


def gate(step: Step) -> st.SearchStrategy[Gate]:
    return st.builds(Gate, step=st.just(step), needs=sizes, has=sizes, said=words, inert=flags, holds=ledgers)


@st.composite
def forecasts(draw: st.DrawFn) -> Forecast:
    met = draw(st.sets(st.sampled_from(Step)))
    skipped = draw(st.sets(st.sampled_from(Step))) - met
    return Forecast(
        engine="vLLM",
        release=draw(words),
        basis=draw(st.sampled_from(Basis)),
        model=draw(st.none() | names),
        device=draw(devices),
        count=draw(st.integers(1, 16)),
        rank=draw(st.integers(0, 15)),
        settings=draw(settings),
        gates=tuple(draw(gate(step)) for step in Step if step in met),
        skipped={step: draw(words) for step in Step if step in skipped},
        ledger=draw(ledgers),
        kv=draw(st.none() | pools),
        pool=draw(st.none() | sizes),
        graph_profile=draw(st.none() | profiles),
        warnings=draw(flags),
    )
