"""The GPU that the engine believes it has. Knows one device per process; a parent process has none."""

from judge.parts import Part

_CHOSEN = []


def choose(name, capability, total, sms=132):
    """Decide, once and for the life of this process."""
    if _CHOSEN:
        message = "a process answers for one device only"
        raise RuntimeError(message)
    _CHOSEN.append(Part(name=name, capability=tuple(capability), total=total, sms=sms))


def chosen():
    """The device of this process."""
    if not _CHOSEN:
        message = "the engine asked for a device in a process that has none; import this module in a child"
        raise RuntimeError(message)
    return _CHOSEN[0]


def capability():
    """The chosen device's compute capability as the engine's own noun."""
    from vllm.platforms.interface import DeviceCapability

    return DeviceCapability(*chosen().capability)
