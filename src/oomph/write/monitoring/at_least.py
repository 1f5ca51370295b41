"""Whole numbers from a given one on, as a regular expression: PromQL compares labels by nothing else."""


def at_least(number: int) -> str:
    """Matches, whole, every number written in decimal digits that is not below this one, which is at least 1."""
    digits = str(number)
    longer = f"[1-9][0-9]{{{len(digits)},}}"
    ways = [_above(digits, place) for place in range(len(digits)) if digits[place] != "9"]
    return "|".join([digits, *reversed(ways), longer])


def _above(digits: str, place: int) -> str:
    """The same digits up to this place, a larger one there, and any behind it."""
    larger = f"[{int(digits[place]) + 1}-9]"
    behind = len(digits) - place - 1
    return f"{digits[:place]}{larger}" + (f"[0-9]{{{behind}}}" if behind else "")
