"""Contract: every folder and file that a variable promises is there as the program starts."""

import os

from tests.drivers.contract_yielding import WHERE
from tests.drivers.kit import Kit

# The notice is there once there is one to read; its folder always is.
LOOKS = """
import os
own = {name: value for name, value in os.environ.items() if name.startswith("PLSTACK_")}
own |= {name: os.environ[name] for name in ("HOME", "TMPDIR", "VIRTUAL_ENV")}
own["PLSTACK_NOTICE"] = os.path.dirname(own["PLSTACK_NOTICE"])
paths = {name: value for name, value in own.items() if value.startswith("/")}
print(sorted(paths))
print(sorted(name for name, path in paths.items() if not os.path.exists(path)))
"""
SAVES = """
import os
here = os.environ["PLSTACK_CHECKPOINTS"]
open(here + "/step-1", "w").write("w")
print(sorted(os.listdir(here)))
"""


class FoldersContract:
    def test_what_the_variables_promise_is_there(self, kit: Kit) -> None:
        ended, text = kit.run(kit.python(LOOKS, env=WHERE))
        assert ended.succeeded, text
        promised, missing = text.splitlines()
        assert missing == "[]"
        for name in ("CHECKPOINTS", "CODE", "NOTICE", "OUTPUT", "PORTS"):
            assert f"PLSTACK_{name}" in promised

    def test_a_program_saves_without_making_the_folder(self, kit: Kit) -> None:
        for expected in ("['step-1']", "['step-0', 'step-1']"):  # a later attempt finds what the first one saved
            ended, text = kit.run(kit.python(SAVES, env=WHERE))
            assert ended.succeeded, text
            assert text == f"{expected}\n"
            (kit.output / "checkpoints" / "step-0").write_text("")

    def test_a_link_in_its_place_leads_nowhere_and_stays(self, kit: Kit) -> None:
        elsewhere = kit.output.parent / "elsewhere"
        (kit.output / "checkpoints").symlink_to(elsewhere)
        ended, text = kit.run(kit.request("true", env=WHERE))
        assert ended.succeeded, text
        assert os.readlink(kit.output / "checkpoints") == str(elsewhere)
        assert not elsewhere.exists()
