"""ONNX: a `ModelProto`. Weights and nodes are stepped over; inputs, outputs and versions are read."""

from collections.abc import Iterator

from apps.modelhub.recognising import protobuf
from apps.modelhub.recognising.found import Found, Malformed, Tensor, clean, facts_of
from apps.modelhub.recognising.protobuf import BYTES, VARINT, Field, fields
from apps.modelhub.recognising.reading import FileView

MOST_TENSORS = 200
_NO_SHAPE: tuple[int, ...] = ()
MOST_INITIALIZERS = 20_000
# TensorProto.DataType, as the Open Inference Protocol calls it.
_TYPES = {
    1: "FP32", 2: "UINT8", 3: "INT8", 4: "UINT16", 5: "INT16", 6: "INT32", 7: "INT64", 8: "BYTES", 9: "BOOL",
    10: "FP16", 11: "FP64", 12: "UINT32", 13: "UINT64", 16: "BF16",
}  # fmt: skip


def read(view: FileView) -> Found | None:
    """None where the first byte cannot be a `ModelProto`'s; they begin with the version of the format."""
    if view.size < 8 or view.head(1) != b"\x08":
        return None
    version = graph = None
    opset, producer = 0, b""
    for each in fields(view, 0, view.size):
        if each.number == 1 and each.wire == VARINT:
            version = each.value
        elif each.number == 2 and each.wire == BYTES:
            producer = protobuf.text(view, each)
        elif each.number == 7 and each.wire == BYTES:
            graph = each
        elif each.number == 8 and each.wire == BYTES:
            opset = max(opset, _opset(view, each))
    if version is None or not 1 <= version <= 100 or graph is None or not opset:
        return None
    inputs, outputs = _graph(view, graph)
    facts = facts_of(opset=opset, producer=producer)
    return Found("onnx", inputs=inputs, outputs=outputs, facts=facts)


def _opset(view: FileView, field: Field) -> int:
    """The version of ONNX's own operators; 0 for those of other domains."""
    domain, version = b"", 0
    for each in fields(view, field.start, field.end):
        if each.number == 1:
            domain = protobuf.text(view, each)
        elif each.number == 2:
            version = each.value
    return version if domain in (b"", b"ai.onnx") and version < 1000 else 0


def _graph(view: FileView, graph: Field) -> tuple[list[Tensor], list[Tensor]]:
    """Inputs without those that have a value of their own, as old exporters list weights, and outputs."""
    inputs: list[Field] = []
    outputs: list[Tensor] = []
    known: set[bytes] = set()
    for each in fields(view, graph.start, graph.end):
        if each.number == 5 and len(known) < MOST_INITIALIZERS:
            known.add(_name(view, each))
        elif each.number == 11 and len(inputs) < MOST_INITIALIZERS:
            inputs.append(each)
        elif each.number == 12 and len(outputs) < MOST_TENSORS:
            outputs.append(_tensor(view, each))
    asked = [each for each in inputs if _name(view, each, 1) not in known][:MOST_TENSORS]
    return [_tensor(view, each) for each in asked], outputs


def _name(view: FileView, field: Field, number: int = 8) -> bytes:
    """Of a `TensorProto`, or with 1 of a `ValueInfoProto`."""
    for each in fields(view, field.start, field.end):
        if each.number == number:
            return protobuf.text(view, each)
    return b""


def _tensor(view: FileView, field: Field) -> Tensor:
    name, kind, shape = b"", "BYTES", _NO_SHAPE
    for each in fields(view, field.start, field.end):
        if each.number == 1:
            name = protobuf.text(view, each)
        elif each.number == 2 and each.wire == BYTES:
            kind, shape = _type(view, each)
    return Tensor(clean(name), kind, shape)


def _type(view: FileView, field: Field) -> tuple[str, tuple[int, ...]]:
    """Of a `TypeProto`: its tensor's; sequences and maps have none that the protocol could name."""
    for each in fields(view, field.start, field.end):
        if each.number == 1 and each.wire == BYTES:
            element, shape = 0, _NO_SHAPE
            for part in fields(view, each.start, each.end):
                if part.number == 1:
                    element = part.value
                elif part.number == 2 and part.wire == BYTES:
                    shape = tuple(_dimensions(view, part))
            return _TYPES.get(element, "BYTES"), shape
    return "BYTES", _NO_SHAPE


def _dimensions(view: FileView, field: Field) -> Iterator[int]:
    for count, each in enumerate(fields(view, field.start, field.end)):
        if count >= 32:
            raise Malformed("more dimensions than there can be")
        if each.number == 1 and each.wire == BYTES:
            sizes = [part.value for part in fields(view, each.start, each.end) if part.number == 1]
            yield sizes[0] if sizes and 0 < sizes[0] < 1 << 62 else -1
