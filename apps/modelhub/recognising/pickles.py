"""Pickles, plain or compressed as joblib writes them: never opened, but told by their first bytes and by names."""

import zlib

from apps.modelhub.recognising.found import Found
from apps.modelhub.recognising.reading import HEAD, FileView

_FRAMEWORKS = (
    (b"xgboost", "XGBoost"),
    (b"lightgbm", "LightGBM"),
    (b"catboost", "CatBoost"),
    (b"sklearn", "scikit-learn"),
    (b"torch", "PyTorch"),
    (b"joblib", "joblib"),
)


def read(view: FileView) -> Found | None:
    head = _unpacked(view.head())
    # The opcode of the protocol, its number, and a frame, a mark or an opcode that pushes something.
    if len(head) < 3 or head[0] != 0x80 or not 2 <= head[1] <= 5 or head[2] not in b"\x95]}(ccXq\x8c\x8aKJGNV\x8e":
        return None
    framework = next((name for module, name in _FRAMEWORKS if module in head), "")
    return Found("pickle", framework, executes_code=True)


def _unpacked(head: bytes) -> bytes:
    """Of zlib's or gzip's stream, its first bytes."""
    if head[:1] != b"\x78" and head[:2] != b"\x1f\x8b":
        return head
    try:
        return zlib.decompressobj(wbits=47).decompress(head, HEAD)
    except zlib.error:
        return b""
