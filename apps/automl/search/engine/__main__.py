"""The process: it reads `{"time_s": …, "memory": …, "calls": [{"what": …, …}]}`.

It writes `{"answer": …}` or `{"failed": code, "detail": …}` for each call, in their order.
"""

import json
import os
import resource
import sys
import warnings
from importlib import import_module
from typing import Any

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.failures import SearchFailed
from apps.automl.search.inquiry import Inquiry

# scikit-learn takes seconds to load: a module is loaded once a call needs it, and none that no call needs.
_PACKAGE = "apps.automl.search.engine"


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.{name}")


def _ask(call: dict[str, Any]) -> Any:
    inquiry = Inquiry.from_json(call["inquiry"])
    return _module("gp" if inquiry.algorithm is Algorithm.GP else "asking").ask(inquiry).as_json()


def _importance(call: dict[str, Any]) -> Any:
    return _module("importance").importance(Inquiry.from_json(call["inquiry"]), call["objective"])


def _outlook(call: dict[str, Any]) -> Any:
    return _module("outlook").outlook(Inquiry.from_json(call["inquiry"]), call["more"]).as_json()


def _landscape(call: dict[str, Any]) -> Any:
    inquiry = Inquiry.from_json(call["inquiry"])
    return _module("landscape").landscape(inquiry, call["across"], call["up"]).as_json()


def _write_study(call: dict[str, Any]) -> Any:
    return _module("study_files").write(Inquiry.from_json(call["inquiry"]), call["name"])


def _read_study(call: dict[str, Any]) -> Any:
    return _module("study_files").read(call["content"], call["name"])


CALLS = {
    "ask": _ask,
    "importance": _importance,
    "outlook": _outlook,
    "landscape": _landscape,
    "write_study": _write_study,
    "read_study": _read_study,
}


def main() -> None:
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (asked["time_s"], asked["time_s"]))
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    warnings.simplefilter("ignore")
    # What a library prints goes to the log, and not between the answers.
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    os.dup2(2, 1)
    json.dump([_answer(call) for call in asked["calls"]], answers)
    answers.flush()


def _answer(call: dict[str, Any]) -> dict[str, Any]:
    """One call that fails leaves the others their answers."""
    try:
        return {"answer": CALLS[call["what"]](call)}
    except SearchFailed as failure:
        return {"failed": failure.code, "detail": failure.detail}
    except Exception as error:
        return {"failed": "error", "detail": f"{type(error).__name__}: {error}"[:2000]}


if __name__ == "__main__":
    main()
