"""What becomes of boards when an account is deleted: they say what was charged for, and end with other work."""

from apps.tenants.personal_data import Fate, PersonalData

DATA = PersonalData(links={"boards.Board.owner": Fate.KEPT})
