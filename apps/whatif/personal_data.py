"""What becomes of scenarios when an account is deleted: they are the platform's, and call the person by a number."""

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, OwnRows, PersonalData
from apps.whatif.models import Scenario


def _erase(actor: Actor, user: User) -> None:
    Scenario.objects.filter(owner=user).update(made_by=user.pseudonym)


DATA = PersonalData(
    links={
        "whatif.Scenario.owner": Fate.KEPT,
        "whatif.Scenario.made_by": Fate.KEPT,
        "whatif.Trace.made_by": Fate.KEPT,
    },
    erase=_erase,
    own=(OwnRows("scenarios", _("What-if scenarios"), "whatif.Scenario", "owner", "name source start end created_at"),),
)
