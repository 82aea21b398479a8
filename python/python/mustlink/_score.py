"""Calls of metrics."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _config, _data, _mustlink
from .constraints import columns, row_ids
from .exceptions import DataError


def score(
    tag: str,
    options: Mapping[str, Any],
    labels: Any,
    classes: Any,
    *,
    X: Any = None,
    kind: str = "dense",
    constraints: Any = None,
    heldout: Any = None,
    unconstrained: Any = None,
    partitions: Any = None,
) -> float:
    """Return the score of ``labels`` with the metric ``tag``.

    ``kind`` is the content of ``X``: "dense" (rows, dense or sparse), "distances" or "affinity" (n × n).
    """
    if np.ndim(labels) == 0:
        hint = "; give its labels_" if hasattr(labels, "labels_") else ""
        raise DataError(f"labels_pred: must hold one label per row, got {type(labels).__name__}{hint}")
    n = len(labels)
    inputs = {
        "x": None if X is None else _data.matrix(X, kind),
        "kind": kind,
        "constraints": columns(constraints, n, row_ids(constraints, labels))[0],
        "heldout": columns(heldout, n, row_ids(heldout, labels))[0],
        "unconstrained": _data.classes(unconstrained, n, "unconstrained"),
        "partitions": None if partitions is None else _data.partitions(partitions, n),
    }
    config = {"metric": _config.plain({"type": tag, **_config.options(options)})}
    found = _mustlink.score(
        json.dumps(config),
        _data.classes(labels, n, "labels_pred"),
        _data.classes(classes, n, "labels_true"),
        inputs,
    )
    return math.nan if found is None else float(found)

