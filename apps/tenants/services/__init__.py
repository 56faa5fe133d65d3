"""Everything that writes people and organisations, by entity."""

from apps.tenants.services.account import choose_organisation, update_profile
from apps.tenants.services.members import add_member
from apps.tenants.services.organisations import create_organisation, set_organisation_status, target_of
from apps.tenants.services.people import Person, create_user
from apps.tenants.services.staff import assign_platform_role

__all__ = [
    "Person",
    "add_member",
    "assign_platform_role",
    "choose_organisation",
    "create_organisation",
    "create_user",
    "set_organisation_status",
    "target_of",
    "update_profile",
]
