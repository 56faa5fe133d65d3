"""Settings of the channels: the mail server and the SMS gateway."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid, Text
from apps.tenants.settings import secret


class MailSecurity(StrEnum):
    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


@dataclass(frozen=True, slots=True)
class MailSettings:
    """Without a `host`, mail goes through the server in the installation's environment.

    `hourly_limit`: mails about one kind of matter to one person in an hour; the rest wait and leave as one.
    `language`: of mails to people who have neither chosen one nor opened a page. `site_url`: where people reach this
    site, for links in mails; empty: as the environment says.
    """

    KEY: ClassVar[str] = "mail"
    host: str = ""
    port: int = 587
    security: MailSecurity = MailSecurity.STARTTLS
    username: str = ""
    password: str = secret()
    from_address: str = ""
    from_name: str = ""
    site_url: str = ""
    language: str = ""
    hourly_limit: int = 10

    def validate(self) -> None:
        errors: dict[str, Text] = {}
        if any(sign.isspace() for sign in self.host) or "/" in self.host:
            errors["host"] = _("Only the name or the address of the server, as in mail.example.org.")
        if not 1 <= self.port <= 65535:
            errors["port"] = _("A port is a number from 1 to 65535.")
        if not _is_address(self.from_address) and (self.from_address or self.host):
            errors["from_address"] = _("Give the address that mails come from.")
        if any(sign in "\r\n" for sign in self.from_name):
            errors["from_name"] = _("One line only.")
        if self.site_url and not is_site(self.site_url):
            errors["site_url"] = _("It starts with https:// or http:// and ends with the name of the site.")
        if not 1 <= self.hourly_limit <= 1000:
            errors["hourly_limit"] = _("A number from 1 to 1000.")
        if self.username and self.security is MailSecurity.NONE:
            errors["security"] = _("A password must not travel in the open: choose STARTTLS or TLS.")
        _raise(errors)


class BodyFormat(StrEnum):
    JSON = "json"
    FORM = "form"


@dataclass(frozen=True, slots=True)
class SmsSettings:
    """An HTTP gateway. `body` and `headers` are lines `name: value` in which {phone} and {text} are replaced.

    `signature_header` carries the hex HMAC-SHA256 of the body under `signing_key`, where both are given.
    `authorization` is sent as the header of that name. `success` must stand in the answer, where it is given.
    """

    KEY: ClassVar[str] = "sms"
    on: bool = False
    url: str = ""
    format: BodyFormat = BodyFormat.JSON
    body: str = "phone: {phone}\ntext: {text}"
    headers: str = ""
    authorization: str = secret()
    signature_header: str = ""
    signing_key: str = secret()
    success: str = ""
    hourly_limit: int = 5

    def validate(self) -> None:
        errors: dict[str, Text] = {}
        if (self.on or self.url) and urlsplit(self.url).scheme not in ("http", "https"):
            errors["url"] = _("It starts with https:// or http://.")
        for name, lines in (("body", self.body), ("headers", self.headers)):
            if any(line.strip() and ":" not in line for line in lines.splitlines()):
                errors[name] = _("Each line is a name, a colon and a value.")
        if self.on and not ("{phone}" in self.body and "{text}" in self.body):
            errors["body"] = _("It must say where {phone} and {text} go.")
        if not _is_header(self.signature_header):
            errors["signature_header"] = _("The name of a header has letters, digits and hyphens.")
        if any(not _is_header(name) for name, _value in pairs(self.headers)):
            errors["headers"] = _("The name of a header has letters, digits and hyphens.")
        if not 1 <= self.hourly_limit <= 100:
            errors["hourly_limit"] = _("A number from 1 to 100.")
        _raise(errors)


def pairs(lines: str) -> list[tuple[str, str]]:
    """(name, value) of each line `name: value`."""
    split = (line.partition(":") for line in lines.splitlines() if line.strip())
    return [(name.strip(), value.strip()) for name, _colon, value in split]


def is_site(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and parts.path in ("", "/") and "@" not in url


def _is_header(name: str) -> bool:
    return all(sign.isascii() and (sign.isalnum() or sign == "-") for sign in name)


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _raise(errors: dict[str, Text]) -> None:
    if errors:
        raise Invalid(_("Some values cannot be accepted."), fields=errors)
