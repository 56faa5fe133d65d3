"""Pages and JSON are compressed for who takes that; streams and other files are not touched."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.core.files.base import ContentFile
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory
from whitenoise.middleware import WhiteNoiseMiddleware

from apps.common.compression import Compressed
from apps.common.scoping import acting
from apps.common.static_files import CompressedFiles
from plstack.settings import base
from tests.builders import World, make_world, platform, signed_in

LONG = "pages repeat themselves. " * 200


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


def through(response: HttpResponseBase, accepts: str = "gzip, deflate, br") -> HttpResponseBase:
    request = RequestFactory().get("/", headers={"Accept-Encoding": accepts})
    answer: HttpResponseBase = Compressed(lambda _request: response)(request)
    return answer


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json", "application/problem+json"])
def test_what_repeats_itself_goes_small(kind: str) -> None:
    answer = through(HttpResponse(LONG, content_type=kind))
    assert isinstance(answer, HttpResponse)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"]
    assert int(answer.headers["Content-Length"]) == len(answer.content) < len(LONG) / 4
    assert gzip.decompress(answer.content).decode() == LONG


def test_the_length_of_the_same_page_varies_so_that_it_tells_nothing() -> None:
    lengths = {through(HttpResponse(LONG)).headers["Content-Length"] for _again in range(30)}
    assert len(lengths) > 1


@pytest.mark.parametrize(
    ("response", "accepts"),
    [
        pytest.param(HttpResponse(LONG), "identity", id="who does not take it"),
        pytest.param(HttpResponse(LONG, content_type="image/png"), "gzip", id="a picture"),
        pytest.param(HttpResponse(LONG, content_type="text/plain"), "gzip", id="a part of a log"),
        pytest.param(HttpResponse("short"), "gzip", id="a fragment too short to gain"),
        pytest.param(HttpResponse(LONG, headers={"Content-Range": "bytes 0-9/99"}, status=206), "gzip", id="a range"),
    ],
)
def test_the_rest_goes_as_it_is(response: HttpResponse, accepts: str) -> None:
    content = response.content
    answer = through(response, accepts)
    assert "Content-Encoding" not in answer.headers
    assert isinstance(answer, HttpResponse)
    assert answer.content == content


def test_a_stream_gives_each_line_when_it_has_it() -> None:
    """A compressor would keep the lines until it has a block of them."""
    lines = iter([b"one", b"two"])
    answer = through(StreamingHttpResponse(lines, content_type="text/html"))
    assert isinstance(answer, StreamingHttpResponse)
    assert "Content-Encoding" not in answer.headers
    assert next(iter(answer)) == b"one"
    assert next(lines) == b"two", "nobody has asked for it yet"


@pytest.mark.parametrize("url", ["/", "/training/", "/api/v1/", "/api/v1/nothing/"])
def test_pages_and_problems_of_the_site_are_compressed(world: World, url: str) -> None:
    client: Client = signed_in(world.alice)
    plain = client.get(url).content
    answer = client.get(url, headers={"Accept-Encoding": "gzip"})
    if len(plain) < 200:
        assert "Content-Encoding" not in answer.headers
        return
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < len(plain)


STYLE = "a { color: red }\n" * 500


@pytest.mark.parametrize(("accepts", "encoding"), [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("identity", None)])
def test_a_static_file_goes_as_its_browser_takes_it_best(
    tmp_path: Path, settings: Any, accepts: str, encoding: str | None
) -> None:
    settings.STATIC_ROOT = tmp_path
    files = CompressedFiles(location=tmp_path, base_url="/static/")
    files.save("app.css", ContentFile(STYLE))
    list(files.post_process({"app.css": (files, "app.css")}))
    assert brotli.decompress((tmp_path / f"{files.stored_name('app.css')}.br").read_bytes()).decode() == STYLE
    served = WhiteNoiseMiddleware(lambda _request: HttpResponse(status=404))
    served.static_storage = files
    served.add_files(str(tmp_path), prefix="/static/")
    answer = served(
        RequestFactory().get(f"/static/{files.stored_name('app.css')}", headers={"Accept-Encoding": accepts})
    )
    assert answer.status_code == 200
    assert answer.headers.get("Content-Encoding") == encoding
    body = b"".join(answer.streaming_content)
    undone = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[encoding]
    assert undone(body).decode() == STYLE


def test_what_is_shipped_is_stored_so() -> None:
    assert base.STORAGES["staticfiles"]["BACKEND"] == f"{CompressedFiles.__module__}.{CompressedFiles.__qualname__}"
