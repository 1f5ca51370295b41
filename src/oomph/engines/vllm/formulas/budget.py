"""The memory budget: what the engine asks for at start, and what is left for KV after profiling.

Knows the arithmetic of `v1/worker/gpu_worker.py` and `utils/mem_utils.py`, and of the V0 worker before them. Does not
know how large any measured quantity is.
"""

import math
from dataclasses import dataclass

from oomph.units import Bytes


def requested_exactly(*, total: int, share: float) -> float:
    """What the engine may use, as a float: up to 0.13.0 the product was not rounded."""
    return total * share


def requested_rounded_up(*, total: int, share: float) -> int:
    """What the engine may use, in whole bytes."""
    return math.ceil(total * share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the engine measures from its first snapshot to the end of profiling, in bytes.

    Torch figures are of the caching allocator; `reserved` is what it took from the driver, `allocated` what is in use.
    """

    total: int
    free_at_start: int  # at the first snapshot of this instance
    free_after: int  # after profiling, garbage collected and cache emptied
    free_at_peak: int  # right after the profile run, cache not emptied
    reserved_at_start: int
    reserved_before: int  # before the profile run
    reserved_after: int
    weights: int  # what loading the model allocated
    allocated_before: int  # before the profile run, which is also the peak that the run starts from
    peak: int  # the highest allocated during the profile run
    allocated_after: int

    @property
    def non_torch_growth(self) -> int:
        """Growth of what is used on the device but not reserved by torch."""
        at_start = self.total - self.free_at_start - self.reserved_at_start
        after = self.total - self.free_after - self.reserved_after
        return after - at_start


def everything_taken_since_start(profile: Profile) -> int:
    """Non-KV memory by the device's free memory right after the run, so that torch's unused cache counts too."""
    return profile.free_at_start - profile.free_at_peak


def peak_and_all_else_on_device(profile: Profile) -> int:
    """Non-KV memory by torch's peak and whatever else is used on the device, whoever uses it."""
    used = profile.total - profile.free_after
    return profile.peak + max(0, used - profile.allocated_after)


def growth_and_peak(profile: Profile) -> int:
    """Non-KV memory by the growth of use outside the profile run's own cache, and the growth of torch's peak."""
    return (
        (profile.free_at_start - profile.free_after)
        - (profile.reserved_after - profile.reserved_before)
        + (profile.peak - profile.allocated_before)
    )


def weights_peak_and_non_torch(profile: Profile) -> int:
    """Non-KV memory as the sum of its parts: weights, growth of torch's peak, growth outside torch."""
    return profile.weights + (profile.peak - profile.allocated_before) + profile.non_torch_growth


def consumed_and_transient_peak(profile: Profile) -> int:
    """Non-KV memory by the fall of free memory, and what the run needed for a moment on top of that."""
    return (profile.free_at_start - profile.free_after) + (profile.peak - profile.allocated_after)


def available(*, requested: float, non_kv: int, graphs: int = 0) -> Bytes:
    """What is left for the KV pool; negative where nothing is."""
    return Bytes(int(requested - non_kv - graphs))
