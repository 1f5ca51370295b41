"""What is believed of each quantity before any record is looked at, and why.

A calibration starts from these three points, so that a quantity of which few records speak stays as wide as this.
"""

from typing import Final

from oomph.engines.vllm.measured.calibration import Calibration, Spread
from oomph.units import GIB, KIB, MIB

PRIOR: Final = Calibration(
    context=Spread(250 * MIB, 460 * MIB, 640 * MIB),  # L4 0.25 GiB, A100 0.41, L40S 0.49, H100 0.61: total less free
    connections=Spread(50 * MIB, 300 * MIB, 1 * GIB),  # NCCL's channels, a custom all-reduce, symmetric memory
    outside=Spread(0, 80 * MIB, 0.6 * GIB),  # kernels that are loaded while profiling
    talking=Spread(0, 200 * MIB, 1 * GIB),  # channels that are opened when they are first used
    recurrent=Spread(0, 0.2 * GIB, 4.5 * GIB),  # 3.8 GiB beside the context in one crash of 0.19.1, little in others
    unified=Spread(0.3 * GIB, 2.5 * GIB, 5 * GIB),  # and the host's own page cache
    forward=Spread(0.6, 1.1, 2.2),  # compiled code frees earlier, or keeps longer, than layer by layer
    sorted=Spread(26, 38, 42),  # values, indices, probabilities and sums of a sort, and its scratch
    selected=Spread(8, 13, 24),  # logits twice, probabilities, and a mask
    second=Spread(4, 10, 24),  # logits twice and what a first sample takes
    picture=Spread(0.3, 1.0, 3.5),  # eager towers; videos can be longer than the largest picture
    graph=Spread(100 * KIB, 310 * KIB, 800 * KIB),  # parameters of the kernels of one layer in one graph
    estimate=Spread(0.15, 1.0, 4.0),  # two sampled graphs stand for all
    fragments=Spread(0, 130 * MIB, 450 * MIB),  # reserved but unallocated in nine of ten out-of-memory messages
    unforeseen=Spread(-0.01, 0.0, 0.02),  # a first compilation, other processes coming and going, uneven ranks
    workspaces=Spread(0, 100 * MIB, 420 * MIB),  # attention kernels: up to 394 MiB (envs.py)
)
