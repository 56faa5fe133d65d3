"""Words about work that is saved as an image. Data: `name` of the work, `image` as the registry names it, `saving_id`,
and `repository_id` where there is one.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words, link, name_in


def _saved(data: Data) -> Words:
    title = _("%(name)s is saved as an image") % {"name": name_in(data, "name")}
    text = _("%(image)s is in the registry: environments and runs can start from it, on every machine.")
    where = link(data, "registry:repository", "repository_id")
    words = text % {"image": name_in(data, "image")}
    return Words(title, words, Tone.RUN, "package-export", action=_("See the image"), **where)


def _not_saved(data: Data) -> Words:
    title = _("%(name)s could not be saved as an image") % {"name": name_in(data, "name")}
    text = _("%(image)s did not get into the registry. The list says why, and what to do.")
    words = text % {"image": name_in(data, "image")}
    return Words(title, words, Tone.FAIL, "circle-x", page="registry:savings", action=_("See why"))


KINDS: Mapping[str, Speaker] = {"image.saved": _saved, "image.not_saved": _not_saved}
