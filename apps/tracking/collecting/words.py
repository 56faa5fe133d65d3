"""What pages say about reading a run."""

from django.utils.translation import gettext as _

from apps.tracking.collecting.models import Collection, Problem


def problem_of(collection: Collection | None) -> str:
    """Why less was read than there is; empty where all was."""
    if collection is None or not collection.problem:
        return ""
    detail = collection.problem_detail
    match Problem(collection.problem):
        case Problem.SLOW_PATTERN:
            return _("Its own patterns take too long with this log; its lines are not read any more.")
        case Problem.LIMIT:
            return detail
        case Problem.DAMAGED:
            return _("%(path)s is damaged or too large: it was read up to there.") % {"path": detail}
        case _:
            return _("Its machine could not be asked for the rest of its log.")
