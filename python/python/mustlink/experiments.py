"""Whole studies: from an experiment file to a table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _config, _data, _display, _mustlink
from .exceptions import ConfigError


@dataclass(frozen=True)
class FailedCell:
    """A cell that failed with an error."""

    dataset: str
    method: str
    repeat: int
    fold: int
    message: str


@dataclass(frozen=True, repr=False)
class ExperimentResult:
    """Result of an experiment."""

    #: Folder of the results.
    out: Path
    #: The table of the report.
    table: str
    #: The page of the report.
    page: Path
    #: Number of cells of the experiment, and of those that are finished.
    cells: int
    finished: int
    #: The cells that failed.
    failed: tuple[FailedCell, ...]

    def frame(self) -> Any:
        """Return all rows as a pandas DataFrame."""
        import pandas as pd

        return pd.read_csv(self.out / "results.csv")

    def plot(self, metric: str = "ari", dataset: str | None = None, ax: Any = None) -> Any:
        """Draw learning curves with matplotlib.

        A curve shows the mean of a metric over all rows of a method against the number of answers. A method that
        asks no questions is a horizontal line.

        Parameters
        ----------
        metric : str
            A column of the results.
        dataset : str, optional
            The data set. If absent, all of them.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. If absent, the current axes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        rows = self.frame()
        numbers = list(rows.select_dtypes("number").columns)
        if metric not in numbers:
            raise ConfigError(f"metric: must be one of {', '.join(numbers)}, got {metric!r}")
        if dataset is not None:
            names = list(rows["dataset"].unique())
            if dataset not in names:
                raise ConfigError(f"dataset: must be one of {', '.join(names)}, got {dataset!r}")
            rows = rows[rows["dataset"] == dataset]
        axes = plt.gca() if ax is None else ax
        answers = rows["p_requested"].fillna(rows["queries"])
        for at, (method, of_method) in enumerate(rows.groupby("method", sort=False)):
            curve = of_method.groupby(answers)[metric].mean()
            if len(curve) == 1 and curve.index[0] == 0:
                axes.axhline(curve.iloc[0], linestyle=":", color=f"C{at}", label=method)
            else:
                axes.plot(curve.index, curve.values, marker=".", color=f"C{at}", label=method)
        axes.set_xlabel("answers")
        axes.set_ylabel(metric)
        axes.legend()
        return axes

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<ExperimentResult: {self.finished} of {self.cells} cells{failed}, report {str(self.page)!r}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return _display.of_experiment(repr(self)[1:-1], self.table, self.out, self.failed)


def _bar(done: int, total: int, failed: int, seconds_left: float | None) -> None:
    left = "" if seconds_left is None or done == total else f", {max(0, round(seconds_left))} s left"
    wrong = f", {failed} failed" if failed else ""
    end = "\n" if done == total else ""
    width = 30 * done // max(total, 1)
    bar = "#" * width + "." * (30 - width)
    sys.stderr.write(f"\r[{bar}] {done} of {total} cells{wrong}{left}   {end}")
    sys.stderr.flush()


def run_experiment(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    set: Sequence[str] = (),
    progress: bool | Callable[[int, int, int, float | None], None] = True,
    force: bool = False,
    data_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    n_jobs: int | None = None,
    memory_limit: int | None = None,
) -> ExperimentResult:
    """Run an experiment, or continue where it stopped.

    Parameters
    ----------
    file : path
        The experiment file, as ``mustlink run`` takes it.
    out : path, optional
        Folder of the results. If absent, a folder in ``mustlink-results`` with the name of the file.
    set : list of str
        Values to change first: ``experiment.seed=7``.
    progress : bool or callable
        A bar on standard error, nothing, or ``progress(done, total, failed, seconds_left)``.
    force : bool
        Make all cells again.
    data_dirs : path or list of paths
        Folders in which data sets are searched for, instead of those of the environment.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.
    memory_limit : int, optional
        Largest memory that a method may need, in bytes. If absent, 80 % of the memory of the machine.

    Returns
    -------
    ExperimentResult

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from mustlink import run_experiment
    >>> folder = Path(mkdtemp())
    >>> study = '''
    ... [experiment]
    ... name = "small"
    ... [[dataset]]
    ... id = "iris"
    ... [[method]]
    ... id = "k-means"
    ... clusterer = "kmeans"
    ... '''
    >>> _ = (folder / "small.toml").write_text(study)
    >>> result = run_experiment(folder / "small.toml", folder / "out", progress=False)
    >>> result.finished == result.cells, result.failed
    (True, ())
    """
    path = Path(file)
    out = Path("mustlink-results", path.stem) if out is None else Path(out)
    dirs = [data_dirs] if isinstance(data_dirs, (str, os.PathLike)) else data_dirs
    request = {
        "sets": [set] if isinstance(set, str) else list(set),
        "threads": _config.threads(n_jobs),
        "memory_limit": memory_limit,
        "force": force,
        "data_dirs": [os.fspath(d) for d in dirs],
    }
    watcher = progress if callable(progress) else _bar if progress else None
    table, page, cells, finished, failed = _mustlink.run_experiment(
        os.fspath(path), os.fspath(out), _config.text(request), watcher, _with_functions(path, out)
    )
    if failed:
        first = FailedCell(*failed[0])
        _data.warn(
            [
                f"{len(failed)} of {cells} cells failed and have no scores; the first, {first.method} on "
                f"{first.dataset}: {first.message}. The attribute failed lists them"
            ]
        )
    return ExperimentResult(
        out, table, Path(page), cells, finished, tuple(FailedCell(*cell) for cell in failed)
    )


def _with_functions(path: Path, out: Path) -> str | None:
    """Return the file as JSON, with Python functions in the form of the core; None if it uses no Python function."""
    if not _config.CALLABLES:
        return None
    written = json.loads(_mustlink.read_experiment(os.fspath(path)))
    known = _config.plain(written)
    _add_sources(known, out)
    return None if known == written else json.dumps(known)


def _add_sources(tree: Any, out: Path) -> None:
    """Give each function that no file defines a file with a digest of its code, in the folder of the results.

    The runner uses finished cells again if the files of their plugins have the same content.
    """
    if isinstance(tree, list):
        for part in tree:
            _add_sources(part, out)
    if not isinstance(tree, dict):
        return
    name = tree.get("name")
    if str(tree.get("type")).startswith("python_") and name in _config.WITHOUT_FILE:
        file = Path(os.path.abspath(out), "functions", f"{name}.sha256")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_config.WITHOUT_FILE[name]())
        tree["source"] = [os.fspath(file)]
    for part in tree.values():
        _add_sources(part, out)
