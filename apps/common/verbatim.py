"""Text that is stored byte for byte as it was sent: programs and the contents of files."""

from rest_framework import serializers


class VerbatimField(serializers.CharField):
    """Accepts control characters, which a program may contain, but not what the database cannot store."""

    def __init__(self, **options: object) -> None:
        super().__init__(**{"trim_whitespace": False, **options})  # type: ignore[arg-type]
