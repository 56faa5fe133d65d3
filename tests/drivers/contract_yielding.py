"""Contract: a program is told that it has to give way, has a long time to save, and is seen to have saved."""

import json
import time

from apps.workloads.drivers.base import ExitReason, IsolationLevel, Observation
from apps.workloads.drivers.capabilities import IsolationMixin, Notice, NoticeMixin
from tests.drivers.kit import MIB, NODE, Kit, eventually

SHOWS_ITS_NOTICE = """
import os, time
path, last = os.environ["PLSTACK_NOTICE"], None
print("ready")
while True:
    try:
        said = open(path).read()
    except FileNotFoundError:
        said = "nothing"
    if said != last:
        print(said)
        last = said
    time.sleep(0.05)
"""
WRITES_ITS_NOTICE = """
import os
try:
    open(os.environ["PLSTACK_NOTICE"] + "x", "w")
    print("written")
except OSError:
    print("refused")
"""
SAVES = """
import os, signal, sys, time
def save(*_):
    folder = os.environ["PLSTACK_CHECKPOINTS"] + "/step-1"
    os.makedirs(folder, exist_ok=True)
    path = folder + "/weights"
    open(path, "w").write("w")
    os.utime(path, (0, 0))
    sys.exit(143)
signal.signal(signal.SIGTERM, save)
print("ready")
time.sleep(60)
"""
WHERE = {"PLSTACK_CHECKPOINTS": "/workspace/output/checkpoints"}


class YieldingContract:
    def test_the_notice_is_found_inside_and_taken_back(self, kit: Kit) -> None:
        told = kit.offers(NoticeMixin)
        handle = kit.launch(kit.python(SHOWS_ITS_NOTICE))
        kit.wait_output(handle, "nothing\n")
        for _ in range(3):
            told.tell(handle, Notice("higher_priority", 120.0, 300.0))
        kit.wait_output(handle, "higher_priority")
        told.tell(handle, None)
        told.tell(handle, None)
        eventually(lambda: kit.driver.logs(handle, 0, MIB).data.count(b"nothing\n"), lambda count: count == 2)
        kit.driver.stop(handle, 0)
        kit.wait(handle)
        said = [line for line in kit.text(handle).splitlines() if line.startswith("{")]
        assert len(said) == 1
        notice = json.loads(said[0])
        assert (notice["reason"], notice["leave_in_s"], notice["save_s"]) == ("higher_priority", 120.0, 300.0)
        assert kit.text(handle).count("nothing") == 2

    def test_only_the_platform_writes_there(self, kit: Kit) -> None:
        kit.offers(NoticeMixin)
        isolated = kit.offers(IsolationMixin).isolation(NODE).level is IsolationLevel.L1
        _, text = kit.run(kit.python(WRITES_ITS_NOTICE))
        assert text == ("refused\n" if isolated else "written\n")

    def test_telling_what_has_ended_is_harmless(self, kit: Kit) -> None:
        told = kit.offers(NoticeMixin)
        handle = kit.launch(kit.request("true"))
        kit.wait(handle)
        told.tell(handle, Notice("guarantee", 1.0, 1.0))

    def test_a_checkpoint_is_seen_whatever_time_the_program_gives_it(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SAVES, env=WHERE))
        kit.wait_output(handle, "ready")
        assert kit.driver.observe(handle).checkpoint_age_s is None
        asked = time.monotonic()
        kit.driver.stop(handle, 3600)
        assert time.monotonic() - asked < 60, "a long grace must not be waited for"
        seen: Observation = kit.wait(handle)
        assert seen.exit is not None
        assert (seen.exit.code, seen.exit.reason) == (143, ExitReason.STOPPED)
        assert seen.checkpoint_age_s is not None
        assert 0 <= seen.checkpoint_age_s < 30
