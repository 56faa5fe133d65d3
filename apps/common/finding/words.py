"""What the interface calls a thing, in each of its languages."""

from django.conf import settings
from django.utils.translation import override


def in_both_languages(label: object) -> tuple[str, ...]:
    """The label in every language, the reader's own among them, so that a page is found by any of its names."""
    found = []
    for language, _name in settings.LANGUAGES:
        with override(language):
            found.append(str(label))
    return tuple(dict.fromkeys(found))
