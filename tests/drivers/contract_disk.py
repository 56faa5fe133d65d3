"""Contract: what an attempt may hold on its machine's disk."""

from dataclasses import replace

from apps.workloads.drivers.base import Exit, ExitReason, Handle, LaunchRequest
from apps.workloads.drivers.disk import DiskLimits
from tests.drivers.kit import Kit

LIMITS = DiskLimits(scratch_mib=24, files=500, log_mib=1)
FILLS = """
import os, sys, tempfile, time
folder = sys.argv[1] or tempfile.gettempdir()
print("began")
with open(folder + "/large", "wb") as file:
    for _ in range(int(sys.argv[2])):
        file.write(b"x" * 2**20)
        file.flush()
print("written")
time.sleep(float(sys.argv[3]))
"""
HOLDS_DELETED = """
import os, tempfile, time
file = tempfile.TemporaryFile()
for _ in range(40):
    file.write(b"x" * 2**20)
file.flush()
time.sleep(60)
"""
MANY_FILES = """
import os, tempfile, time
os.chdir(tempfile.mkdtemp())
for n in range(2000):
    open(str(n), "w").close()
time.sleep(60)
"""
HARMLESS = """
import os, tempfile, time
os.chdir(tempfile.mkdtemp())
with open("sparse", "wb") as file:
    file.truncate(20 * 2**20)
with open("first", "wb") as file:
    file.write(b"x" * 16 * 2**20)
for n in range(400):
    os.link("first", f"name-{n}")
time.sleep(4)
"""
DEEP = """
import os, tempfile, time
os.chdir(tempfile.mkdtemp())
for n in range(3000):
    os.mkdir("d")
    os.chdir("d")
open("hidden", "wb").write(b"x" * 2**20)
time.sleep(60)
"""
SAVES = """
import signal, sys, tempfile, time
def save(*_):
    print("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open(tempfile.gettempdir() + "/large", "wb").write(b"x" * 40 * 2**20)
time.sleep(60)
"""
FLOODS = """
import sys
for n in range(3 * 2**14):
    sys.stdout.write(f"{n:063d}\\n")
"""


class DiskContract:
    def test_more_than_its_scratch_ends_it_in_words(self, kit: Kit) -> None:
        ended = self._ended(kit, kit.python(FILLS, "", "40", "60"))
        assert ended.reason is ExitReason.DISK_LIMIT
        assert ended.detail == "Its files in /tmp take more than 24 MiB"
        assert not ended.succeeded

    def test_a_working_directory_of_its_own_counts_too(self, kit: Kit) -> None:
        ended = self._ended(kit, kit.python(FILLS, "/workspace", "40", "60", workdir="/workspace"))
        assert ended.reason is ExitReason.DISK_LIMIT

    def test_less_does_not(self, kit: Kit) -> None:
        assert self._ended(kit, kit.python(FILLS, "", "16", "3")).succeeded

    def test_a_mount_of_its_own_has_its_own_limit(self, kit: Kit) -> None:
        request = kit.python(FILLS, "/workspace/output", "40", "60")
        mounts = tuple(replace(m, limit_mib=None if m.read_only else 32) for m in request.mounts)
        ended = self._ended(kit, replace(request, mounts=mounts))
        assert ended.reason is ExitReason.DISK_LIMIT
        assert ended.detail == "Its files in /workspace/output take more than 32 MiB"

    def test_a_mount_without_a_limit_is_limited_by_others(self, kit: Kit) -> None:
        assert self._ended(kit, kit.python(FILLS, "/workspace/output", "40", "3")).succeeded

    def test_what_is_deleted_and_still_open_counts(self, kit: Kit) -> None:
        assert self._ended(kit, kit.python(HOLDS_DELETED)).reason is ExitReason.DISK_LIMIT

    def test_too_many_files_end_it(self, kit: Kit) -> None:
        ended = self._ended(kit, kit.python(MANY_FILES))
        assert ended.reason is ExitReason.FILE_LIMIT
        assert ended.detail == "It holds more than 500 files and folders"

    def test_holes_and_further_names_of_a_file_are_free(self, kit: Kit) -> None:
        assert self._ended(kit, kit.python(HARMLESS)).succeeded

    def test_nothing_hides_below_deep_folders_and_nothing_stays(self, kit: Kit) -> None:
        ended = self._ended(kit, kit.python(DEEP))
        assert ended.reason is ExitReason.FILE_LIMIT
        assert "deep" in ended.detail

    def test_it_may_save_before_it_ends(self, kit: Kit) -> None:
        handle = self._launch(kit, kit.python(SAVES))
        assert kit.wait_exit(handle).reason is ExitReason.DISK_LIMIT
        assert "saved" in kit.text(handle)

    def test_output_beyond_the_logs_limit_is_dropped_and_said_to_be(self, kit: Kit) -> None:
        handle = self._launch(kit, kit.python(FLOODS, env={"PYTHONUNBUFFERED": ""}))
        assert kit.wait_exit(handle).succeeded
        log = kit.log(handle)
        assert b"limit of 1 MiB; further output is dropped" in log
        assert 2**20 <= len(log) < 2**20 + 200

    @staticmethod
    def _launch(kit: Kit, request: LaunchRequest) -> Handle:
        return kit.launch(replace(request, disk=LIMITS))

    def _ended(self, kit: Kit, request: LaunchRequest) -> Exit:
        return kit.wait_exit(self._launch(kit, request))
