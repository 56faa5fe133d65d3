"""What is found, as plain values that JSON and a database can hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_TEXT = 200


class Malformed(ValueError):
    """The bytes are not what this reader reads."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """As the Open Inference Protocol 2 describes one: -1 stands for a dimension that may be any."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """`format` is a value of `choices.Format`. `executes_code`: loading it runs code that the files contain."""

    format: str
    framework: str = ""
    executes_code: bool = False
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)

    def signature(self) -> dict[str, list[dict[str, object]]]:
        """`inputs` and `outputs` as JSON; empty where the files do not say."""
        if not self.inputs and not self.outputs:
            return {}
        return {"inputs": [_json(each) for each in self.inputs], "outputs": [_json(each) for each in self.outputs]}


def _json(tensor: Tensor) -> dict[str, object]:
    return {"name": tensor.name, "datatype": tensor.datatype, "shape": list(tensor.shape)}


def clean(text: object) -> str:
    """Text of a file as people may see it: printable, one line, not long; "" for what is no text."""
    if isinstance(text, bytes):
        text = text[: 4 * MOST_TEXT].decode(errors="replace")
    if not isinstance(text, str):
        return ""
    return "".join(each for each in text[:MOST_TEXT] if each.isprintable())


def facts_of(**values: object) -> dict[str, str | int]:
    """Those that say something: whole numbers below 2^63, and text."""
    found: dict[str, str | int] = {}
    for name, value in values.items():
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 63:
            found[name] = value
        elif isinstance(value, str | bytes) and (shown := clean(value)):
            found[name] = shown
    return found
