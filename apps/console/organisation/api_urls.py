"""The API of an organisation's own people, departments and quotas."""

from apps.console.organisation.departments import urls as departments
from apps.console.organisation.invitations import urls as invitations
from apps.console.organisation.members import urls as members
from apps.console.organisation.quotas import urls as quotas
from apps.console.organisation.roles import urls as roles

urlpatterns = [
    *departments.endpoints,
    *invitations.endpoints,
    *members.endpoints,
    *quotas.endpoints,
    *roles.endpoints,
]
