"""Folders with the code of runs: written from the page, and whether the script is in one."""

import os

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.safe_open import open_file

MAX_CODE = 1 << 20


def write_code(actor: Actor, script: str, text: str, made: list[Folder]) -> Folder:
    """A new folder, added to `made`, with the text as its script. Raises `Invalid`."""
    if not text.strip():
        raise Invalid.field("text", _("There is no code yet."))
    if len(text.encode()) > MAX_CODE:
        raise Invalid.field("text", _("Code written in the page may have 1 MiB at most; upload it as a file."))
    folder = storage.create_folder(actor, kind=FolderKind.CODE)
    made.append(folder)
    storage.write_text(actor, folder=folder, path=script.strip(), text=text)
    return folder


def require_script(folder: Folder, script: str) -> None:
    """Raises `Invalid` where the folder has no such file."""
    try:
        descriptor = open_file(storage.root_of(folder), script.strip())
    except NotFound as error:
        raise Invalid.field("script", _("There is no such file in the code. Choose one that is there.")) from error
    os.close(descriptor)
