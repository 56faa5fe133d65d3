"""Archiving and deleting a run: what follows is said before, and what is in the way is named."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.formatting import file_size
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import archiving, deletion, selectors
from apps.training.models import Run

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
Question = dict[str, Any]


def _archive_question(actor: Actor, run: Run) -> Question:
    return {
        "title": _("Archive %(name)s?") % {"name": run.name},
        "text": _("The list shows it where archived runs are asked for. It still takes its space."),
        "kept": _("Everything: output, checkpoints, log, passport and bills"),
        "undo": _("Yes, at any time: take it out of the archive"),
        "action": reverse("training:archive", args=[run.pk]),
        "button": _("Archive"),
        "plain": True,
    }


def _unarchive_question(actor: Actor, run: Run) -> Question:
    return {
        "title": _("Take %(name)s out of the archive?") % {"name": run.name},
        "text": _("The list shows it again as before."),
        "action": reverse("training:unarchive", args=[run.pk]),
        "button": _("Take out of the archive"),
        "plain": True,
    }


def _delete_question(actor: Actor, run: Run) -> Question:
    found = deletion.deletion_of(actor, run)
    size = file_size(found.size)
    return {
        "title": _("Delete %(name)s v%(version)s for good?") % {"name": run.name, "version": run.version},
        "text": deletion.in_the_way(found.uses) if found.uses else "",
        "lost": _("Its output, checkpoints, log, charts and passport"),
        "lost_sub": (_("%(size)s are freed") if found.complete else _("more than %(size)s are freed")) % {"size": size},
        "kept": "; ".join([_("what it cost, and who did what, in bills and the audit log"), *_kept(found)]),
        "undo": _("No. To have it out of sight, archive it"),
        "action": reverse("training:delete", args=[run.pk]),
        "button": _("Delete for good"),
        "must_equal": run.name,
    }


def _kept(found: deletion.Deletion) -> list[str]:
    """What others keep of it."""
    told = []
    if found.code_users:
        words = ngettext("its code, which %(runs)s uses", "its code, which %(runs)s use", len(found.code_users))
        told.append(words % {"runs": _names(found.code_users)})
    if found.continued_by:
        words = ngettext(
            "the checkpoint that %(runs)s went on from", "the checkpoints that %(runs)s went on from",
            len(found.continued_by),
        )  # fmt: skip
        told.append(words % {"runs": _names(found.continued_by)})
    return told


def _names(runs: tuple[Run, ...]) -> str:
    return ", ".join(f"{run.name} v{run.version}" for run in runs)


QUESTIONS: Mapping[str, Callable[[Actor, Run], Question]] = {
    "archive": _archive_question,
    "unarchive": _unarchive_question,
    "delete": _delete_question,
}


@requires(SUBMIT)
@require_POST
def archive(request: ActorRequest, run_id: UUID) -> HttpResponse:
    words = _("%(name)s is in the archive; the filter shows it.")
    return _put_away(request, run_id, archiving.archive, words)


@requires(SUBMIT)
@require_POST
def unarchive(request: ActorRequest, run_id: UUID) -> HttpResponse:
    run = selectors.get(request.actor, run_id)
    archiving.unarchive(request.actor, run)
    messages.success(request, _("%(name)s is in the list again.") % {"name": run.name})
    return redirect("training:detail", run.pk)


@requires(SUBMIT)
@require_POST
def delete(request: ActorRequest, run_id: UUID) -> HttpResponse:
    return _put_away(request, run_id, deletion.delete, _("%(name)s is deleted."))


def _put_away(request: ActorRequest, run_id: UUID, act: Callable[[Actor, Run], None], words: str) -> HttpResponse:
    """Back to the list, or to the run where the act is refused."""
    run = selectors.get(request.actor, run_id)
    try:
        act(request.actor, run)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("training:detail", run.pk)
    messages.success(request, words % {"name": run.name})
    return redirect("training:list")
