"""What becomes of runs when an account is deleted: they are the organisation's results, and stay."""

from django.utils.translation import ngettext

from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, PersonalData
from apps.training.models import Run


def _kept(user: User) -> list[Line]:
    count = Run.objects.filter(owner=user).count()
    if not count:
        return []
    text = ngettext(
        "%(count)s run with its code and results, for the organisation's administrators",
        "%(count)s runs with their code and results, for the organisation's administrators",
        count,
    )
    return [Line(text % {"count": count})]


DATA = PersonalData(links={"training.Run.owner": Fate.KEPT}, kept=_kept)
