"""What becomes of notices, mail and the confirmed phone when an account is deleted."""

from apps.tenants.personal_data import Fate, PersonalData

DATA = PersonalData(
    links={
        "notifications.Delivery.user": Fate.ERASED,
        "notifications.Notice.user": Fate.ERASED,
        "notifications.Preference.user": Fate.ERASED,
        "notifications.Phone.user": Fate.ERASED,
        "notifications.Webhook.created_by": Fate.KEPT,  # the organisation's
    }
)
