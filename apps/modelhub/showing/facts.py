"""What is known of a version, and its signature, as rows."""

from typing import Any

from django.utils.translation import gettext as _

from apps.common.formatting import file_size
from apps.modelhub.models import ModelVersion

Row = dict[str, Any]


def fact_rows(version: ModelVersion) -> list[Row]:
    """Rows of `components/kv.html`."""
    told = version.facts
    count = told.get("parameters")
    shared = _("%(size)s shared with earlier ones") % {"size": file_size(version.shared_bytes)}
    rows = [
        {
            "label": _("Format"),
            "value": version.get_format_display() if version.format else "",
            "sub": _made_with(told),
        },
        {"label": _("Framework"), "value": version.framework},
        {"label": _("Architecture"), "value": told.get("architecture", "")},
        {"label": _("Parameters"), "value": f"{count:,}" if count else "", "sub": told.get("precision", "")},
        {
            "label": _("Size"),
            "value": file_size(version.total_bytes) if version.is_ready else "",
            "sub": shared if version.shared_bytes else "",
        },
        {"label": _("Note"), "value": version.note},
    ]
    return [row for row in rows if row["value"]]


def _made_with(told: dict[str, Any]) -> str:
    opset = f"opset {told['opset']}" if told.get("opset") else ""
    return " · ".join(str(each) for each in (opset, told.get("version"), told.get("producer")) if each)


def signature_rows(version: ModelVersion) -> list[Row]:
    """One for each input, then each output."""
    sides = (("inputs", _("Input")), ("outputs", _("Output")))
    return [
        {"name": each["name"], "side": side, "type": each["datatype"], "shape": shape_of(each["shape"])}
        for key, side in sides
        for each in version.signature.get(key, ())
    ]


def shape_of(shape: list[int]) -> str:
    """As frameworks write it; "?" for a dimension that may be any."""
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"
