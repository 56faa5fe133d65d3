"""Which characters text may have: no control characters in any, nothing that cannot be seen in a name."""

import re

from django.utils.translation import gettext as _

from apps.common.errors import Invalid

# C0 and C1 but tab, line feed, vertical tab, form feed, carriage return and the next line of some mainframes.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Neither can be kept: Postgres has no NUL in text, UTF-8 no halves of pairs.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def problem(value: str) -> str:
    """What is wrong with a text, in words; empty where it may be kept."""
    found = CONTROL.search(value) or UNSTORABLE.search(value)
    return _("The character %(character)s cannot be used here.") % {"character": shown(found[0])} if found else ""


def unstorable(value: str) -> str:
    """As `problem`, for text in which control characters may stand."""
    found = UNSTORABLE.search(value)
    return _("The character %(character)s cannot be used here.") % {"character": shown(found[0])} if found else ""


def clean_name(name: str, field: str = "name") -> str:
    """A name with single spaces between its words; raises `Invalid` for characters that cannot be seen.

    With zero-width letters two names look the same, with a change of direction one looks like another.
    """
    return check_visible(" ".join(name.split()), field)


def check_visible(text: str, field: str) -> str:
    """The text as it is; raises `Invalid` as `clean_name` does."""
    alien = next((each for each in text if not each.isprintable()), None)
    if alien is not None:
        told = _("%(character)s cannot stand here: nobody would see it.") % {"character": shown(alien)}
        raise Invalid.field(field, told)
    return text


def visible(name: str) -> str:
    """A name that somebody else gave, without what nobody would see in it."""
    return "".join(each for each in name if each.isprintable() or each.isspace())


def shown(text: str) -> str:
    """What cannot be seen by its number."""
    return "".join(each if each.isprintable() else f"U+{ord(each):04X}" for each in text)
