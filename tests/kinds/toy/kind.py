"""What the kernel has to know of toys."""

from apps.common.badges import Tone
from apps.common.permissions import Permission
from apps.notifications.choices import Topic
from apps.notifications.kinds import Kind as NoticeKind
from apps.notifications.words.base import Data, Words, link, name_in
from apps.notifications.words.sets import kinds_of_sets, of_sets
from apps.notifications.words.work import of_work
from apps.tenants.choices import Resource
from apps.tenants.roles import MEMBERS, READERS, KindPermission
from apps.workloads.choices import Kind, Reason, Status
from apps.workloads.kinds import KindRules, KindWords, Menu, Notices, Rights, Routes

KIND = Kind("toy")
PAGE = "toys:detail"
VIEW = Permission.new("toys.view")
PLAY = Permission.new("toys.play")
MANAGE_ALL = Permission.new("toys.manage_all")
LINE = Resource.new("toys", "Toys at a time")


def _wound_down(data: Data) -> Words:
    title = f"{name_in(data, 'name')} has wound down"
    return Words(title, "It can be wound up again.", Tone.RUN, "circle-check", **link(data, PAGE, "workload_id"))


TOY = KindRules(
    name=KIND,
    label="Toy",
    rights=Rights(VIEW, PLAY, MANAGE_ALL),
    quota_line=LINE,
    quota_unit="toys",
    words=KindWords(
        start="Wind it up", price_lock="until it has wound down", giving_way="Otherwise it is put away and wound again."
    ),
    notices=Notices(
        subject="toy",
        ends={Status.SUCCEEDED: "wound_down"},
        speakers={
            **of_work(PAGE, queued_again="It is wound up again."),
            **of_sets(PAGE, dict(Reason.choices)),
            "wound_down": _wound_down,
        },
        declared=(NoticeKind("toy.wound_down", Topic.RUNS, "Toy wound down"), *kinds_of_sets("toy", Topic.RUNS)),
    ),
    routes=Routes("toys/", "tests.kinds.toy.urls", "tests.kinds.toy.api_urls"),
    page=PAGE,
    menu=Menu("Toys", "flask", "toys:list", position=30),
    permissions=(
        KindPermission(VIEW, "See toys", "Toys", READERS),
        KindPermission(PLAY, "Play with toys of one's own", "Toys", MEMBERS),
        KindPermission(MANAGE_ALL, "See and put away colleagues' toys", "Toys"),
    ),
)
