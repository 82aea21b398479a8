"""Descriptions of the plugins from the core, and their names in Python."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import _mustlink
from ._option_names import NAMES, VALUES
from .exceptions import ConfigError

#: Acronyms in names, which are written in capitals.
ACRONYMS = frozenset(
    "ami ari clac cop cosc cspa dbscan em fosc gpk hbgf hdbscan hgpa hmrf itml kcc lac lcvqe lsi mcla mmc mpck nmf "
    "nmi npu optics pca pck plscan rca scop ss vi wbpa wsbpa wspa".split()
)


@dataclass(frozen=True)
class Option:
    """One option of a plugin."""

    name: str
    accepts: str
    default: Any
    description: str

    @property
    def python_name(self) -> str:
        """Name of the option in Python."""
        return NAMES.get(self.name, self.name)


@dataclass(frozen=True)
class Plugin:
    """One plugin."""

    tag: str
    role: str
    key: str
    summary: str
    documentation: str
    options: tuple[Option, ...]
    properties: dict[str, Any]
    references: tuple[str, ...]
    version: int

    @property
    def class_name(self) -> str:
        """Name of its class: `pck_means` is `PCKMeans`."""
        words = self.tag.replace("kmeans", "k_means").split("_")
        return "".join(w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in words)


@lru_cache(maxsize=None)
def catalogue() -> tuple[Plugin, ...]:
    """All plugins of the core, sorted by role and tag."""
    return tuple(
        Plugin(
            tag=d["name"],
            role=d["role"],
            key=d["key"],
            summary=d["summary"],
            documentation=d["documentation"],
            options=tuple(
                Option(o["name"], o["accepts"], o["default"], o["description"]) for o in d["options"]
            ),
            properties=d["properties"],
            references=tuple(d["references"]),
            version=d["version"],
        )
        for d in json.loads(_mustlink.catalogue())
    )


def of_role(role: str) -> list[Plugin]:
    """Return the plugins of one role."""
    return [p for p in catalogue() if p.role == role]


def find(tag: str) -> Plugin:
    """Return the plugin with this tag."""
    for plugin in catalogue():
        if plugin.tag == tag:
            return plugin
    raise ConfigError(f'no plugin {tag!r}; run "mustlink list"')


def takes_tables(transforms: Any) -> bool:
    """Return true if the first transform (name, configuration or estimator) takes words and missing values."""
    first = transforms[0] if isinstance(transforms, (list, tuple)) and transforms else None
    tag = first.get("type") if isinstance(first, dict) else getattr(first, "_tag", first)
    return any(p.tag == tag and "table" in p.properties["accepts"] for p in of_role("transform"))


def renamed(error: ConfigError, place: str) -> ConfigError:
    """Return the error with the option's name in Python, if it is about an option of the estimator at ``place``."""
    text = str(error)
    option = re.match(rf"(?:{re.escape(place)}\.)?(\w+)(?=:)", text)
    if option is None or option[1] == place:
        return error
    return type(error)(NAMES.get(option[1], option[1]) + text[option.end() :])


def annotation(option: Option) -> str:
    """Return the type annotation of an option, from the description of its accepted values."""
    words: list[str] = []
    types: list[str] = []
    for part in re.findall(r'"[^"]*"|an? [a-z ]+|true or false', option.accepts):
        part = part.removesuffix(" or ").removesuffix(" in ").strip()
        if part.startswith('"'):
            words.append(part)
        elif part == "true or false":
            types.append("bool")
        elif part.startswith("an integer"):
            types.append("int")
        elif part.startswith("a number"):
            types.append("float")
        elif part.startswith("a string"):
            types.append("str")
        elif part.startswith("a list"):
            types.append("Sequence[Any]")
        elif part.startswith("a table"):
            types.append("Mapping[str, Any]")
        else:
            types.append("PluginLike")
    words += [f'"{theirs}"' for theirs, own in VALUES.items() if f'"{own}"' in words]
    if words:
        types.insert(0, f"Literal[{', '.join(words)}]")
    return " | ".join(dict.fromkeys(types)) or "Any"
