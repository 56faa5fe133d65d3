"""Permitted characters: no control characters in text, no invisible ones in names."""

import re

from django.utils.translation import gettext as _

from apps.common.errors import Invalid

# C0 and C1 but tab, line feed, vertical tab, form feed, carriage return and the next line of some mainframes.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Neither can be kept: Postgres has no NUL in text, UTF-8 no halves of pairs.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def text_problem(value: str) -> str:
    """What is wrong with a text, as a sentence; empty if it may be stored."""
    found = CONTROL.search(value) or UNSTORABLE.search(value)
    return (
        _("The character %(character)s cannot be used here.") % {"character": reveal_invisible(found[0])}
        if found
        else ""
    )


def unstorable(value: str) -> str:
    """Like `text_problem`, for text that may contain control characters."""
    found = UNSTORABLE.search(value)
    return (
        _("The character %(character)s cannot be used here.") % {"character": reveal_invisible(found[0])}
        if found
        else ""
    )


def clean_name(name: str, field: str = "name") -> str:
    """A name with single spaces between its words; raises `Invalid` for invisible characters.

    Zero-width characters make two names look the same; direction changes make one look like another.
    """
    return check_visible(" ".join(name.split()), field)


def check_visible(text: str, field: str) -> str:
    """The unchanged text; raises `Invalid` as `clean_name` does."""
    alien = next((each for each in text if not each.isprintable()), None)
    if alien is not None:
        told = _("%(character)s cannot stand here: nobody would see it.") % {"character": reveal_invisible(alien)}
        raise Invalid.field(field, told)
    return text


def strip_invisible(name: str) -> str:
    """A name that somebody else gave, without its invisible characters."""
    return "".join(each for each in name if each.isprintable() or each.isspace())


def reveal_invisible(text: str) -> str:
    """Replace invisible characters by their code points."""
    return "".join(each if each.isprintable() else f"U+{ord(each):04X}" for each in text)
