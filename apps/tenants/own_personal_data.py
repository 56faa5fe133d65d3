"""Accounts themselves: memberships, roles, ways of signing in, keys, tokens and sessions."""

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import ApiToken, Invitation, Membership, SignInFailures, SshKey, User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData
from apps.tenants.services.deletion import is_only_member
from apps.tenants.services.invitations import revoke
from apps.tenants.services.members import end_memberships
from apps.tenants.services.organisations import set_organisation_status
from apps.tenants.services.staff import end_platform_roles


def _lost(user: User) -> list[Line]:
    lines = [Line(_("Name, e-mail, phone, language, password, second factor and connected accounts"))]
    tokens = ApiToken.objects.filter(user=user, revoked_at=None).filter(Q(expires_at=None) | Q(expires_at__gt=db_now()))
    keys = SshKey.objects.filter(user=user)
    if count := tokens.count():
        text = ngettext("%(count)s API token", "%(count)s API tokens", count) % {"count": count}
        lines.append(Line(text, tuple(tokens.values_list("name", flat=True))))
    if count := keys.count():
        text = ngettext("%(count)s SSH key", "%(count)s SSH keys", count) % {"count": count}
        lines.append(Line(text, tuple(keys.values_list("name", flat=True))))
    mine = _memberships(user)
    if mine:
        names = tuple(member.organisation.name for member in mine)
        text = ngettext("%(count)s membership", "%(count)s memberships", len(mine)) % {"count": len(mine)}
        lines.append(Line(text, names))
    return lines


def _kept(user: User) -> list[Line]:
    alone = tuple(member.organisation.name for member in _memberships(user) if is_only_member(member))
    lines = [Line(_("The log of operations and the histories of work, as they were written"))]
    if alone:
        lines.append(Line(_("Organisations without another member, frozen, with their wallet and books"), alone))
    return lines


def _memberships(user: User) -> list[Membership]:
    rows = Membership.objects.filter(user=user).select_related("organisation")
    return list(rows.order_by("organisation__name"))


def _erase(actor: Actor, user: User) -> None:
    for member in _memberships(user):
        if is_only_member(member) and member.organisation.status == OrganisationStatus.ACTIVE:
            set_organisation_status(actor, organisation_id=member.organisation_id, status=OrganisationStatus.FROZEN)
    end_memberships(actor, user)
    end_platform_roles(actor, user)
    for invitation in Invitation.objects.filter(created_by=user, revoked_at=None, expires_at__gt=db_now()):
        revoke(actor, invitation_id=invitation.pk, organisation_id=invitation.organisation_id)
    if user.email:  # of invitations that they were sent
        Invitation.objects.filter(email__iexact=user.email).update(email="")
    SignInFailures.objects.filter(account__in=[f"user:{user.pk}", f"code:{user.pk}"]).delete()
    sessions = UserSession.objects.filter(user=user).values_list("session_key", flat=True)
    Session.objects.filter(session_key__in=list(sessions)).delete()


DATA = PersonalData(
    links={
        "tenants.ApiToken.user": Fate.ERASED,
        "tenants.SshKey.user": Fate.ERASED,
        "tenants.KnownDevice.user": Fate.ERASED,
        "account.EmailAddress.user": Fate.ERASED,
        "mfa.Authenticator.user": Fate.ERASED,
        "socialaccount.SocialAccount.user": Fate.ERASED,
        "usersessions.UserSession.user": Fate.ERASED,
        "guardian.UserObjectPermission.user": Fate.ERASED,
        "common.IdempotentAnswer.user_id": Fate.ERASED,
        "common.RequestCount.who": Fate.EXPIRES,
        "tenants.Membership.user": Fate.ENDED,
        "tenants.PlatformAssignment.user": Fate.ENDED,
        "tenants.Invitation.created_by": Fate.KEPT,
        # What the person still holds counts until the recycle bin is emptied.
        "tenants.Quota.user": Fate.KEPT,
        "tenants.Holding.user": Fate.KEPT,
        "tenants.OwnDataExport.user": Fate.ERASED,
        "tenants.AccountDeletion.user": Fate.KEPT,
        "tenants.AccountDeletion.asked_by": Fate.KEPT,
        "audit.Entry.actor_id": Fate.KEPT,
        "audit.Entry.actor_label": Fate.KEPT,
    },
    lost=_lost,
    kept=_kept,
    erase=_erase,
    own=(
        OwnRows(
            "profile",
            _("Your account"),
            "tenants.User",
            "pk",
            "username name email phone language last_language date_joined last_login",
            everywhere=True,
        ),
        OwnRows(
            "memberships",
            _("Organisations of which you are a member"),
            "tenants.Membership",
            "user",
            "organisation__name role own_role__name department__name priority weight created_at",
        ),
        OwnRows(
            "staff-roles",
            _("Roles on the platform"),
            "tenants.PlatformAssignment",
            "user",
            "role defined__name created_at",
        ),
        OwnRows(
            "api-tokens",
            _("API tokens, without the tokens"),
            "tenants.ApiToken",
            "user",
            "name prefix permissions created_at expires_at last_used_at revoked_at",
        ),
        OwnRows(
            "ssh-keys", _("SSH keys"), "tenants.SshKey", "user", "name public_key fingerprint created_at last_used_at"
        ),
        OwnRows(
            "devices", _("Devices from which you signed in"), "tenants.KnownDevice", "user", "place created_at seen_at"
        ),
        OwnRows("addresses", _("E-mail addresses"), "account.EmailAddress", "user", "email verified primary"),
        OwnRows(
            "second-factors",
            _("Second factors, without their secrets"),
            "mfa.Authenticator",
            "user",
            "type created_at last_used_at",
        ),
        OwnRows(
            "connected-accounts",
            _("Connected accounts"),
            "socialaccount.SocialAccount",
            "user",
            "provider uid last_login date_joined",
        ),
        OwnRows(
            "sessions",
            _("Where you are signed in"),
            "usersessions.UserSession",
            "user",
            "ip user_agent created_at last_seen_at",
        ),
        OwnRows("quotas", _("Your quotas"), "tenants.Quota", "user", "organisation__name resource model limit used"),
        OwnRows(
            "holdings",
            _("What counts against your quotas"),
            "tenants.Holding",
            "user",
            "organisation__name resource model amount holder_kind holder_id",
        ),
        OwnRows(
            "deletions",
            _("Deletions of your account that were asked for"),
            "tenants.AccountDeletion",
            "user",
            "asked_at erase_at withdrawn_at",
        ),
        OwnRows(
            "invitations",
            _("Invitations that you sent"),
            "tenants.Invitation",
            "created_by",
            "organisation__name email role created_at expires_at revoked_at",
        ),
        OwnRows(
            "acts",
            _("What you did, as the log has it"),
            "audit.Entry",
            "actor_id",
            "at action target_type target_id target_label channel address",
        ),
        OwnRows(
            "acts-on-you",
            _("What was done to your account"),
            "audit.Entry",
            "target_id",
            "at action actor_label channel before after",
            where={"target_type": "user"},
            everywhere=True,
        ),
    ),
)
