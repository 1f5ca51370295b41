"""Imports what every release shares, then forks a judge per order.

Knows which libraries cost the time of a start. Does not know any release: no `vllm` may be imported here, because the
judges of several releases are forked from the same process.

An order is one message on the socket that is our stdin: a JSON object with `release` and `tree`, carrying three file
descriptors that become the judge's stdin, stdout and stderr. The reply is the judge's process id. We end when the
socket does.
"""

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

from judge import torchvision

_SHARED = (
    "numpy",
    "torch",
    "torch._dynamo",
    "torch._inductor.compile_fx",
    "torch._inductor.standalone_compile",
    "torch.distributed",
    "transformers",
    "transformers.processing_utils",
    "transformers.modeling_gguf_pytorch_utils",
    "huggingface_hub",
    "fastapi",
    "openai.types.responses",
    "openai.types.chat",
    "cbor2",
    "cloudpickle",
    "msgspec",
    "zmq",
    "PIL.Image",
    "pydantic",
    "regex",
    "cv2",
    "einops",
    "gguf",
    "jsonschema",
    "llguidance",
    "mistral_common",
    "numba",
    "openai_harmony",
    "prometheus_client",
    "requests",
    "sentencepiece",
    "setuptools",
    "tiktoken",
    "xgrammar",
)


def main() -> None:
    """Preload, then serve orders until the other side closes."""
    torchvision.install()
    for name in _SHARED:
        with contextlib.suppress(ImportError):  # a release that needs it will say so itself
            importlib.import_module(name)
    if "vllm" in sys.modules:
        message = "a shared library imported vllm; the judges would all be of the same release"
        raise RuntimeError(message)
    if sum(1 for _ in Path("/proc/self/task").iterdir()) > 1:
        message = "a shared library started a thread, which a fork would lose; take it out of the list"
        raise RuntimeError(message)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # judges are reaped by the kernel; the pipe tells who ended
    orders = socket.socket(fileno=os.dup(0))
    while True:
        text, ends, _, _ = socket.recv_fds(orders, 1 << 16, 3)
        if not text:
            return
        pid = os.fork()
        if pid == 0:
            orders.close()
            _become_judge(json.loads(text), ends)
        for end in ends:
            os.close(end)
        orders.send(str(pid).encode())


def _become_judge(order, ends) -> None:
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.path.insert(0, order["tree"])
    from judge import serve

    try:
        serve.main(order["release"], order["tree"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # the nursery's own clean-up is not ours to run


if __name__ == "__main__":
    main()
