"""People, where they belong and what they may do."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models.organisations import Department, Organisation


class User(AbstractBaseUser):
    """A person. Rights come from memberships and platform assignments only; Django's own flags are not used."""

    username = models.CharField(_("user name"), max_length=60, validators=[UnicodeUsernameValidator()])
    email = models.EmailField(_("e-mail"), blank=True)
    name = models.CharField(_("name"), max_length=80, blank=True)
    language = models.CharField(_("language"), max_length=10, blank=True)
    # Of the page that the person opened last: mails use it until the person chooses a language.
    last_language = models.CharField(max_length=10, blank=True, default="")
    phone = models.CharField(_("phone"), max_length=20, blank=True)  # E.164, for SMS
    is_active = models.BooleanField(default=True)
    # Whether somebody else knows the password: it was generated for them, and they have chosen none yet.
    password_given = models.BooleanField(default=False, db_default=False)
    date_joined = models.DateTimeField(db_default=Now())
    # When the account was deleted: what the books and the log need of it is left, under another name.
    erased_at = models.DateTimeField(null=True, blank=True)
    # The organisation that the person looked at last; the next sign-in continues there.
    current_organisation = models.ForeignKey(Organisation, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = BaseUserManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="user_username_once"),
            models.UniqueConstraint(Lower("email"), condition=~models.Q(email=""), name="user_email_once"),
        ]

    def __str__(self) -> str:
        return self.display_name

    @property
    def pseudonym(self) -> str:
        """The name under which the books keep a deleted account."""
        return f"deleted-{self.pk}"

    @property
    def is_erased(self) -> bool:
        return self.erased_at is not None

    @property
    def display_name(self) -> str:
        return self.name or self.username


class Membership(TenantModel):
    """A person in an organisation, with a base role and a priority for the queue (5 goes first)."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    department = models.ForeignKey(Department, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    role = models.CharField(max_length=16, choices=Role, default=Role.MEMBER)
    # A role of the organisation's own making; its permissions replace those of `role`, which still gives the rank.
    own_role = models.ForeignKey(
        "tenants.OrganisationRole", on_delete=models.PROTECT, null=True, blank=True, related_name="memberships"
    )
    priority = models.PositiveSmallIntegerField(default=3)
    # Their share of the department's part of the queue, relative to the people beside them.
    weight = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(priority__range=(1, 5)), name="membership_priority_1_to_5"),
            models.CheckConstraint(condition=models.Q(weight__range=(1, 100)), name="membership_weight_1_to_100"),
        ]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="membership_newest")]


class PlatformAssignment(models.Model):
    """A role among the platform's own staff: a base role, or one that was defined here (`defined`)."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="platform_assignments")
    role = models.CharField(max_length=16, choices=PlatformRole, blank=True)
    defined = models.ForeignKey(
        "tenants.DefinedPlatformRole", on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "role", "defined"], name="platform_role_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(role="", defined__isnull=False)
                | (~models.Q(role="") & models.Q(defined__isnull=True)),
                name="platform_role_base_or_defined",
            ),
        ]
