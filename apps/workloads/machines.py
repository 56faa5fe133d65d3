"""Asking the machine on which an attempt is, or was."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Unavailable
from apps.workloads.drivers.base import CannotSee


@contextmanager
def reaching_machine() -> Iterator[None]:
    """A machine that cannot be asked now raises `Unavailable`, in words for whoever wanted to know."""
    try:
        yield
    except CannotSee as error:
        raise Unavailable(_("Its machine cannot be reached right now."), hint=_("Try again in a moment.")) from error
