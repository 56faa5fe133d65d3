"""Ask for credentials again before grave acts, because a session may have been left open."""

from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.core.exceptions import ReauthenticationRequired
from django.http import HttpRequest


def confirm_identity(request: HttpRequest) -> None:
    """Does nothing if the password or a code of the second factor was entered in the last minutes; otherwise redirects
    to the page that asks for it and then continues the request. Accounts without both are trusted to their provider.
    """
    if not did_recently_reauthenticate(request):
        raise ReauthenticationRequired
