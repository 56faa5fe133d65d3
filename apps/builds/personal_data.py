"""What becomes of builds when an account is deleted: they say how an image was made, and stay with it."""

from apps.tenants.personal_data import Fate, PersonalData

DATA = PersonalData(links={"builds.Build.owner": Fate.KEPT})
