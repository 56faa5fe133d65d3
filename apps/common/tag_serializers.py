"""Tags in the API."""

from typing import Any

from rest_framework import serializers

from apps.common.tags import MOST

# More than there may be, so that too many get the same words as in the pages.
TAKEN = 10 * MOST
LONGEST_TAKEN = 1000


class TagsListField(serializers.ListField):
    """Up to ten tags of 1 to 40 letters, digits, - _ . and one colon; compared without case. The service checks."""

    child = serializers.CharField(max_length=LONGEST_TAKEN, allow_blank=True)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=TAKEN, **options)
