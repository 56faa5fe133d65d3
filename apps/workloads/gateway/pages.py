"""What the gateway says itself, in words, when it cannot pass someone on."""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from apps.workloads.gateway import headers
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.hosts import Address

REFRESH_S = 3


class Page(StrEnum):
    """The occasions."""

    ENTER = "enter"
    EXPIRED = "expired"
    FOREIGN = "foreign"
    WAITING = "waiting"
    STARTING = "starting"
    ENDED = "ended"
    BROKEN = "broken"
    SILENT = "silent"
    BUSY = "busy"
    AWAY = "away"


WORDS = {
    Page.ENTER: (_("Open this from PLStack"), _("You are not signed in here, or were away for a while.")),
    Page.EXPIRED: (_("This link was used already"), _("A link into a workload works once and for one minute.")),
    Page.FOREIGN: (_("Another site asked for this"), _("Only pages of this workload may load its parts.")),
    Page.WAITING: (
        _("It has not started yet"),
        _("It waits for its turn or for its start. This page looks again by itself."),
    ),
    Page.STARTING: (
        _("It starts up"),
        _("It runs, and nothing listens on this port yet. This page looks again by itself."),
    ),
    Page.ENDED: (_("It has ended"), _("Nothing runs here any more. It can be started again in PLStack.")),
    Page.BROKEN: (_("The program broke off"), _("It took the request and closed the connection. Its log may say why.")),
    Page.SILENT: (_("The program does not answer"), _("It took the request and then said nothing for ten minutes.")),
    Page.BUSY: (
        _("Too many connections"),
        _("This workload has as many connections as it may have. Close some pages."),
    ),
    Page.AWAY: (_("PLStack cannot be asked now"), _("What runs goes on running. This page looks again by itself.")),
}
STATUS = {
    Page.ENTER: 401,
    Page.EXPIRED: 403,
    Page.FOREIGN: 403,
    Page.WAITING: 503,
    Page.STARTING: 503,
    Page.ENDED: 410,
    Page.BROKEN: 502,
    Page.SILENT: 504,
    Page.BUSY: 503,
    Page.AWAY: 503,
}
REFRESHING = frozenset({Page.WAITING, Page.STARTING, Page.AWAY})
POLICY = b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Headers
    body: bytes


def language_of(request_headers: Headers, preferred: str = "") -> str:
    """The person's own language where they are known, else their browser's."""
    accepted = headers.get(request_headers, b"accept-language") or ""
    wanted = preferred or accepted
    return "zh-hans" if wanted[:2].lower() == "zh" else "en"


def answer(
    page: Page, request_headers: Headers, address: Address, *, path: str = "/", portal: str = "", language: str = ""
) -> Answer:
    """The page for a browser, its words as plain text for a program; never cached."""
    portal = portal or settings.PORTAL_ORIGIN
    title, text = WORDS[page]
    told = {
        "title": title,
        "text": text,
        "portal": portal,
        "enter": f"{portal}/open/{address.workload_id}/{address.port + '/' if address.port else ''}?"
        + urlencode({"next": path}),
    }
    html = "text/html" in (headers.get(request_headers, b"accept") or "")
    with override(language_of(request_headers, language)):
        body = render_to_string("gateway/page.html", told) if html else f"{title}. {text}\n"
    sent: Headers = [
        (b"content-type", b"text/html; charset=utf-8" if html else b"text/plain; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", POLICY),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if page in REFRESHING:
        sent.append((b"retry-after", str(REFRESH_S).encode()))
        if html:
            sent.append((b"refresh", str(REFRESH_S).encode()))
    return Answer(STATUS[page], sent, body.encode())
