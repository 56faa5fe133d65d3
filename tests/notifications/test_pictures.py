"""Uploaded pictures: only what draws survives."""

import io
from pathlib import Path

import pytest
from django.conf import LazySettings
from PIL import Image

from apps.common.errors import Invalid, NotFound
from apps.notifications import pictures
from apps.notifications.svg import sanitized_svg

OPEN = b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 8 8">'


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def test_a_drawing_keeps_its_shapes_and_colours() -> None:
    drawn = sanitized_svg(
        OPEN + b'<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        b'<g style="fill: url(#a); stroke:#fff"><path d="M0 0h8v8z" fill-rule="evenodd"/></g></svg>'
    ).decode()
    for part in ("linearGradient", 'stop-color="red"', 'fill="url(#a)"', 'stroke="#fff"', 'd="M0 0h8v8z"', "viewBox"):
        assert part in drawn


@pytest.mark.parametrize(
    "evil",
    [
        b"<script>alert(1)</script>",
        b'<g onload="alert(1)"/>',
        b'<a href="javascript:alert(1)"><path d="M0 0"/></a>',
        b'<image href="https://evil.example/x.png"/>',
        b'<use xlink:href="https://evil.example/x.svg#a"/>',
        b'<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></body></foreignObject>',
        b"<style>@import url(https://evil.example/x.css)</style>",
        b'<rect fill="url(https://evil.example/#a)"/>',
        b'<rect style="fill:url(//evil.example/a)"/>',
        b'<rect style="fill:u\\72l(https://evil.example)"/>',
        b'<animate attributeName="href" values="javascript:alert(1)"/>',
        b'<handler xmlns="http://www.w3.org/2001/xml-events">alert(1)</handler>',
    ],
)
def test_what_does_not_draw_is_left_out(evil: bytes) -> None:
    drawn = sanitized_svg(OPEN + evil + b'<rect width="8" height="8"/></svg>').decode().lower()
    assert not any(word in drawn for word in ("alert", "evil", "javascript", "onload", "script", "import"))
    assert "<rect" in drawn


@pytest.mark.parametrize("text", [b"<svg", b"<p>hello</p>", b"<svg>\xff</svg>", b'<!DOCTYPE svg><svg xmlns="x"/>'])
def test_what_is_no_svg_is_refused(text: bytes) -> None:
    with pytest.raises(Invalid):
        sanitized_svg(text)


def test_a_photograph_is_redrawn_and_made_small() -> None:
    out = io.BytesIO()
    Image.new("RGB", (1200, 600), "teal").save(out, "JPEG", comment=b"<script>")
    name = pictures.store_picture(out.getvalue() + b"<script>alert(1)</script>")
    content, media_type = pictures.read_picture(name)
    assert (media_type, b"script" in content) == ("image/png", False)
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.size == (512, 256)


def test_a_bomb_is_refused_by_its_size() -> None:
    out = io.BytesIO()
    Image.new("1", (5000, 5000)).save(out, "PNG")
    with pytest.raises(Invalid, match="4096"):
        pictures.store_picture(out.getvalue())


def test_the_same_picture_has_the_same_name(folder: Path) -> None:
    assert pictures.store_picture(OPEN + b"</svg>") == pictures.store_picture(OPEN + b"</svg>")
    assert len(list((folder / "brand").iterdir())) == 1


def test_unknown_names_are_not_found() -> None:
    with pytest.raises(NotFound):
        pictures.read_picture("0" * 32 + ".svg")
