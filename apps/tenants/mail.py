"""Mail about invitations, which go to people who may have no account yet."""

import logging

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from apps.tenants.models import Invitation

logger = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, *, link: str) -> bool:
    """Send the link to the invited address, in the sender's language; whether the mail server took it."""
    context = {"invitation": invitation, "link": link, "inviter": invitation.created_by.display_name}
    subject = _("%(name)s invites you to %(organisation)s") % {
        "name": " ".join(invitation.created_by.display_name.split()),
        "organisation": " ".join(invitation.organisation.name.split()),
    }
    text = render_to_string("tenants/mail/invitation.txt", context)
    try:
        return bool(EmailMultiAlternatives(subject, text, to=[invitation.email]).send())
    except OSError as error:  # refused, unreachable, timed out: smtplib's errors are OSErrors
        logger.warning("invitation %s was not sent: %s", invitation.pk, error)
        return False
