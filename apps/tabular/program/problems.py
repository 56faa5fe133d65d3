"""Why a table cannot be searched, as a code that the platform has words for."""

import json
from pathlib import Path
from typing import Any


class Problem(Exception):
    """`code` and `parameters` go to `problem.json`; the sentence is for the log."""

    def __init__(self, code: str, sentence: str, **parameters: Any) -> None:
        super().__init__(sentence)
        self.code, self.parameters = code, parameters

    def write(self, output: Path) -> None:
        text = json.dumps({"code": self.code, "parameters": self.parameters, "sentence": str(self)})
        (output / "problem.json").write_text(text)
