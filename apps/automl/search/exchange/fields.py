"""Reading a tree of YAML field by field, so that nothing in it is passed over in silence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import yaml

LARGEST = 256 * 1024
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong at a place of the file: `spec.parameters[2].name`. `said` is what stands there, shortened."""

    path: str
    code: str
    said: str = ""


class BadFile(Exception):
    """Every fault that was found. Codes: `too_large`, `not_yaml`, `not_an_experiment`, `missing`, `wrong_type`,
    `unknown`, `duplicate`."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = faults


class _Loader(yaml.SafeLoader):
    """Plain data alone: dates stay text, and there are no aliases, of which a small file makes a gigantic tree."""

    yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def load(text: str) -> Any:
    """The tree of one document. Raises `BadFile`."""
    if len(text.encode(errors="surrogatepass")) > LARGEST:
        raise BadFile([Fault(path="", code="too_large", said=str(LARGEST))])
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise BadFile([Fault(path="", code="not_yaml", said=str(error)[:500])]) from error


class Fields:
    """A mapping of the tree: each field is taken once, and what nobody took is told by `ignored`."""

    def __init__(self, tree: Any, path: str, faults: list[Fault], ignored: list[str]) -> None:
        self.path, self.faults, self._ignored = path, faults, ignored
        if tree is not None and not isinstance(tree, Mapping):
            self.fault("", "wrong_type", tree)
        self._left = dict(tree) if isinstance(tree, Mapping) else {}

    def fault(self, name: str, code: str, said: Any = "") -> None:
        self.faults.append(Fault(path=self._at(name), code=code, said=str(said)[:100]))

    def ignore(self, name: str) -> None:
        self._ignored.append(self._at(name))

    def rest(self) -> dict[str, Any]:
        """All that is left, taken as it is."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """What is left is told as ignored."""
        self._ignored += [self._at(str(name)) for name in self.rest()]

    def below(self, name: str) -> "Fields":
        return Fields(self._left.pop(name, None), self._at(name), self.faults, self._ignored)

    def has(self, name: str) -> bool:
        return self._left.get(name) is not None

    def each(self, name: str) -> Iterator["Fields"]:
        for index, tree in enumerate(self._list(name)):
            yield Fields(tree, f"{self._at(name)}[{index}]", self.faults, self._ignored)

    def take(self, name: str) -> Any:
        """Whatever stands there, as it is."""
        return self._left.pop(name, None)

    def text(self, name: str, *, needed: bool = False) -> str:
        said = self._left.pop(name, None)
        if said is None or said == "":
            if needed:
                self.fault(name, "missing")
            return ""
        if isinstance(said, (Mapping, list)):
            self.fault(name, "wrong_type", said)
            return ""
        return as_text(said)

    def texts(self, name: str) -> tuple[str, ...]:
        listed = self._list(name)
        if any(isinstance(each, (Mapping, list)) for each in listed):
            self.fault(name, "wrong_type", listed)
            return ()
        return tuple(as_text(each) for each in listed)

    def number(self, name: str) -> float | None:
        said = self.text(name)
        value = as_number(said)
        if said and value is None:
            self.fault(name, "wrong_type", said)
        return value

    def whole(self, name: str) -> int | None:
        value = self.number(name)
        if value is not None and not isinstance(value, int):
            self.fault(name, "wrong_type", value)
            return None
        return value

    def choice(self, name: str, kind: type[Choice], default: Choice | None = None) -> Choice | None:
        """One of these words; without a default it has to be there."""
        said = self.text(name, needed=default is None)
        if not said:
            return default
        try:
            return kind(said)
        except ValueError:
            self.fault(name, "unknown", said)
            return default

    def _list(self, name: str) -> list[Any]:
        said = self._left.pop(name, None)
        if said is not None and not isinstance(said, list):
            self.fault(name, "wrong_type", said)
        return said if isinstance(said, list) else []

    def _at(self, name: str) -> str:
        return f"{self.path}.{name}".strip(".")


def as_text(said: Any) -> str:
    """A scalar of YAML as Kubernetes would have wanted it written: quoted."""
    return str(said).lower() if isinstance(said, bool) else "" if said is None else str(said)


def as_number(said: str) -> int | float | None:
    """A whole number where it is written as one."""
    for kind in (int, float):
        try:
            return kind(said)
        except ValueError:
            continue
    return None
