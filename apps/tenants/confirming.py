"""Acts that ask again who is there: a session that was left open is not enough for them."""

from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.core.exceptions import ReauthenticationRequired
from django.http import HttpRequest


def confirm_identity(request: HttpRequest) -> None:
    """Nothing where the password or a code of the second factor was given in the last minutes; otherwise the page that
    asks for it comes first, and then the request goes on. Accounts without both are trusted to their provider.
    """
    if not did_recently_reauthenticate(request):
        raise ReauthenticationRequired
