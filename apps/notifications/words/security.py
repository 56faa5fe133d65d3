"""Words about a person's own account. Data: `by`, `provider`."""

from collections.abc import Mapping
from dataclasses import replace

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words, name_in


def _second_factor_reset(data: Data) -> Words:
    text = _("%(by)s has taken your second factor away. Set up a new one. If you did not ask for this, say so at once.")
    return _said(_("Your second factor was reset"), text % {"by": name_in(data, "by")})


def _password_reset(data: Data) -> Words:
    text = _("%(by)s has set a new password for you. If you did not ask for this, say so at once.")
    return _said(_("Your password was reset"), text % {"by": name_in(data, "by")})


def _account_changed(data: Data) -> Words:
    text = _("%(by)s has changed your name or your e-mail address. If this is wrong, correct it or say so.")
    words = _said(_("Your account was changed"), text % {"by": name_in(data, "by")})
    return replace(words, page="account:profile", action=_("Profile"))


def _account_linked(data: Data) -> Words:
    text = _("You can sign in with %(provider)s now. If this was not you, disconnect it and change your password.")
    return _said(_("An account was connected to yours"), text % {"provider": name_in(data, "provider")})


def _data_ready(data: Data) -> Words:
    text = _("It can be fetched for seven days. If you did not ask for it, change your password.")
    return Words(
        _("The copy of your data is ready"), text, Tone.RUN, "package", page="account:own_data", action=_("Fetch it")
    )


def _data_failed(data: Data) -> Words:
    text = _("This is the platform's fault. Ask for it again.")
    title = _("The copy of your data could not be put together")
    return Words(title, text, Tone.FAIL, "circle-x", page="account:own_data", action=_("Ask again"))


def _said(title: str, text: str) -> Words:
    return Words(title, text, Tone.WARN, "shield-lock", page="account:security", action=_("Security"))


KINDS: Mapping[str, Speaker] = {
    "security.second_factor_reset": _second_factor_reset,
    "security.password_reset": _password_reset,
    "security.account_changed": _account_changed,
    "security.account_linked": _account_linked,
    "account.data_ready": _data_ready,
    "account.data_failed": _data_failed,
}
