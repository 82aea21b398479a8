"""Summaries in HTML, which notebooks show.

They contain no scripts and load nothing. Text has the colour of the page, so that it can be read on light and dark
pages.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _catalogue, _config, _mustlink
from ._option_names import NAMES
from .exceptions import MustlinkError

#: Colours of clusters, as in the figures of the command line.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777")
#: Clusters drawn at most.
_MOST = 20
#: Largest figure of a report that is shown, in bytes.
_MOST_BYTES = 300_000
#: Characters of a value at most.
_LONGEST = 100
_LEFT = "text-align:left;vertical-align:top"


class Shown:
    """Adds a summary to the HTML that scikit-learn shows of an estimator."""

    def _summary(self) -> str:
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        """Return the HTML for programs that do not read ``_repr_mimebundle_``."""
        theirs: str = super()._repr_html_inner()  # type: ignore[misc]
        return theirs + self._summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the forms that a notebook shows; without HTML if scikit-learn is configured to show text."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._summary()
        return bundle


def escaped(value: Any) -> str:
    """Return the value as text in HTML."""
    return html.escape(str(value))


def count(n: int, thing: str) -> str:
    """Return a number with its noun: ``1 answer``, ``2 answers``."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def card(title: str, rows: Iterable[tuple[str, str]], below: str = "") -> str:
    """Return a title and a table with a name and a value in HTML in each row, and what is shown below."""
    row = '<tr><th scope="row" style="{}">{}</th><td style="{}">{}</td></tr>'
    body = "".join(row.format(_LEFT, escaped(name), _LEFT, value) for name, value in rows)
    table = f"<table>{body}</table>" if body else ""
    return f'<div class="mustlink"><p><b>{escaped(title)}</b></p>{table}{below}</div>'


def of_clusterer(estimator: Any, parts: Callable[[], Any], names: Mapping[str, str]) -> str:
    """Return the summary of a clusterer; ``parts`` returns its method, ``names`` are Python's names of its options."""
    name, found = type(estimator).__name__, vars(estimator)
    rows = _method(parts, names)
    if "labels_" not in found:
        return card(f"{name}, not fitted", rows)
    rows += _clusters(found["labels_"])
    violated = found["violations_"]
    rows += _met(found.get("_n_constraints", 0), violated["must_link"], violated["cannot_link"])
    if found["n_constraints_dropped_"]:
        rows.append(("left out", f"{count(found['n_constraints_dropped_'], 'pair')} without a row"))
    if "n_queries_" in found:
        rows.append(("questions", escaped(found["n_queries_"])))
    if "tried_" in found:
        rows.append(("candidates", _tried(found["tried_"])))
    rows.append(("status", escaped(f"{found['status_']}, {count(found['n_iter_'], 'iteration')}")))
    if found["objective_"] is not None:
        rows.append(("objective", f"{found['objective_']:.5g}"))
    return card(f"{name}, fitted", rows, bars(found["labels_"]))


def of_search(found: Mapping[str, Any]) -> str:
    """Return the summary of a search with held-out constraints."""
    if "best_params_" not in found:
        return ""
    scores = found["cv_results_"]
    best, tried = found["best_index_"], len(scores["params"])
    options = ", ".join(f"{name}={_short(value)}" for name, value in found["best_params_"].items())
    spread = f"{found['best_score_']:.3f}, standard deviation {scores['std_test_score'][best]:.3f}"
    rows = [
        ("best options", options or "the defaults"),
        ("score on held-out pairs", f"{spread} over {count(found['n_splits_'], 'fold')}"),
        ("candidates", escaped(tried)),
    ]
    labels = found.get("labels_")
    rows += [] if labels is None else _clusters(labels)
    return card("Best candidate", rows, "" if labels is None else bars(labels))


def of_session(title: str, parts: Mapping[str, Any], answers: Sequence[Any], budget: int | None, found: Any) -> str:
    """Return the summary of a session; ``found`` is its result if it is known."""
    told = [sum(answer.together is reply for answer in answers) for reply in (True, False, None)]
    kinds = ", ".join(f"{n} {kind}" for n, kind in zip(told, ("together", "apart", "unknown")))
    rows = _method(lambda: parts, {})
    rows.append(("answers", f"{progress(len(answers), budget)}: {kinds}"))
    labels = getattr(found, "labels", None)
    if labels is None:
        return card(title, rows)
    rows += _clusters(labels) + _met(found.n_constraints, *found.violations)
    return card(title, rows, bars(labels))


def of_experiment(title: str, table: str, out: Path, failed: Sequence[Any]) -> str:
    """Return the table of a report, its first figure, and the cells that failed."""
    wrong = [(f"{cell.method} on {cell.dataset}", escaped(cell.message)) for cell in failed[:5]]
    if len(failed) > len(wrong):
        wrong.append(("", f"and {len(failed) - len(wrong)} more: see the attribute failed"))
    # Otherwise a page of nbconvert uses a proportional font and wraps the rows.
    below = f'<pre style="font:12px monospace;white-space:pre;overflow-x:auto">{escaped(table)}</pre>'
    # Ranks over all data sets come first, then curves over all, then one figure per data set.
    names = ("ranks-*.svg", "all-*.svg", "*.svg")
    figures = [path for name in names for path in sorted((out / "figures").glob(name))]
    if figures and figures[0].stat().st_size <= _MOST_BYTES:
        content = base64.b64encode(figures[0].read_bytes()).decode()
        source = f"data:image/svg+xml;base64,{content}"
        below += f'<img alt="figure {escaped(figures[0].stem)} of the report" src="{source}" style="max-width:100%">'
    return card(title, wrong, below)


