"""Text that is kept as it was sent, byte for byte: programs and the contents of files."""

from rest_framework import serializers


class VerbatimField(serializers.CharField):
    """Takes control characters, which a program may hold; what no database row can hold is refused all the same."""

    def __init__(self, **options: object) -> None:
        super().__init__(**{"trim_whitespace": False, **options})  # type: ignore[arg-type]
