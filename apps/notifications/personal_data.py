"""What becomes of notices, mail and the confirmed phone when an account is deleted."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={
        "notifications.Delivery.user": Fate.ERASED,
        "notifications.Notice.user": Fate.ERASED,
        "notifications.Preference.user": Fate.ERASED,
        "notifications.Phone.user": Fate.ERASED,
        "notifications.Webhook.created_by": Fate.KEPT,  # the organisation's
    },
    own=(
        OwnRows(
            "notices", _("Notices"), "notifications.Notice", "user", "organisation__name kind data created_at read_at"
        ),
        OwnRows(
            "messages",
            _("Mails and text messages that were sent to you"),
            "notifications.Delivery",
            "user",
            "kind channel address state created_at done_at",
        ),
        OwnRows(
            "notice-preferences", _("What you want to be told"), "notifications.Preference", "user", "topic channel on"
        ),
        OwnRows("phone", _("Your confirmed phone"), "notifications.Phone", "user", "number verified_at"),
    ),
)
