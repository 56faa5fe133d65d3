"""Mail about an account that notices do not reach any more. Who writes it stands above this app: `ACCOUNT_LETTERS`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.tenants.models import User


class About(StrEnum):
    DELETION_ASKED = "deletion_asked"
    DELETION_WITHDRAWN = "deletion_withdrawn"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Letter:
    """`language` empty: that of mails here. `path`: of the page that takes a deletion back, empty without one."""

    about: About
    user_id: int
    username: str
    address: str
    language: str
    erase_at: datetime | None = None
    path: str = ""


Write: TypeAlias = Callable[[Letter], None]


def letter_to(user: User, about: About) -> Letter:
    """Kept by the caller while the account is erased."""
    return Letter(about, user.pk, user.username, user.email, user.language or user.last_language)


def send_on_commit(letter: Letter, *, erase_at: datetime | None = None, path: str = "") -> None:
    """Send it once the transaction is through; to nobody where there is no address."""
    write: Write = import_string(settings.ACCOUNT_LETTERS)
    if letter.address:
        transaction.on_commit(partial(write, replace(letter, erase_at=erase_at, path=path)))
