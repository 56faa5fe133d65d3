"""The images that come with the platform: a row for each recipe that is a runtime."""

from apps.registry.models import Image
from apps.registry.recipes.catalogue import RUNTIMES


def ensure_platform_images() -> None:
    """Create or update the platform's images as this version ships them; idempotent.

    Images that administrators have changed (`edited_at`) are theirs: a new version does not touch them.
    """
    for recipe in RUNTIMES:
        shipped = {
            "name": recipe.name,
            "description_en": recipe.description_en,
            "description_zh": recipe.description_zh,
            "requirements": list(recipe.requirements),
            "architectures": list(recipe.architectures),
            "sort": recipe.sort,
        }
        Image.objects.get_or_create(key=recipe.key, defaults=shipped)
        Image.objects.filter(key=recipe.key, edited_at__isnull=True).update(**shipped)
