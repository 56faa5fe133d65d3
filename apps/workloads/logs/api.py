"""Endpoints of a workload's log: its bytes, its lines with their times, and a search. Each kind of work serves them."""

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.workloads import selectors
from apps.workloads.drivers.base import LogChunk
from apps.workloads.logs import lines as by_line
from apps.workloads.logs import search as by_text
from apps.workloads.logs.search import Read
from apps.workloads.models import Workload

KIB = 1024
MAX_BYTES = 1024 * KIB
MAX_TAIL = 100_000
LINES_BYTES = 256 * KIB
LARGEST_OFFSET = 2**62


class WhoseLog(serializers.Serializer[Any]):
    attempt = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=2**31 - 1, help_text="Whose; the newest one's by default."
    )
    rank = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=2**31 - 1,
        help_text="Whose, of several members; that of rank 0 by default.",
    )


class BytesQuery(WhoseLog):
    offset = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST_OFFSET, help_text="First byte wanted; 0 by default."
    )
    tail = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_TAIL,
        help_text="Begin with the last so many lines instead; they are looked for in the last 8 MiB.",
    )  # fmt: skip
    limit = serializers.IntegerField(
        required=False, default=MAX_BYTES, min_value=0, help_text="At most so many bytes; up to 1 MiB."
    )


class LinesQuery(WhoseLog):
    offset = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST_OFFSET, help_text="Begin with the line that has this byte."
    )
    before = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST_OFFSET,
        help_text="End before this byte instead; with neither, the answer has the last lines.",
    )  # fmt: skip
    limit = serializers.IntegerField(
        required=False,
        default=LINES_BYTES,
        min_value=by_line.LONGEST,
        max_value=MAX_BYTES,
        help_text="At most so many bytes.",
    )


class SearchQuery(WhoseLog):
    text = serializers.CharField(
        trim_whitespace=False, max_length=by_text.MAX_NEEDLE, help_text="Looked for literally, within a line."
    )
    case = serializers.BooleanField(required=False, default=False, help_text="Tell capital letters from small ones.")
    offset = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=LARGEST_OFFSET, help_text="First byte of a hit."
    )
    limit = serializers.IntegerField(
        required=False,
        default=by_text.MAX_HITS,
        min_value=1,
        max_value=by_text.MAX_HITS,
        help_text="At most so many hits.",
    )


class LineOut(serializers.Serializer[by_line.Line]):
    offset = serializers.IntegerField(help_text="Its first byte.")
    end = serializers.IntegerField(help_text="The byte after its last.")
    at = serializers.DateTimeField(allow_null=True, help_text="When it was stored; null where nobody wrote that down.")
    text = serializers.CharField(help_text="Without its line feed; bytes that are no UTF-8 are replaced.")


class LinesOut(serializers.Serializer[by_line.Lines]):
    offset = serializers.IntegerField()
    next_offset = serializers.IntegerField(help_text="Where to go on.")
    size = serializers.IntegerField(help_text="Bytes of the log so far.")
    complete = serializers.BooleanField(help_text="Nothing follows, now or later.")
    lines = LineOut(many=True)


class HitOut(serializers.Serializer[by_text.Hit]):
    offset = serializers.IntegerField(help_text="Its first byte.")
    end = serializers.IntegerField(help_text="The byte after its last.")


class FoundOut(serializers.Serializer[by_text.Found]):
    next_offset = serializers.IntegerField(help_text="Where to go on: all before it is searched.")
    complete = serializers.BooleanField(help_text="The log has ended, and all of it is searched.")
    hits = HitOut(many=True)


class LogView(ScopedView):
    """Base: subclasses declare `access` and say whose log it is."""

    def workload(self) -> Workload:
        raise NotImplementedError

    def asked(self, query: type[serializers.Serializer[Any]], request: Request) -> tuple[Read, dict[str, Any]]:
        """How to read the log, and the rest of the question. The workload comes first: strangers learn nothing."""
        workload = self.workload()
        serializer = query(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        number, rank = values.pop("attempt"), values.pop("rank")
        attempts = [one for one in selectors.attempts(workload) if number in (0, one.number)]
        if number and not attempts:
            raise NotFound
        return partial(_chunk, selectors.program(attempts[0] if attempts else None, rank)), values


def _chunk(program: Any, offset: int, limit: int) -> LogChunk:
    return selectors.log_chunk(program, offset=offset, limit=limit)


class LogBytes(LogView):
    @extend_schema(
        parameters=[BytesQuery],
        responses={
            (200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY),
        },
    )
    def get(self, request: Request, **_ids: Any) -> HttpResponse:
        """Bytes of the log. `X-Offset` is that of the first, `X-Next-Offset` says where to go on, and
        `X-Complete: true` that no more will come."""
        read, asked = self.asked(BytesQuery, request)
        if "tail" in asked and "offset" in asked:
            raise Invalid.field("tail", _("Either an offset or a number of last lines, not both."))
        offset = by_line.tail_start(read, asked["tail"]) if "tail" in asked else asked.get("offset", 0)
        chunk = read(offset, min(MAX_BYTES, asked["limit"]))
        return HttpResponse(
            chunk.data,
            content_type="application/octet-stream",
            headers={
                "X-Offset": str(offset),
                "X-Next-Offset": str(chunk.next_offset),
                "X-Complete": "true" if chunk.complete else "false",
            },
        )


class LogLines(LogView):
    @extend_schema(parameters=[LinesQuery], responses=LinesOut)
    def get(self, request: Request, **_ids: Any) -> Response:
        """Lines of the log with their offsets and times: from a byte on, before a byte, or the last ones.

        A line that is longer than 64 KiB comes in parts.
        """
        read, asked = self.asked(LinesQuery, request)
        if "before" in asked and "offset" in asked:
            raise Invalid.field("before", _("Either the first byte or the one to end before, not both."))
        limit = asked["limit"]
        if "offset" in asked:
            found = by_line.lines_from(read, asked["offset"], limit)
        else:
            found = by_line.lines_before(read, asked.get("before", by_line.LAST_BYTE), limit)
        return Response(_plain(found))


def _plain(found: by_line.Lines) -> dict[str, Any]:
    """As `LinesOut` describes it: thousands of lines through a serializer would take longer than reading them."""
    return {
        "offset": found.offset,
        "next_offset": found.next_offset,
        "size": found.size,
        "complete": found.complete,
        "lines": [
            {"offset": line.offset, "end": line.end, "at": line.at and line.at.isoformat(), "text": line.text}
            for line in found.lines
        ],
    }


class LogSearch(LogView):
    @extend_schema(parameters=[SearchQuery], responses=FoundOut)
    def get(self, request: Request, **_ids: Any) -> Response:
        """Where a text stands in the log, in order. One answer takes a second or two at most: while it is not
        `complete`, ask again from `next_offset` on."""
        read, asked = self.asked(SearchQuery, request)
        try:
            needle = by_text.Needle.of(asked["text"], match_case=asked["case"])
        except ValueError as error:
            raise Invalid.field("text", _("A text of one line, without control characters.")) from error
        found = by_text.search(read, needle, offset=asked["offset"], most=asked["limit"])
        return Response(FoundOut(found).data)
