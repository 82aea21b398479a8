"""The examples of the package and of the manual run and are typed."""

import dataclasses
import doctest
import importlib
import inspect
import re
import typing
import warnings
from pathlib import Path

import mustlink
import pytest
from mustlink import metrics, model_selection

MODULES = ["_base", "_estimators", "_transformers", "annotated", "callables", "constraints", "ensembles", "exceptions"]
MODULES += ["experiments", "judged", "metrics", "model_selection", "notebook", "pairs", "session", "testing"]
PAGES = [Path(__file__).parents[1] / "README.md"]
BOOK = Path(__file__).parents[2] / "book" / "src"
PAGES += [BOOK / name for name in ("python.md", "from-other-packages.md", "scored-pairs.md")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name == "notebook":
        pytest.importorskip("ipywidgets")
    module = importlib.import_module(f"mustlink.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mustlink.MustlinkWarning)
        failed, tried = doctest.testmod(module)
    assert failed == 0 and tried > 0


def test_every_public_name_has_an_example():
    """Of exceptions, the class that all others are derived from has one."""
    places = [(module, name) for module in (mustlink, model_selection, metrics) for name in module.__all__]
    for module, name in places:
        shown = getattr(module, name)
        is_error = inspect.isclass(shown) and issubclass(shown, (Exception, Warning))
        if callable(shown) and not is_error and name != "ExperimentResult":
            assert ">>> " in inspect.getdoc(shown), f"{name} has no example"


def test_every_parameter_is_documented():
    places = [(mustlink, name) for name in mustlink.__all__]
    places += [(model_selection, name) for name in model_selection.__all__]
    for module, name in places:
        shown = getattr(module, name)
        results = dataclasses.is_dataclass(shown) or not callable(shown)
        if results or (inspect.isclass(shown) and issubclass(shown, (Exception, Warning))):
            continue
        text = inspect.getdoc(shown)
        for parameter in inspect.signature(shown).parameters:
            assert re.search(rf"\b{parameter}\b", text), f"{name}: {parameter}"


def test_types_of_metrics_are_known():
    """A metric with a metric as its option named a type that was imported nowhere."""
    for name in metrics.__all__:
        assert typing.get_type_hints(getattr(metrics, name))["return"] is float


def test_the_typed_program_runs():
    import typed

    assert 1.9 < typed.main() <= 2.0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page(page, tmp_path, monkeypatch):
    if not page.is_file():
        pytest.skip("the manual is not here")
    for optional in ("pandas", "ipywidgets"):
        pytest.importorskip(optional)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for name, content in re.findall(r"```csv,file=(\S+)\n(.*?)```", text, re.S):
        Path(name).write_text(content)
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    shared = {"__name__": "page"}
    for block in blocks:
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(block, shared, page.name, page.name, 0)
            out = []
            flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            doctest.DocTestRunner(optionflags=flags).run(test, out=out.append, clear_globs=False)
            shared = test.globs
            assert not out, "".join(out)
        else:
            exec(compile(block, page.name, "exec"), shared)


def test_the_manual_lists_the_classes_that_predict():
    text = (BOOK / "python.md").read_text()
    listed = re.search(r"have `predict`:(.*?), and a\s+`Method`", text, re.DOTALL).group(1)
    classes = [getattr(mustlink, name) for name in mustlink.__all__]
    clusterers = [c for c in classes if isinstance(c, type) and hasattr(c, "_tag") and hasattr(c, "fit_predict")]
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(c.__name__ for c in clusterers if hasattr(c(), "predict"))
