"""Logos and icons that an administrator uploads: checked by content, re-encoded, and stored under their hash.

A raster picture is decoded and encoded again, so that only its pixels survive. An SVG is a document that can hold
scripts: only elements and attributes that draw are copied into a new one.
"""

import hashlib
import io
import os
import re
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from PIL import Image, UnidentifiedImageError

from apps.common.errors import Invalid, NotFound
from apps.notifications.svg import sanitized_svg

MAX_BYTES = 512 * 1024
MAX_SIDE = 4096  # of what is decoded
KEPT_SIDE = 512  # of what is kept: twice what the largest place needs
NAME = re.compile(r"[0-9a-f]{32}\.(png|svg)\Z")
TYPES = {"png": "image/png", "svg": "image/svg+xml"}


def store_picture(content: bytes) -> str:
    """Store a PNG, JPEG or SVG and return its name. Raises `Invalid`."""
    if len(content) > MAX_BYTES:
        raise Invalid(_("This file is too large: 512 KB at most."))
    is_svg = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    clean, kind = (sanitized_svg(content), "svg") if is_svg else (_raster(content), "png")
    name = f"{hashlib.sha256(clean).hexdigest()[:32]}.{kind}"
    _store(_folder() / name, clean)
    return name


def read_picture(name: str) -> tuple[bytes, str]:
    """The picture and its media type; raises `NotFound`."""
    if not NAME.match(name):
        raise NotFound
    try:
        return (_folder() / name).read_bytes(), TYPES[name.rpartition(".")[2]]
    except OSError:
        raise NotFound from None


def path_of(name: str) -> str:
    """The path of its URL; empty if there is no picture."""
    return f"/brand/{name}" if name else ""


def _raster(content: bytes) -> bytes:
    refused = Invalid(_("This is not a PNG, JPEG or SVG picture."))
    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as picture:
            if max(picture.size) > MAX_SIDE:  # said before anything is decoded
                raise Invalid(_("This picture is too large: 4096 pixels a side at most."))
            small = picture.convert("RGBA")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise refused from None
    small.thumbnail((KEPT_SIDE, KEPT_SIDE))
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "brand"


def _store(path: Path, content: bytes) -> None:
    """Write it atomically: the name is the hash, so two writers write the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
