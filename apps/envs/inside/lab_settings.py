"""What JupyterLab begins with: its language, and the limits that its status bar shows. Only the standard library."""

import json
from collections.abc import Mapping
from pathlib import Path

# By the language of the person whose environment it is; JupyterLab itself is English.
LOCALES = {"zh-hans": "zh_CN"}
MIB = 1 << 20


def write_settings(given: Path, folder: Path, environment: Mapping[str, str]) -> Path:
    """The settings of `given`, and the language, in `folder`; what people choose inside is kept in their home, and wins
    over these."""
    settings = json.loads((given / "overrides.json").read_text())
    locale = LOCALES.get(environment.get("PLSTACK_USER_LANGUAGE", ""))
    if locale is not None:
        settings["@jupyterlab/translation-extension:plugin"] = {"locale": locale}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "overrides.json").write_text(json.dumps(settings))
    return folder


def limits_shown(environment: Mapping[str, str]) -> list[str]:
    """Options that say what memory and processors are out of: of the package, not of the machine."""
    memory, cpu = environment.get("PLSTACK_MEMORY_MIB"), environment.get("PLSTACK_CPU_MILLI")
    if memory is None or cpu is None:
        return []
    return [
        f"--ResourceUseDisplay.mem_limit={int(memory) * MIB}",
        "--ResourceUseDisplay.track_cpu_percent=True",
        # In percent, as it measures: two cores are 200.
        f"--ResourceUseDisplay.cpu_limit={int(cpu) / 10}",
    ]
