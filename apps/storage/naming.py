"""Names of volumes and datasets: folders of the same name stand for them inside environments and runs."""

import re

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid

NAME = re.compile(r"[\w][\w.\-]{0,59}\Z")


def clean_name(name: str) -> str:
    """The name without surrounding blanks; `Invalid` for what no folder should be called."""
    cleaned = name.strip()
    if not NAME.match(cleaned):
        raise Invalid.field(
            "name",
            _("A name has up to 60 letters, digits, dots, - and _, no spaces, and starts with a letter or digit."),
        )
    return cleaned


def name_taken() -> Invalid:
    return Invalid.field("name", _("You have one of this name already."))
