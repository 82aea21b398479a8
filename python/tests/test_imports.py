"""The modules of the package import one another in one direction only."""

import ast
from pathlib import Path

import mustlink

FOLDER = Path(mustlink.__file__).parent


def _imports(tree):
    """The modules that a module imports, also inside functions, but not for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else [alias.name for alias in node.names]
        else:
            yield from _imports(node)


def test_no_module_imports_one_that_imports_it():
    """The catalogue and the exceptions imported each other."""
    files = {path.stem: path for path in FOLDER.glob("*.py")}
    left = {name: set(_imports(ast.parse(path.read_text()))) & set(files) for name, path in files.items()}
    assert left["session"] >= {"_config", "_data", "_turns"}
    while left:
        free = [name for name, imported in left.items() if not imported & set(left)]
        assert free, f"these import one another: {left}"
        for name in free:
            del left[name]
