"""Paging of the API: by cursor, so that page 2,000 costs what page 1 costs."""

from rest_framework.pagination import CursorPagination


class CreatedCursor(CursorPagination):
    """Newest first; models that have no `created_at` name their own ordering."""

    ordering = "-created_at"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
