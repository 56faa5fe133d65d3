"""The webhook of a pipeline: a token of its own starts it, as its owner, from outside and without an account.

Only the token's digest is kept. It is asked for in a header, so that it stands in no log of addresses.
"""

import hashlib
import secrets
import time
from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.scoping import acting
from apps.common.throttling import Allowance, count_request
from apps.pipelines import services, starting
from apps.pipelines.choices import Cause
from apps.pipelines.models import Pipeline, PipelineRun
from apps.pipelines.owners import owner_of
from apps.training.choices import KIND
from apps.workloads.permissions import may_manage

MARK = "plp_"  # so that scanners of source code recognise a token that leaked
SECRET_BYTES, SHOWN_CHARS = 32, 4
STARTS_A_MINUTE = 30


def rotate(actor: Actor, pipeline: Pipeline) -> str:
    """A new token, returned once; the one before it is worth nothing from now on."""
    may_manage(actor, KIND, pipeline.owner_id)
    token = MARK + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        row = services.locked(pipeline)
        Pipeline.objects.filter(pk=row.pk).update(
            hook_digest=_digest(token), hook_tail=token[-SHOWN_CHARS:], hook_made_at=Now()
        )
        _record(actor, row, "pipeline.hook_made")
    return token


def revoke(actor: Actor, pipeline: Pipeline) -> None:
    """The pipeline has no webhook any more."""
    may_manage(actor, KIND, pipeline.owner_id)
    with transaction.atomic():
        row = services.locked(pipeline)
        Pipeline.objects.filter(pk=row.pk).update(hook_digest="", hook_tail="", hook_made_at=None)
        _record(actor, row, "pipeline.hook_revoked")


def allowance(pipeline_id: UUID) -> Allowance:
    """One more start by this pipeline's webhook: what is left of its minute. Wrong tokens count for their address."""
    return count_request(f"hook:{pipeline_id}", STARTS_A_MINUTE, time.time())


def find(pipeline_id: UUID, token: str) -> Pipeline:
    """Raises `NotFound` alike for no such pipeline and for another token. Call in the platform's scope."""
    rows = Pipeline.objects.select_related("owner").filter(pk=pipeline_id, hook_digest=_digest(token))
    pipeline = rows.filter(deleted_at__isnull=True).first()
    if pipeline is None:
        raise NotFound(_("There is no such webhook, or its token is another one."))
    return pipeline


def start(pipeline: Pipeline, *, key: str, parameters: Mapping[str, str]) -> PipelineRun:
    """As the owner, with the rights of now."""
    owner = owner_of(pipeline)
    with acting(owner):
        return starting.start(owner, pipeline, starting.Start(cause=Cause.HOOK, key=key, parameters=parameters))


def _digest(token: str) -> str:
    """Of 256 random bits: nothing is won by a slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def _record(actor: Actor, pipeline: Pipeline, action: str) -> None:
    target = Target("pipeline", str(pipeline.pk), pipeline.name)
    record(actor, action=action, organisation_id=pipeline.organisation_id, target=target)
