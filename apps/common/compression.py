"""Pages and JSON go compressed to whoever takes that; streams and files go as they are."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

COMPRESSED = ("text/html", "application/json", "application/problem+json")


class Compressed(GZipMiddleware):
    """Django's own, whose random length hides what BREACH would measure, without its part for streams.

    By gzip alone: no library that is kept does the same for brotli, which is for static files (`static_files`).

    A compressor holds back what it has not filled a block with: the lines of a log, or an event, would come late. Files
    carry lengths and ranges of their own; static ones lie compressed on the disk already.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.streaming or kind not in COMPRESSED or response.has_header("Content-Range"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
