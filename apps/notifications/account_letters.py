"""Mail about the deletion of an account: its person cannot sign in any more, so that no notice reaches them."""

import logging

from django.conf import settings as installation
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from apps.notifications.branding import BrandingSettings
from apps.notifications.composing import site_url, standing_language
from apps.tenants import settings
from apps.tenants.letters import About, Letter

logger = logging.getLogger(__name__)


def write(letter: Letter) -> None:
    """Send it in the person's language. A mail server that is away is logged: the deletion stands without it."""
    known = {code for code, _name in installation.LANGUAGES}
    with translation.override(letter.language if letter.language in known else standing_language()):
        subject = {
            About.DELETION_ASKED: _("Your account will be deleted"),
            About.DELETION_WITHDRAWN: _("Your account is not deleted"),
            About.ERASED: _("Your account was deleted"),
        }[letter.about]
        link = site_url() + letter.path if letter.path else ""
        text = render_to_string(f"notifications/mail/{letter.about}.txt", {"letter": letter, "link": link})
        try:
            EmailMultiAlternatives(
                f"[{settings.get(BrandingSettings).portal.name}] {subject}", text, to=[letter.address]
            ).send()
        except OSError as error:  # refused, unreachable, timed out: smtplib's errors are OSErrors
            logger.warning("%s was not sent to user %s: %s", letter.about, letter.user_id, error)
