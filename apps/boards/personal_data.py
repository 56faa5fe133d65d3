"""What becomes of boards when an account is deleted: they say what was charged for, and end with other work."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={"boards.Board.owner": Fate.KEPT},
    own=(OwnRows("boards", _("TensorBoards"), "boards.Board", "owner", "organisation__name number created_at"),),
)
