"""Compose messages from notices: subject, text and mail in the reader's language and the installation's brand."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings as installation
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import ngettext

from apps.common.errors import NotFound
from apps.common.formatting import exact_moment
from apps.notifications import pictures
from apps.notifications.branding import BrandingSettings
from apps.notifications.choices import Channel
from apps.notifications.gateways.base import Message
from apps.notifications.models import Delivery
from apps.notifications.settings import MailSettings
from apps.notifications.words import words
from apps.tenants import settings
from apps.tenants.models import User

SMS_LENGTH = 140
NAMED = 20  # notices that a digest lists one by one


@dataclass(frozen=True, slots=True)
class NoticeText:
    """One notice as it appears in a message; `url` is absolute, empty if there is no page."""

    title: str
    text: str
    when: str
    organisation: str
    url: str
    action: str
    excerpt: str = ""


def compose(deliveries: list[Delivery]) -> Message:
    """One message for one notice, or for several of a kind that were put off together (the first names the rest)."""
    head = deliveries[0]
    with translation.override(language_of(head.user)):
        said = [_notice_text(delivery) for delivery in deliveries[:NAMED]]
        if head.channel == Channel.SMS:
            return Message(to=head.address, subject="", text=_short(said, len(deliveries)), key=str(head.pk))
        return _mail(head, said, len(deliveries))


def language_of(user: User) -> str:
    """The language that the person chose, else that of the last page they opened, that of mails, the installation's."""
    known = {code for code, _name in installation.LANGUAGES}
    for code in (user.language, user.last_language):
        if code in known:
            return code
    return standing_language()


def standing_language() -> str:
    """The language of mails to people of whom nothing is known."""
    known = {code for code, _name in installation.LANGUAGES}
    standing = (settings.get(MailSettings).language, settings.get(BrandingSettings).language)
    return next((code for code in standing if code in known), installation.LANGUAGE_CODE)


def site_url() -> str:
    """Where people reach this site, without a slash at the end."""
    return (settings.get(MailSettings).site_url or str(installation.PORTAL_ORIGIN)).rstrip("/")


def _notice_text(delivery: Delivery) -> NoticeText:
    notice = delivery.notice
    found = words(notice)
    return NoticeText(
        title=found.title,
        text=found.text,
        when=exact_moment(notice.created_at),
        organisation=notice.organisation.name if notice.organisation else "",
        url=f"{site_url()}{found.url}" if found.url else "",
        action=found.action,
        excerpt=found.excerpt,
    )


def _mail(head: Delivery, said: list[NoticeText], count: int) -> Message:
    brand = settings.get(BrandingSettings)
    portal = brand.portal if head.organisation_id else brand.console
    title = said[0].title if count == 1 else _title_of_many(said, count)
    logo = _raster(brand.portal_logo if head.organisation_id else brand.console_logo or brand.portal_logo)
    context: dict[str, Any] = {
        "has_logo": bool(logo),
        "title": title,
        "said": said,
        "more": count - len(said),
        "brand_name": portal.name,
        "site_url": site_url(),
        "preferences_url": f"{site_url()}{reverse('notifications:preferences')}",
        "language": translation.get_language(),
    }
    return Message(
        to=head.address,
        subject=" ".join(f"[{portal.name}] {title}".split()),  # a line break in a name must not begin a header
        text=render_to_string("notifications/mail/notice.txt", context).strip() + "\n",
        html=render_to_string("notifications/mail/notice.html", context),
        key=str(head.pk),
        logo=logo,
    )


def _raster(name: str) -> bytes:
    """The logo if mail programs can show it; few show SVG."""
    try:
        return pictures.read_picture(name)[0] if name.endswith(".png") else b""
    except NotFound:
        return b""


def _title_of_many(said: list[NoticeText], count: int) -> str:
    text = ngettext("%(title)s, and %(count)s more", "%(title)s, and %(count)s more", count - 1)
    return text % {"title": said[0].title, "count": count - 1}


def _short(said: list[NoticeText], count: int) -> str:
    """Short, because an SMS is paid for by its length."""
    first = f"{said[0].title}. {said[0].text}" if count == 1 else _title_of_many(said, count)
    text = f"[{settings.get(BrandingSettings).portal.name}] {first}"
    return text if len(text) <= SMS_LENGTH else text[: SMS_LENGTH - 1] + "…"
