"""What of a machine some releases of vLLM cannot bear: names of devices, and memory that is mapped piece by piece.

Knows since when and until when. Does not look at any machine: `diagnose` does.
"""

from typing import Final

from oomph.engines.history import Since

# Whether CUDA_VISIBLE_DEVICES may hold UUIDs; before, each word of it must be a number.
reads_uuids: Final = Since(
    {
        "0.6.0": False,  # platforms/cuda.py
        "0.24.0": True,  # platforms/cuda.py
    }
)

# Whether sleep mode refuses to start with expandable segments; since then it turns them off for its own pool.
sleep_refuses_segments: Final = Since(
    {
        "0.6.0": False,  # worker/worker.py
        "0.8.0": True,  # device_allocator/cumem.py
        "0.20.1": False,  # device_allocator/cumem.py
    }
)

# Whether a KV connector refuses to start with expandable segments.
connectors_refuse_segments: Final = Since(
    {
        "0.6.0": False,  # worker/worker.py
        "0.21.0": True,  # config/vllm.py
    }
)
