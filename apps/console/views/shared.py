"""What the console's views have in common."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.translation import gettext as _


def priced_so_already(request: HttpRequest, to: str, *args: object) -> HttpResponseRedirect:
    """Say that the price that was set is the one that holds: no version was written."""
    messages.info(request, _("This is the price already. Nothing was changed."))
    return redirect(to, *args)
