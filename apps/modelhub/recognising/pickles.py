"""Pickles, plain or compressed as joblib writes them: never opened, but told by their first bytes and by names."""

import re
import zlib

from apps.modelhub.recognising.found import Found
from apps.modelhub.recognising.reading import HEAD, FileView

# Protocols 0 and 1 have no mark of their own; an instance begins with a module and a name on lines of their own.
_OLD = re.compile(rb"c[\w.]{1,200}\n[\w.]{1,200}\n")
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
    if not _OLD.match(head) and not _is_framed(head):
        return None
    framework = next((name for module, name in _FRAMEWORKS if module in head), "")
    return Found("pickle", framework, executes_code=True)


def _is_framed(head: bytes) -> bool:
    """The opcode of the protocol, its number, and a frame, a mark or an opcode that pushes something."""
    return len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5 and head[2] in b"\x95]}(cXq\x8c\x8aKJGNV\x8e"


def _unpacked(head: bytes) -> bytes:
    """Of zlib's or gzip's stream, its first bytes."""
    if head[:1] != b"\x78" and head[:2] != b"\x1f\x8b":
        return head
    try:
        return zlib.decompressobj(wbits=47).decompress(head, HEAD)
    except zlib.error:
        return b""
