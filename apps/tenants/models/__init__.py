from apps.tenants.models.credentials import ApiToken, SshKey
from apps.tenants.models.deletions import AccountDeletion
from apps.tenants.models.guarantees import Guarantee
from apps.tenants.models.invitations import Invitation
from apps.tenants.models.organisations import Department, Organisation
from apps.tenants.models.own_data import OwnDataExport
from apps.tenants.models.people import Membership, PlatformAssignment, User
from apps.tenants.models.quotas import Holding, Quota
from apps.tenants.models.roles import DefinedPlatformRole, OrganisationRole
from apps.tenants.models.settings import PlatformSetting
from apps.tenants.models.sign_ins import KnownDevice, SignInFailures

__all__ = [
    "AccountDeletion",
    "ApiToken",
    "DefinedPlatformRole",
    "Department",
    "Guarantee",
    "Holding",
    "Invitation",
    "KnownDevice",
    "Membership",
    "Organisation",
    "OrganisationRole",
    "OwnDataExport",
    "PlatformAssignment",
    "PlatformSetting",
    "Quota",
    "SignInFailures",
    "SshKey",
    "User",
]
