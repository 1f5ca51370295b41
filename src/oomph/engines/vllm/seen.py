"""What a start-up of the user's own measured, in place of what was calibrated on others'.

Knows which part each figure stands for. Does not know when a figure of one start-up holds for another: `learned` does.
"""

from dataclasses import replace

from oomph.engines.vllm.footprint import Footprint
from oomph.engines.vllm.rank import Rank
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.ledger.observed import Observed
from oomph.units import Bounds


def weights(observed: Observed, computed: Entry, place: int) -> Entry:
    """The weights as they were seen; as computed where nobody saw them."""
    seen = observed.weights
    if seen is None:
        return computed
    return Entry(account=Account.WEIGHTS, size=seen.at(place), basis=Basis.OBSERVED, because=seen.because)


def parts(observed: Observed, found: Footprint, place: int) -> Footprint:
    """The parts as they were seen, as far as they were."""
    if (seen := observed.outside) is not None:
        before = Bounds(found.before.likely)
        found = replace(found, before=before, outside=seen.at(place) - before)
    if (seen := observed.non_torch) is not None:
        found = replace(found, outside=seen.at(place))
    if (seen := observed.activations) is not None:
        found = replace(found, peak=seen.at(place))
    if (seen := observed.graph_estimate) is not None:
        found = replace(found, estimate=seen.at(place))
    if (seen := observed.graphs) is not None:
        found = replace(found, graphs=seen.at(place))
    return found


def pool(observed: Observed, found: Rank) -> Rank:
    """The pool as it was seen: then everything else is what it left."""
    if observed.pool is None or found.given is not None:
        return found
    return replace(found, taken=Bounds(found.budget) - observed.pool.at(found.place))
