"""What the API says of images that one may choose."""

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.registry.facts import Facts
from apps.registry.models import Image
from apps.registry.scanning.serializers import KnownOut


class ImageSerializer(serializers.ModelSerializer[Image]):
    """An image that one may choose."""

    # Beside the rows, in the context: `facts` and `known` by id, as `facts_of` and `known_of` give them for a page.
    size_bytes = serializers.SerializerMethodField(
        help_text="Of a container image all of its layers, of a runtime what is downloaded for it; null: not known."
    )
    last_run_at = serializers.SerializerMethodField(
        help_text="When work of the organisation last started in it; null: not in the last 90 days."
    )

    scan = serializers.SerializerMethodField(help_text="null: a runtime, which is not scanned.")

    class Meta:
        model = Image
        fields = ("id", "key", "name", "description", "requirements", "reference", "architectures",
                  "size_bytes", "last_run_at", "scan")  # fmt: skip
        read_only_fields = fields

    def get_size_bytes(self, image: Image) -> int | None:
        return self._facts(image).size

    def get_last_run_at(self, image: Image) -> datetime | None:
        return self._facts(image).last_run

    @extend_schema_field(KnownOut(allow_null=True))
    def get_scan(self, image: Image) -> Any:
        known = self.context["known"].get(image.pk)
        return KnownOut(known).data if known is not None else None

    def _facts(self, image: Image) -> Facts:
        found: Facts = self.context["facts"].get(image.pk, Facts())
        return found
