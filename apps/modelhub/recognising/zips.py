"""The names in a zip file, from its directory at the end: nothing is unpacked."""

import struct

from apps.modelhub.recognising.found import Found, Malformed
from apps.modelhub.recognising.reading import FileView

_TAIL = 22 + (64 << 10) - 1  # the end record with the longest comment
_MOST_DIRECTORY = 1 << 20
_END, _END64, _LOCATOR, _NAMED = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x01\x02"


def read(view: FileView) -> Found | None:
    """PyTorch's, Keras' and skops' files are zips, told apart by what is in them."""
    if view.size < 22 or view.head(4) != b"PK\x03\x04":
        return None
    known = names(view)
    last = {name.rpartition("/")[2] for name in known}
    if "data.pkl" in last:
        scripted = "constants.pkl" in last and any("/code/" in f"/{name}" for name in known)
        return Found("torchscript", "PyTorch") if scripted else Found("torch_pickle", "PyTorch", executes_code=True)
    if "schema.json" in known:
        return Found("skops", "scikit-learn")
    if {"config.json", "metadata.json"} <= known and "model.weights.h5" in known:
        return Found("keras", "Keras")
    return None


def names(view: FileView) -> set[str]:
    """Raises `Malformed`. Of a directory of more than 1 MiB, those in its first part."""
    start, size = _directory(view)
    listed = view.at(start, min(size, _MOST_DIRECTORY, max(0, view.size - start)))
    found: set[str] = set()
    at = 0
    while listed[at : at + 4] == _NAMED and at + 46 <= len(listed):
        view.budget.step()
        name, extra, comment = struct.unpack_from("<HHH", listed, at + 28)
        found.add(listed[at + 46 : at + 46 + name].decode(errors="replace"))
        at += 46 + name + extra + comment
    return found


def _directory(view: FileView) -> tuple[int, int]:
    """Where it is and how long; of large files in their own end record."""
    count = min(_TAIL, view.size)
    tail = view.at(view.size - count, count)
    place = tail.rfind(_END)
    if place < 0 or place + 22 > len(tail):
        raise Malformed("a zip without an end")
    size, start = struct.unpack_from("<II", tail, place + 12)
    if start != 0xFFFFFFFF and size != 0xFFFFFFFF:
        return start, size
    if place < 20 or tail[place - 20 : place - 16] != _LOCATOR:
        raise Malformed("a large zip without a locator")
    (where,) = struct.unpack_from("<Q", tail, place - 12)
    record = view.at(where, 56)
    if record[:4] != _END64:
        raise Malformed("a large zip without an end")
    size, start = struct.unpack_from("<QQ", record, 40)
    return start, size
