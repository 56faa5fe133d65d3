"""A Jupyter notebook as plain data for a template: text and raster pictures only, nothing that could run."""

import base64
import binascii
import json
import os
import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.storage.roots import Root
from apps.storage.safe_open import open_file
from apps.storage.texts import read_all

MAX_NOTEBOOK = 8 << 20
MAX_CELLS = 500
MAX_TEXT = 20_000
MAX_PICTURE = 2 << 20
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


@dataclass(frozen=True, slots=True)
class Output:
    """Either `text` (with `failed` for a traceback) or `picture`, a data: address of a PNG or JPEG."""

    text: str = ""
    failed: bool = False
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """`kind` is `code`, `markdown` or `raw`; `number` of the execution, None where it was not run."""

    kind: str
    source: str
    number: int | None
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Notebook:
    cells: tuple[Cell, ...]
    language: str
    left_out: int


def read_notebook(root: Root, path: str) -> Notebook:
    """The notebook at `path`. Raises `Invalid` if it is not one or larger than 8 MiB, and `NotFound`."""
    descriptor = open_file(root.path, path)
    try:
        if os.fstat(descriptor).st_size > MAX_NOTEBOOK:
            raise Invalid.field("path", _("The notebook is larger than 8 MiB; download it to look at it."))
        data = read_all(descriptor, MAX_NOTEBOOK)
    finally:
        os.close(descriptor)
    return parse(data)


def parse(data: bytes) -> Notebook:
    """Format 4 of nbformat. Anything of an unexpected type is left out, never guessed."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Invalid.field("path", _("This is not a notebook.")) from error
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        raise Invalid.field("path", _("This is not a notebook of format 4."))
    shown = tuple(_cell(cell) for cell in cells[:MAX_CELLS] if isinstance(cell, dict))
    return Notebook(shown, _language(found), max(0, len(cells) - MAX_CELLS))


def _language(found: dict[str, Any]) -> str:
    metadata = found.get("metadata")
    spec = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = spec.get("display_name") if isinstance(spec, dict) else ""
    return name[:60] if isinstance(name, str) else ""


def _cell(cell: dict[str, Any]) -> Cell:
    kind = cell.get("cell_type")
    outputs, number = cell.get("outputs"), cell.get("execution_count")
    return Cell(
        kind=kind if kind in ("code", "markdown", "raw") else "raw",
        source=_text(cell.get("source")),
        number=number if isinstance(number, int) else None,
        outputs=tuple(filter(None, map(_output, outputs[:50]))) if isinstance(outputs, list) else (),
    )


def _output(output: object) -> Output | None:
    if not isinstance(output, dict):
        return None
    if output.get("output_type") == "error":
        return Output(_text(output.get("traceback"), "\n"), failed=True)
    if output.get("output_type") == "stream":
        return Output(_text(output.get("text")), failed=output.get("name") == "stderr")
    data = output.get("data")
    if not isinstance(data, dict):
        return None
    for kind in _MAGIC:
        if picture := _picture(kind, data.get(kind)):
            return Output(picture=picture)
    text = _text(data.get("text/plain"))
    return Output(text) if text else None


def _text(value: object, glue: str = "") -> str:
    """nbformat writes texts as one string or as a list of lines. Terminal colours are taken out."""
    if isinstance(value, list):
        value = glue.join(part for part in value if isinstance(part, str))
    return _ESCAPES.sub("", value)[:MAX_TEXT] if isinstance(value, str) else ""


def _picture(kind: str, value: object) -> str:
    """A data: address, of bytes that really are such a picture."""
    text = _joined(value)
    if not text or len(text) > MAX_PICTURE * 4 // 3:
        return ""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if data.startswith(_MAGIC[kind]) else ""


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
