"""safetensors and GGUF: weights behind a header that says what they are."""

import struct
from collections import Counter
from contextlib import suppress
from typing import Any

from apps.modelhub.recognising.found import Found, Malformed, clean, facts_of
from apps.modelhub.recognising.reading import MOST_JSON, FileView, mapping

MOST_KEYS = 2_000
MOST_DIMENSIONS = 16


def read_safetensors(view: FileView) -> Found | None:
    """Eight bytes of length, then JSON: a name, type, shape and place for each tensor."""
    if view.size < 10:
        return None
    (length,) = struct.unpack("<Q", view.at(0, 8))
    if not 2 <= length <= min(MOST_JSON, view.size - 8) or view.at(8, 1) != b"{":
        return None
    header = mapping(view.json(8, length))
    told = header.pop("__metadata__", {})
    kinds: Counter[str] = Counter()
    for each in header.values():
        kinds[_kind(each)] += _count(each)
    framework = _FRAMEWORKS.get(clean(told.get("format")) if isinstance(told, dict) else "", "")
    kind = kinds.most_common(1)[0][0] if kinds else ""
    return Found("safetensors", framework, facts=facts_of(parameters=sum(kinds.values()), precision=kind))


_FRAMEWORKS = {"pt": "PyTorch", "tf": "TensorFlow", "flax": "Flax", "np": "NumPy", "mlx": "MLX"}


def _kind(tensor: Any) -> str:
    kind = mapping(tensor).get("dtype")
    if not isinstance(kind, str) or len(kind) > 12:
        raise Malformed("a tensor without a type")
    return kind


def _count(tensor: Any) -> int:
    shape = tensor.get("shape")
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise Malformed("a tensor without a shape")
    count = 1
    for size in shape:
        if not isinstance(size, int) or not 0 <= size < 1 << 48:
            raise Malformed("a dimension that is no size")
        count *= size
    return count


# Sizes of GGUF's value types in bytes; 8 is text, 9 an array.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_UNSIGNED = {0: "<B", 2: "<H", 4: "<I", 10: "<Q"}
_TEXT, _ARRAY = 8, 9
# general.file_type: what most of its tensors are quantised to, as llama.cpp calls it.
_QUANTISED = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 32: "BF16",
}  # fmt: skip


def read_gguf(view: FileView) -> Found | None:
    """Magic, versions and counts, then keys with values; arrays of a tokenizer's words are stepped over."""
    if view.size < 24 or view.head(4) != b"GGUF":
        return None
    version, tensors, keys = struct.unpack("<IQQ", view.at(4, 20))
    if not 2 <= version <= 100:
        return None
    found: dict[str, object] = {}
    with suppress(Malformed):  # what came before is known
        _read_keys(view, min(keys, MOST_KEYS), found)
    architecture = clean(found.get("general.architecture"))
    kind = found.get("general.file_type")
    facts = facts_of(
        version=version,
        tensors=tensors,
        architecture=architecture,
        model=found.get("general.name"),
        licence=found.get("general.license"),
        context=found.get(f"{architecture}.context_length"),
        precision=_QUANTISED.get(kind, "") if isinstance(kind, int) else "",
    )
    return Found("gguf", "llama.cpp", facts=facts)


def _read_keys(view: FileView, count: int, found: dict[str, object]) -> None:
    at = 24
    for _number in range(count):
        view.budget.step()
        key, at = _text(view, at)
        (kind,) = struct.unpack("<I", view.at(at, 4))
        value, at = _value(view, at + 4, kind)
        found[clean(key)] = value


def _value(view: FileView, at: int, kind: int) -> tuple[object, int]:
    if kind == _TEXT:
        return _text(view, at)
    if kind == _ARRAY:
        return None, _after_array(view, at)
    if kind not in _SIZES:
        raise Malformed("no such type of value")
    size = _SIZES[kind]
    if kind in _UNSIGNED:
        return struct.unpack(_UNSIGNED[kind], view.at(at, size))[0], at + size
    return None, at + size


def _after_array(view: FileView, at: int) -> int:
    kind, count = struct.unpack("<IQ", view.at(at, 12))
    at += 12
    if kind in _SIZES:
        return int(at + min(count, view.size) * _SIZES[kind])
    if kind != _TEXT:
        raise Malformed("arrays in arrays are not read")
    for _number in range(count):
        view.budget.step()
        (length,) = struct.unpack("<Q", view.at(at, 8))
        at += 8 + min(length, view.size)
    return at


def _text(view: FileView, at: int) -> tuple[bytes, int]:
    (length,) = struct.unpack("<Q", view.at(at, 8))
    if length > view.size:
        raise Malformed("text beyond the end")
    return view.at(at + 8, min(length, 800)), at + 8 + length
