from apps.tenants.models.organisations import Department, Organisation
from apps.tenants.models.people import Membership, PlatformAssignment, User
from apps.tenants.models.quotas import Quota

__all__ = ["Department", "Membership", "Organisation", "PlatformAssignment", "Quota", "User"]
