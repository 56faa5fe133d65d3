"""Paging of the API: by cursor, so that page 2,000 costs what page 1 costs."""

from typing import Any

from django.core import signing
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.utils.urls import replace_query_param

LONGEST_CURSOR = 2000


class CreatedCursor(CursorPagination):
    """Newest first; models that have no `created_at` name their own ordering.

    A cursor is signed for its list and order: anything else, such as another list's cursor, is refused before its
    position reaches the database, which would read it as a date or a number.
    """

    ordering = "-created_at"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    def get_ordering(self, request: Any, queryset: Any, view: Any) -> tuple[str, ...]:
        ordering: tuple[str, ...] = super().get_ordering(request, queryset, view)
        self.salt = ":".join(("cursor", view.__class__.__module__, view.__class__.__qualname__, *ordering))
        return ordering

    def decode_cursor(self, request: Any) -> Cursor | None:
        sent = request.query_params.get(self.cursor_query_param)
        if sent is None:
            return None
        try:
            if len(sent) > LONGEST_CURSOR:
                raise signing.BadSignature(sent)
            offset, reverse, position = signing.loads(sent, salt=self.salt)
        except (signing.BadSignature, ValueError) as error:
            told = _("This is not a cursor of this list. Start again without one.")
            raise ValidationError({self.cursor_query_param: [told]}) from error
        return Cursor(offset=offset, reverse=reverse, position=position)

    def encode_cursor(self, cursor: Cursor) -> str:
        signed = signing.dumps([cursor.offset, cursor.reverse, cursor.position], salt=self.salt)
        link: str = replace_query_param(str(self.base_url), self.cursor_query_param, signed)
        return link
