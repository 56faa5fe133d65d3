"""Mail: through the server in the settings, else the one in the installation's environment."""

import os
import smtplib
from email.mime.image import MIMEImage
from email.utils import formataddr, make_msgid
from typing import Any

from django.conf import settings as installation
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.filebased import EmailBackend as FileBackend
from django.core.mail.backends.smtp import EmailBackend as SmtpBackend

from apps.notifications.gateways.base import Message, Outcome, Result, Unreachable, error_text
from apps.notifications.settings import MailSecurity, MailSettings
from apps.tenants import settings

TIMEOUT_S = 10
PERMANENT = 500  # RFC 5321: 5yz will not change by trying again


def connection_for(chosen: MailSettings, *, fail_silently: bool = False) -> BaseEmailBackend:
    """Django's connection to the server of these settings."""
    if not chosen.host:
        return get_connection(installation.MAIL_WITHOUT_SETTINGS, fail_silently=fail_silently)
    return SmtpBackend(
        host=chosen.host,
        port=chosen.port,
        username=chosen.username,
        password=chosen.password,
        use_tls=chosen.security is MailSecurity.STARTTLS,
        use_ssl=chosen.security is MailSecurity.TLS,
        timeout=TIMEOUT_S,
        fail_silently=fail_silently,
    )


def sender_address(chosen: MailSettings) -> str:
    """The From address."""
    if not chosen.from_address:
        return str(installation.DEFAULT_FROM_EMAIL)
    return formataddr((chosen.from_name, chosen.from_address)) if chosen.from_name else chosen.from_address


class ChosenBackend(BaseEmailBackend):
    """Django's mail backend: everything that sends mail (password links too) uses the present settings."""

    def __init__(self, fail_silently: bool = False, **options: Any) -> None:
        super().__init__(fail_silently=fail_silently, **options)
        self.chosen = settings.get(MailSettings)
        self.inner = connection_for(self.chosen, fail_silently=fail_silently)

    def open(self) -> bool | None:
        return self.inner.open()

    def close(self) -> None:
        self.inner.close()

    def send_messages(self, email_messages: Any) -> int:
        for message in email_messages:
            if message.from_email == installation.DEFAULT_FROM_EMAIL:
                message.from_email = sender_address(self.chosen)
        return int(self.inner.send_messages(email_messages) or 0)


class PrivateFiles(FileBackend):
    """Writes mail to files if there is no server: one file per connection, which no other account may read."""

    def open(self) -> bool | None:
        name = self._get_filename()  # type: ignore[attr-defined]
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600))
        return super().open()


class MailGateway:
    """Notices by mail. A message keeps its Message-ID over all tries."""

    def __init__(self, chosen: MailSettings, connection: BaseEmailBackend) -> None:
        self.chosen, self.connection = chosen, connection

    def open(self) -> None:
        try:
            self.connection.open()
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise Unreachable(error_text(error)) from error

    def send(self, message: Message) -> Result:
        try:
            self.connection.send_messages([self._mail(message)])
        except smtplib.SMTPException as error:
            return _result(error)
        except (OSError, ValueError) as error:
            return Result(Outcome.UNKNOWN, error_text(error))
        return Result(Outcome.SENT)

    def close(self) -> None:
        try:
            self.connection.close()
        except (smtplib.SMTPException, OSError):
            return  # the server left first

    def _mail(self, message: Message) -> EmailMultiAlternatives:
        source = sender_address(self.chosen)
        domain = source.rpartition("@")[2].rstrip(">") or "localhost"
        headers = {"Auto-Submitted": "auto-generated"}
        headers["Message-ID"] = f"<{message.key}@{domain}>" if message.key else make_msgid(domain=domain)
        mail = EmailMultiAlternatives(message.subject, message.text, source, [message.to], headers=headers)
        if message.html:
            mail.attach_alternative(message.html, "text/html")
        if message.logo:
            mail.mixed_subtype = "related"  # type: ignore[attr-defined]
            mail.attach(_logo(message.logo))
        return mail


def _logo(content: bytes) -> MIMEImage:
    part = MIMEImage(content, "png")
    part.add_header("Content-ID", "<logo>")
    part.add_header("Content-Disposition", "inline", filename="logo.png")
    return part


def _result(error: smtplib.SMTPException) -> Result:
    """An SMTP status is a certain outcome; a connection that broke in the middle of a message is not."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _text in error.recipients.values()]
        permanent = bool(codes) and min(codes) >= PERMANENT
    elif isinstance(error, smtplib.SMTPResponseException):
        permanent = error.smtp_code >= PERMANENT
    elif isinstance(error, smtplib.SMTPNotSupportedError):
        permanent = True
    else:
        return Result(Outcome.UNKNOWN, error_text(error))
    return Result(Outcome.REFUSED if permanent else Outcome.LATER, error_text(error))
