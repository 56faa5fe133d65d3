"""Carry out deletions of accounts whose term is over: the loop's part. Each step may be interrupted and repeated.

First what goes on in the person's name is ended. Then, in one transaction, everything goes that says who they were; the
row stays under another name, because postings, invoices and the log refer to it. At last their files go to the recycle
bin: what a colleague's work has mounted, as soon as that has ended.
"""

import logging
from uuid import UUID

from django.db import transaction

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.live import recheck_rights_on_commit
from apps.tenants import letters, quotas
from apps.tenants.models import AccountDeletion, Membership, User
from apps.tenants.personal_data import declared, erased_rows
from apps.tenants.services.former_names import digest_of

logger = logging.getLogger(__name__)
AT_A_TIME = 20


def carry_out_due(actor: Actor) -> int:
    """Every deletion that is due, as far as it gets; returns how many accounts were erased. Call as the platform."""
    due = AccountDeletion.objects.filter(withdrawn_at=None, finished_at=None, erase_at__lte=db_now())
    erased = 0
    for deletion in due.select_related("user").order_by("erase_at")[:AT_A_TIME]:
        try:
            erased += _advance(actor, deletion)
        except Exception:  # one account must not keep the others waiting; the next round tries again
            logger.exception("the deletion of user %s did not get on", deletion.user_id)
    return erased


def _advance(actor: Actor, deletion: AccountDeletion) -> bool:
    """One step further; whether the account was erased by it."""
    erased = False
    if deletion.erased_at is None:
        if not all(each.end(actor, deletion.user) for each in declared()):
            return False
        erased = erase(actor, deletion_id=deletion.pk)
    user = User.objects.get(pk=deletion.user_id)
    if user.is_erased and all(each.put_away(actor, user) for each in declared()):
        AccountDeletion.objects.filter(pk=deletion.pk).update(finished_at=db_now())
    return erased


def erase(actor: Actor, *, deletion_id: UUID) -> bool:
    """Erase who the person was; False where it was taken back at the last moment, or has happened already."""
    with transaction.atomic():
        wanted = AccountDeletion.objects.get(pk=deletion_id)
        for organisation_id in sorted(
            Membership.objects.filter(user_id=wanted.user_id).values_list("organisation_id", flat=True)
        ):
            quotas.lock(organisation_id)
        user = User.objects.select_for_update().get(pk=wanted.user_id)
        open_rows = AccountDeletion.objects.select_for_update().filter(withdrawn_at=None, erased_at=None)
        deletion = open_rows.filter(pk=deletion_id, erase_at__lte=db_now()).first()
        if deletion is None:
            return False
        farewell = letters.letter_to(user, letters.About.ERASED)
        deletion.name_digest, deletion.erased_at = digest_of(user.username), db_now()
        for each in declared():
            each.erase(actor, user)
        for model, column in erased_rows():
            model._base_manager.filter(**{column: user.pk}).delete()
        _anonymise(user)
        deletion.save(update_fields=["name_digest", "erased_at"])
        record(actor, action="user.erased", target=Target("user", str(user.pk), user.username))
        recheck_rights_on_commit(user.pk)
        letters.send_on_commit(farewell)
    return True


def _anonymise(user: User) -> None:
    user.username, user.name, user.email, user.phone = user.pseudonym, "", "", ""
    user.language = user.last_language = ""
    user.set_unusable_password()
    user.password_given = user.is_active = False
    user.current_organisation, user.last_login = None, None
    user.erased_at = db_now()
    user.save()
