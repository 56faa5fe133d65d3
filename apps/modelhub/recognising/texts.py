"""Formats of text, and others told by their first bytes: PMML, LightGBM, XGBoost, PaddlePaddle, MindSpore, Keras."""

import re

from apps.modelhub.recognising import protobuf
from apps.modelhub.recognising.found import Found, facts_of
from apps.modelhub.recognising.protobuf import BYTES, fields
from apps.modelhub.recognising.reading import FileView

_PMML = re.compile(rb"<(?:\w{1,20}:)?PMML\b([^>]{0,2000})")
_PMML_VERSION = re.compile(rb"version\s{0,9}=\s{0,9}[\"']([\d.]{1,9})")
_TREES = re.compile(rb"^(version|max_feature_idx|num_class)=v?(\d{1,9})\s*$", re.MULTILINE)


def read_pmml(view: FileView) -> Found | None:
    """By its root element; the document is not parsed."""
    head = view.head(16 << 10).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"<") or (root := _PMML.search(head)) is None:
        return None
    version = _PMML_VERSION.search(root.group(1))
    return Found("pmml", facts=facts_of(version=version.group(1) if version else ""))


def read_lightgbm(view: FileView) -> Found | None:
    head = view.head(8 << 10)
    if not head.startswith((b"tree\nversion=", b"tree\r\nversion=")):
        return None
    told = {name.decode(): int(value) for name, value in _TREES.findall(head)}
    features = told["max_feature_idx"] + 1 if "max_feature_idx" in told else 0
    return Found("lightgbm", "LightGBM", facts=facts_of(features=features, classes=told.get("num_class", 0)))


def read_xgboost(view: FileView) -> Found | None:
    """JSON, UBJSON, or the older binary format."""
    head = view.head()
    if head.startswith(b"binf") and view.size > 200:
        return Found("xgboost", "XGBoost")
    if head[:1] == b"{" and b"learner" in head[:64] and b"gradient_booster" in head:
        return Found("xgboost", "XGBoost")
    return None


def read_keras(view: FileView) -> Found | None:
    """The older format: HDF5 that names the configuration of a model."""
    head = view.head()
    if head.startswith(b"\x89HDF\r\n\x1a\n") and (b"model_config" in head or b"model_weights" in head):
        return Found("keras", "Keras")
    return None


def read_mindspore(view: FileView) -> Found | None:
    """MindIR: a message that begins with its version as text and names who made it."""
    if view.size < 16 or view.head(1) != b"\x0a":
        return None
    version = producer = b""
    for count, each in enumerate(fields(view, 0, view.size)):
        if each.number == 1 and each.wire == BYTES:
            version = protobuf.text(view, each, 20)
        elif each.number == 2 and each.wire == BYTES:
            producer = protobuf.text(view, each, 40)
        if count >= 3 or producer:
            break
    if producer != b"MindSpore" or not re.fullmatch(rb"\d[\d.]*", version):
        return None
    return Found("mindspore", "MindSpore", facts=facts_of(version=version))