def progress(answers: int, budget: int | None) -> str:
    """Return how many answers there are, and how many there may be."""
    return count(answers, "answer") if budget is None else f"{answers} of {count(budget, 'answer')}"


def bars(labels: Any) -> str:
    """Return a figure with a bar for the size of each cluster."""
    sizes = _sizes(labels)
    widest, drawn = max((size for _, size in sizes), default=1), []
    for at, (label, size) in enumerate(sizes[:_MOST]):
        name, top = "noise" if label < 0 else str(label), 18 * at
        colour = "#999999" if label < 0 else _COLOURS[label % len(_COLOURS)]
        width = max(1.0, 240 * size / widest)
        drawn.append(
            f'<text x="46" y="{top + 13}" text-anchor="end">{name}</text>'
            f'<rect x="54" y="{top + 2}" width="{width:.1f}" height="14" fill="{colour}"></rect>'
            f'<text x="{60 + width:.1f}" y="{top + 13}">{size}</text>'
        )
    if len(sizes) > _MOST:
        drawn.append(f'<text x="54" y="{18 * _MOST + 13}">and {len(sizes) - _MOST} smaller ones</text>')
    height = 18 * len(drawn) + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {height}" width="360" height="{height}" role="img" '
        'aria-label="Number of objects in each cluster" fill="currentColor" font-family="sans-serif" '
        f'font-size="12">{"".join(drawn)}</svg>'
    )


def _sizes(labels: Any) -> list[tuple[int, int]]:
    """The labels with their numbers of objects, noise last; if they are too many to be drawn, the largest first."""
    names, sizes = np.unique(np.asarray(labels), return_counts=True)
    pairs = sorted(zip(names.tolist(), sizes.tolist()), key=lambda pair: pair[0] < 0)
    return pairs if len(pairs) <= _MOST else sorted(pairs, key=lambda pair: -pair[1])


def _clusters(labels: Any) -> list[tuple[str, str]]:
    sizes = [size for label, size in _sizes(labels) if label >= 0]
    noise = len(labels) - sum(sizes)
    listed = [str(size) for size in sizes[:_MOST]]
    listed = [*listed, "…"] if len(sizes) > _MOST else [*listed[:-2], " and ".join(listed[-2:])]
    of = f" ({', '.join(listed)} {'object' if sizes[-1] == 1 and len(sizes) <= _MOST else 'objects'})" if sizes else ""
    return [("clusters", f"{len(sizes)}{of}" + (f", {noise} noise" if noise else ""))]


def _met(n: int, must: int, cannot: int) -> list[tuple[str, str]]:
    """The row with the numbers of constraints that are satisfied and violated; none without constraints."""
    kinds = [count(broken, kind) for broken, kind in ((must, "must-link"), (cannot, "cannot-link")) if broken]
    met = f"{n - must - cannot} of {n} satisfied" + (f", violated: {' and '.join(kinds)}" if kinds else "")
    return [("constraints", met)] if n else []


def _tried(tried: Sequence[Any]) -> str:
    scored = [one for one in tried if one.score is not None]
    words = f"{len(tried)} tried, {sum(one.weight > 0 for one in tried)} combined"
    if not scored:
        return words
    best = max(scored, key=lambda one: one.score)
    return f"{words}; best score {best.score:.3f} ({escaped(best.name)})"


def _method(parts: Callable[[], Any], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The row with the tree of a method: its plugins, with the options that differ from their defaults."""
    try:
        given = parts()
        whole = json.loads(_mustlink.check(json.dumps(given)))
    except (MustlinkError, OSError, TypeError) as wrong:
        return [("method", escaped(wrong))]
    shown = {name: whole[name] for name in (*_config.SECTIONS, *given) if whole.get(name)}
    return [("method", _list(_branch(name, value, names) for name, value in shown.items()))]


def _branch(name: str, value: Any, names: Mapping[str, str]) -> str:
    """An item of the tree, with a list of its parts; ``names`` are other names of its options."""
    head, parts = f"{escaped(name)}: " if name else "", value
    if isinstance(value, Mapping) and "type" in value:
        tag, parts = _plugin(value)
        head += f"<b>{escaped(tag)}</b> "
    if not isinstance(parts, (Mapping, list)):
        return f"<li>{head}{_short(parts)}</li>"
    pairs = list(parts.items()) if isinstance(parts, Mapping) else [("", part) for part in parts]
    leaves = [f"{escaped(names.get(key, key))}={_short(part)}" for key, part in pairs if key and not _has_parts(part)]
    inner = _list(_branch(names.get(key, key), part, {}) for key, part in pairs if not key or _has_parts(part))
    return f"<li>{head}{', '.join(leaves)}{inner}</li>"


def _list(items: Iterable[str]) -> str:
    inner = "".join(items)
    return f'<ul style="margin:0;padding-left:1.2em">{inner}</ul>' if inner else ""


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(v, Mapping) for v in value))


def _plugin(table: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name of a plugin, and those of its options that differ from their defaults."""
    if table["type"].startswith("python_"):
        return table["name"], table.get("options", {})
    defaults = {option.name: option.default for option in _catalogue.find(table["type"]).options}
    changed = {k: v for k, v in table.items() if k != "type" and v != defaults.get(k)}
    return table["type"], changed


def _short(value: Any) -> str:
    text = repr(value)
    return escaped(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
