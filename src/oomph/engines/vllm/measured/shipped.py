"""The calibration that is shipped; written by `scripts/calibrate` from public start-ups."""

from typing import Final

from oomph.engines.vllm.measured.calibration import Calibration, Spread

SHIPPED: Final = Calibration(
    context=Spread(262_144_000, 482_344_960, 671_088_640),
    connections=Spread(52_428_800, 314_572_800, 1_073_741_824),
    outside=Spread(10_737_418, 42_949_673, 391_915_766),
    talking=Spread(0, 209_715_200, 1_073_741_824),
    recurrent=Spread(0, 214_748_365, 4_831_838_208),
    unified=Spread(929_196_152, 3_076_664_590, 4_874_325_669),
    forward=Spread(0.696, 1.1, 2.153),
    sorted=Spread(32.141, 38.401, 42.954),
    selected=Spread(8.763, 12.051, 21.8),
    second=Spread(4, 10, 24),
    picture=Spread(0.3, 1, 3.5),
    graph=Spread(132_365, 286_310, 820_413),
    estimate=Spread(0.138, 0.714, 3.106),
    fragments=Spread(0, 136_314_880, 471_859_200),
    unforeseen=Spread(-0.01, 0, 0.02),
    workspaces=Spread(0, 104_857_600, 440_401_920),
)
