"""User names of deleted accounts. Nobody is given them again: the log and the books still show who had them."""

from django.utils.crypto import salted_hmac

from apps.tenants.models import AccountDeletion


def digest_of(username: str) -> str:
    """Of a user name, in a form from which nobody reads it."""
    return salted_hmac("apps.tenants.erasure", username.strip().casefold()).hexdigest()


def was_erased(username: str) -> bool:
    """Whether somebody of this name was deleted: the log still shows it, so that nobody else may have it."""
    return AccountDeletion.objects.filter(name_digest=digest_of(username)).exists()
