"""Writes the classes and functions of the plugins from the catalogue: `python -m mustlink._write`.

A test fails if the files have to be written again.
"""

from __future__ import annotations

import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from . import _base, _catalogue, _score, _transform, constraints
from ._catalogue import Option, Plugin, annotation
from ._option_names import ALIASES

FOLDER = Path(__file__).parent
NOTE = "# Written from the catalogue by `python -m mustlink._write`."

#: Transforms that cannot be scikit-learn transformers, because they change rows.
NO_TRANSFORMERS = ("deduplicate",)

RANDOM_STATE = "Seed of every random number: a whole number is used unchanged; None draws one."
N_JOBS = "Number of threads; None and -1 mean one per core. It changes no result."


def _of_role(role: str) -> list[Plugin]:
    """Return the plugins of a role, without those that wrap Python functions."""
    return [p for p in _catalogue.of_role(role) if not p.tag.startswith("python_")]


def _wrapped(text: str, indent: str) -> str:
    lines = textwrap.wrap(text, 100 - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + line for line in lines)


def _clean(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _default(option: Option) -> Any:
    """Return the default for a signature; None, if it is not a plain value, leaves it to the core."""
    value = option.default
    if isinstance(value, dict) and "type" in value:
        own = {o.name: o.default for o in _catalogue.find(value["type"]).options}
        given = {k: v for k, v in value.items() if k != "type" and v is not None}
        same = given == {k: v for k, v in own.items() if v is not None}
        return value["type"] if same else None
    if isinstance(value, list):
        return tuple(value) if all(isinstance(v, (str, int, float)) for v in value) else None
    return None if isinstance(value, dict) else value


def _type(option: Option) -> str:
    found = annotation(option)
    return found if _default(option) is not None or found == "Any" else f"{found} | None"


def _shown(option: Option) -> str:
    default = _default(option)
    return "absent" if default is None else repr(default)


#: The errors of the core, by the exception that each becomes; `python/src/errors.rs` has the same list.
EXCEPTIONS = {
    "ConfigError": "BadK BadParam TooManyClusters Usage",
    "ConstraintError": "ClosureTooLarge HardNotSupported TooManyGroupPairs TooManyPropagated UndecidedConstraints",
    "DataError": "Data Feature NonFinite",
    "InconsistentConstraintsError": "InconsistentConstraints",
    "InfeasibleConstraintsError": "InfeasibleConstraints",
    "MemoryLimitError": "Memory",
    "MissingKError": "MissingK",
    "NumericalError": "NumericalFailure",
    "PluginError": "Plugin",
    "TimeLimitError": "TimedOut",
}
EXCEPTION_OF = {error: name for name, errors in EXCEPTIONS.items() for error in errors.split()}

#: Words for accepted values with their types in Python.
TYPES = {"an integer": "int", "a number": "float", "true or false": "bool", "a string": "str", "a list": "list"}
TYPES["a table"] = "dict"


def _with_exceptions(paragraph: str) -> str:
    """Return the paragraph with exceptions of Python in place of errors of the core."""
    errors = "|".join(EXCEPTION_OF)
    if re.search(rf"`(?:{errors})`", paragraph) is None:
        return paragraph
    text = " ".join(paragraph.split())
    text = re.sub(rf"`({errors})`", lambda found: f"`{EXCEPTION_OF[found[1]]}`", text)
    text = re.sub(r"(`\w+`)(?:(?:,| and) \1)+", r"\1", text)
    text = re.sub(r"(`\w+`); \1, also", r"\1, also", text)
    text = re.sub(r"(`\w+`); \1 (for|if)\b", r"\1, also \2", text)
    return textwrap.fill(text, 116, break_long_words=False, break_on_hyphens=False)


def _in_python(accepts: str) -> str:
    """Return the accepted values in words of Python."""
    for words, kind in TYPES.items():
        accepts = re.sub(rf"\b{words}\b", kind, accepts)
    return accepts


def _documentation(plugin: Plugin) -> str:
    """Return the documentation of a plugin with headings for a docstring."""
    out: list[str] = []
    for line in plugin.documentation.splitlines():
        if line.startswith("# "):
            heading = line[2:]
            out += ["", f"**{heading}**", ""]
        else:
            out.append(line)
    text = "\n".join(out).strip()
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return _clean("\n\n".join(map(_with_exceptions, text.split("\n\n"))))


def _parameter(name: str, kind: str, text: str) -> str:
    return f"    {name} : {kind}\n{_wrapped(_clean(text), '        ')}"


def _parameters(plugin: Plugin, options: list[Option], clusters: bool) -> Iterator[str]:
    for o in options:
        default = "optional" if _default(o) is None else f"default {_shown(o)}"
        yield _parameter(o.python_name, f"{_in_python(o.accepts)}; {default}", o.description)
    yield _parameter("random_state", "int, RandomState or None; default 0", RANDOM_STATE)
    yield _parameter("n_jobs", "int, optional", N_JOBS)


def _signature(options: list[Option], first: str | None) -> list[str]:
    lines = [f"{o.python_name}: {_type(o)} = {_default(o)!r}," for o in options if o.python_name == first]
    lines.append("*,")
    for o in options:
        if o.python_name != first:
            lines.append(f"{o.python_name}: {_type(o)} = {_default(o)!r},")
    return [*lines, "random_state: Any = 0,", "n_jobs: int | None = None,"]


N_CLUSTERS = Option(
    "k", "an integer, at least 1", None, "Number of clusters. If absent, the number of classes in `y`."
)
NEEDED_CLUSTERS = Option(
    "k", "an integer, at least 1", None, "Number of clusters. If absent, the number of classes in `y`, otherwise 8."
)

#: Clusterers that scikit-learn has too, with `inertia_`, `transform` and `score`.
CENTRED = ("kmeans", "mini_batch_kmeans")


#: Rows, constraints and options of the examples. Some plugins need others than the usual.
ROWS = "[[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]"
PAIRS = "Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)"
OTHER_PAIRS = {
    "correlation_clustering": (
        "Constraints(must_link=[(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)], cannot_link=[(0, 4)], n=8)"
    ),
    "rca": "Constraints(must_link=[(0, 1), (4, 6)], cannot_link=[(0, 4)], n=8)",
}
OTHER_ROWS = {
    "count_words": '[["red ball"], ["blue, blue sky"]]',
    "drop_constant": "[[0, 5], [1, 5], [2, 5]]",
    "gower": '[["red"], ["blue"], ["red"]]',
    "impute_missing": '[[1.0], [float("nan")], [3.0]]',
    "l2_rows": "[[3, 4], [0, 2]]",
    "one_hot": '[["red"], ["blue"], ["red"]]',
}
#: Transforms that make sparse rows of rows that are not.
SPARSE = ("count_words",)
OPTIONS = {
    "dbscan": "min_samples=3, radius=2.0",
    "fosc": "min_cluster_size=3",
    "hdbscan": "min_cluster_size=3",
    "lsi": "n_components=1",
    "optics": "min_samples=3",
    "pca": "n_components=1",
    "plscan": "min_samples=2",
    "ssdbscan": "min_samples=3",
}
#: Arguments of the examples of metrics.
ARGUMENTS = {
    "X": "[[0], [1], [2], [7], [8], [9]]",
    "labels_true": "[0, 0, 0, 1, 1, 1]",
    "labels_pred": "[0, 0, 1, 1, 1, 1]",
    "constraints": "Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)",
    "heldout": "Constraints(must_link=[(1, 2)], cannot_link=[(0, 5)], n=6)",
    "unconstrained": "[0, 0, 1, 1, 1, 1]",
    "partitions": "[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]",
}


def _example(imports: list[str], lines: list[str], source: str) -> str:
    """Return a section with an example and the value of its last line; `source` defines the class or function."""
    names: dict[str, Any] = {**vars(_base), **vars(_transform), **vars(constraints), **vars(_score)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join([source, *lines[:-1]]), names)
        value = eval(lines[-1], names)
    shown = [*(f">>> {line}" for line in [*imports, *lines]), repr(value)]
    return "    Examples\n    --------\n" + "\n".join(f"    {line}" for line in shown)


def _example_of(plugin: Plugin, options: list[Option], source: str) -> str:
    """Return the example of an estimator or a transformer."""
    name, tag = plugin.class_name, plugin.tag
    if tag == "external_clusterer":
        call = f'{name}(command=["python3", "my_clusterer.py"]).command'
        return _example([f"from mustlink import {name}"], [call], source)
    given = ["n_clusters=2"] if any(o.python_name == "n_clusters" for o in options) else []
    given += [OPTIONS[tag]] if tag in OPTIONS else []
    lines = [f"X = {OTHER_ROWS.get(tag, ROWS)}"]
    shown = [name]
    fit = "X"
    if plugin.properties["reads_constraints"]:
        shown.insert(0, "Constraints")
        lines.append(f"pairs = {OTHER_PAIRS.get(tag, PAIRS)}")
        fit = "X, constraints=pairs"
    called = f"{name}({', '.join(given)})"
    if plugin.role == "transform":
        # A SciPy matrix has no tolist().
        rows = "toarray()" if tag in SPARSE else "round(2)"
        call = f"{called}.fit_transform({fit}).{rows}.tolist()"
    else:
        call = f"{called}.fit_predict({fit}).tolist()"
    return _example([f"from mustlink import {', '.join(sorted(shown))}"], [*lines, call], source)


def _class(plugin: Plugin, base: str, sections: list[str]) -> str:
    clusters = base.endswith("Clusterer")
    positional = "k" if clusters else "components"
    options = sorted(plugin.options, key=lambda o: o.name != positional)
    if clusters and plugin.properties.get("needs_k") and not any(o.name == "k" for o in options):
        options.insert(0, N_CLUSTERS)
    if clusters:
        n_clusters = NEEDED_CLUSTERS if plugin.properties.get("needs_k") else N_CLUSTERS
        options = [n_clusters if o.name == "k" else o for o in options]
    pairwise = [kind for kind in plugin.properties["accepts"] if kind in ("distances", "affinity")]
    if clusters and pairwise:
        kinds = ["dense", *pairwise]
        text = "Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or affinities."
        accepts = "one of " + ", ".join(f'"{kind}"' for kind in kinds)
        options.append(Option("kind", accepts, "dense", text))
    aliases = ALIASES.get(plugin.tag, {})
    for alias, name in aliases.items():
        own = next(o for o in options if o.name == name)
        accepts = own.accepts.replace('"excess_of_mass"', '"eom"')
        options.append(Option(alias, accepts, None, f"scikit-learn's name for `{own.python_name}`."))
    first = next((o.python_name for o in options if o.name == positional), None)
    names = [o.python_name for o in options] + ["random_state", "n_jobs"]
    assert len(set(names)) == len(names), f"{plugin.tag}: {names}"
    doc = [textwrap.indent(_documentation(plugin), "    ", lambda line: bool(line.strip()))]
    doc += ["    Parameters\n    ----------"]
    doc[-1] += "\n" + "\n".join(_parameters(plugin, options, clusters))
    doc += sections
    init = "\n".join(f"        {line}" for line in _signature(options, first))
    fields = "\n".join(f"        self.{name} = {name}" for name in names)
    known_as = f"    _aliases = {aliases!r}\n" if aliases else ""
    code = (
        f'    _tag = "{plugin.tag}"\n{known_as}\n'
        f"    def __init__(\n        self,\n{init}\n    ) -> None:\n{fields}\n"
    )
    head = f"class {plugin.class_name}({base}):\n"
    doc += [_example_of(plugin, options, head + code)]
    if plugin.references:
        doc += [_wrapped(f"References: {', '.join(plugin.references)}.", "    ")]
    body = "\n\n".join(doc).lstrip()
    return f'{head}    """{body}\n    """\n\n{code}'


def _attributes(plugin: Plugin) -> str:
    rows = [
        ("labels_", "array of shape (n_samples,)", "The cluster of each row, 0 is the largest; -1 for noise."),
        ("n_iter_", "int", "Sweeps, at least 1."),
        ("objective_", "float or None", "Value of the objective that the method minimises."),
        ("violations_", "dict", "Violated constraints: `must_link`, `cannot_link`."),
        ("violated_", "list", "Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`."),
        ("status_", "str", "How the run ended: `converged`, `max_iter` …"),
        ("n_constraints_dropped_", "int", "Number of pairs left out because an object is not a row of `X`."),
    ]
    if plugin.tag == "auto":
        words = "Candidates that were tried: `name`, `k`, `score`, `weight` in the consensus, `outcome`, `seconds`."
        rows.append(("tried_", "list", words))
    if plugin.tag in CENTRED:
        rows.append(("inertia_", "float", "The objective: the sum of the squared distances to the nearest centres."))
    if any(o.name == "distortion" and o.default == "auto" for o in plugin.options):
        rows.append(("distortion_", "str", "The distortion that was used: `cosine` or `squared_euclidean`."))
    if plugin.properties["gives_centers"]:
        rows.insert(1, ("cluster_centers_", "array of shape (n_clusters, n_features)", "Centres."))
    return "    Attributes\n    ----------\n" + "\n".join(_parameter(*row) for row in rows)


HEAD = """
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._config import PluginLike
"""


def estimators() -> str:
    """One class per base clusterer."""
    plugins = _of_role("base_clusterer")
    weighted = {True: "WeightedClusterer", False: "Clusterer"}
    base = {p.tag: weighted[p.properties["object_weights"]] for p in plugins}
    base |= {tag: f"Centres, {base[tag]}" for tag in CENTRED}
    classes = [_class(p, base[p.tag], [_attributes(p)]) for p in plugins]
    bases = "from ._base import Centres, Clusterer, WeightedClusterer\n"
    head = f'{NOTE}\n"""One estimator per base clusterer."""\n{HEAD}{bases}'
    names = "".join(f'    "{p.class_name}",\n' for p in plugins)
    return f"{head}\n__all__ = [\n{names}]\n\n\n" + "\n\n".join(classes)


def transformers() -> str:
    """One class per transform that keeps its rows."""
    plugins = [p for p in _of_role("transform") if p.tag not in NO_TRANSFORMERS]
    classes = [_class(p, "Transformer", []) for p in plugins]
    head = f'{NOTE}\n"""One transformer per transform."""\n{HEAD}from ._transform import Transformer\n'
    names = "".join(f'    "{p.class_name}",\n' for p in plugins)
    return f"{head}\n__all__ = [\n{names}]\n\n\n" + "\n\n".join(classes)


#: Inputs of metrics in addition to labels: property, parameter, type, description.
INPUTS = (
    ("needs_data", "X", "Any", "The objects."),
    ("needs_constraints", "constraints", "Constraints", "Constraints that the method was given."),
    ("needs_heldout", "heldout", "Constraints", "Held-out constraints."),
    ("needs_unconstrained", "unconstrained", "Any", "Labels made without constraints."),
    ("needs_ensemble", "partitions", "Any", "Partitions, a row per member; -1 is missing."),
)


#: Metrics that take distances instead of rows.
TAKE_DISTANCES = ("silhouette",)


def _function(plugin: Plugin) -> str:
    facts = plugin.properties
    needed = [b for b in INPUTS if facts.get(b[0])]
    first = ["labels_true: Any"] if facts["needs_truth"] else []
    if not first and facts.get("needs_data"):
        first, needed = ["X: Any"], [b for b in needed if b[1] != "X"]
    arguments = [*first, "labels_pred: Any"]
    arguments += [f"{name}: {kind}" for _, name, kind, _ in needed]
    options = [f"{o.python_name}: {_type(o)} = {_default(o)!r}" for o in plugin.options]
    distances = plugin.tag in TAKE_DISTANCES
    if distances:
        options.append('kind: Literal["dense", "distances"] = "dense"')
    if options:
        arguments += ["*", *options]
    handed = [
        f"{name}={name}"
        for name in (a.split(":")[0] for a in arguments)
        if name not in ("*", "labels_pred", "labels_true")
        and name not in [o.python_name for o in plugin.options]
    ]
    given = ", ".join(f'"{o.name}": {o.python_name}' for o in plugin.options)
    truth = "labels_true" if facts["needs_truth"] else "None"
    call = ", ".join([f'"{plugin.tag}"', f"{{{given}}}", "labels_pred", truth, *handed])
    better = "Larger is better" if facts["higher_is_better"] else "Smaller is better"
    better = better if facts["ranked"] else "Neither end is better"
    span = f"{facts['min']} to {facts['max']}".replace(".0", "").replace("infinity", "infinity")
    doc = textwrap.indent(_documentation(plugin), "    ", lambda line: bool(line.strip()))
    if distances:
        doc += "\n\n    `kind` is the content of `X`: rows, dense or sparse, or n × n symmetric distances."
    doc += f"\n\n    {better}; {span}. NaN where it is not defined."
    head = f"def {plugin.tag}({', '.join(arguments)}) -> float:\n"
    code = f"    return score({call})\n"
    passed = [name for name in (a.split(":")[0] for a in arguments) if name in ARGUMENTS]
    lines = [f"{name} = {ARGUMENTS[name]}" for name in passed]
    imports = [f"from mustlink.metrics import {plugin.tag}"]
    if any("Constraints(" in line for line in lines):
        imports.insert(0, "from mustlink import Constraints")
    lines.append(f"round({plugin.tag}({', '.join(passed)}), 3)")
    doc += "\n\n" + _example(imports, lines, head + code)
    return f'{head}    """{doc.lstrip()}\n    """\n{code}'


def metrics() -> str:
    """One function per metric."""
    plugins = _of_role("metric")
    head = (
        f'{NOTE}\n"""Scores of clusterings, ensembles and constraints: one function per metric.\n\n'
        "A class of -1, NaN or None is unknown and leaves the object out; so does a label of -1.\n"
        '"""\n\nfrom __future__ import annotations\n\nfrom typing import Any, Literal\n\n'
        "from ._config import PluginLike\nfrom ._score import score\nfrom .constraints import Constraints\n"
    )
    names = "".join(f'    "{p.tag}",\n' for p in plugins)
    functions = "\n\n".join(_function(p) for p in plugins)
    return f"{head}\n__all__ = [\n{names}]\n\n\n" + functions


#: Public names of the package that are not generated, by module.
SHOWN = {
    "_base": ["Method"],
    "callables": ["clusterer", "metric", "selector"],
    "constraints": ["Constraints"],
    "ensembles": [
        "KSupport",
        "SupportedK",
        "consensus",
        "generate",
        "impute",
        "item_consensus",
        "list_plugins",
        "select_k",
    ],
    "exceptions": [
        "CancelledError",
        "ConfigError",
        "ConstraintError",
        "DataError",
        "InconsistentConstraintsError",
        "InfeasibleConstraintsError",
        "MemoryLimitError",
        "MissingKError",
        "MustlinkError",
        "MustlinkWarning",
        "NumericalError",
        "OracleError",
        "PluginError",
        "TimeLimitError",
    ],
    "annotated": ["fit_anndata"],
    "experiments": ["ExperimentResult", "run_experiment"],
    "judged": ["PairClusters", "cluster_pairs"],
    "session": ["Question", "Session", "select"],
}


def names() -> str:
    """Return a file with the module of each name of the package."""
    shown = {name: module for module, names in SHOWN.items() for name in names}
    shown |= {p.class_name: "_estimators" for p in _of_role("base_clusterer")}
    kept = (p for p in _of_role("transform") if p.tag not in NO_TRANSFORMERS)
    shown |= {p.class_name: "_transformers" for p in kept}
    rows = "".join(f'    "{name}": "{shown[name]}",\n' for name in sorted(shown))
    return f'{NOTE}\n"""Module of each name of the package."""\n\nWHERE = {{\n{rows}}}\n'


@cache
def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    return {
        FOLDER / "_estimators.py": estimators(),
        FOLDER / "_transformers.py": transformers(),
        FOLDER / "_names.py": names(),
        FOLDER / "metrics.py": metrics(),
    }


def main() -> None:
    """Write all files."""
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    main()
