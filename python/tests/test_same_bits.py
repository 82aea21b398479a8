"""The same data, options and seed give the same as the command line, for every plugin."""

import json
import subprocess
import sys

import mustlink
import numpy as np
import pytest
from mustlink import Constraints, Method, _catalogue, consensus, generate, impute, select
from sklearn.datasets import make_blobs

N = 45
X, CLASS = make_blobs(N, 3, centers=3, cluster_std=2.5, random_state=3)
K = 3
SEED = 11

pytestmark = pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")

#: Plugins that run as another program, or from a file of answers.
NEED_SETUP = {"external_clusterer", "external_selector", "fixed_list"}


def command(*arguments):
    run = subprocess.run(
        [sys.executable, "-m", "mustlink", *map(str, arguments), "--quiet"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def tags(role):
    found = (p.tag for p in _catalogue.of_role(role))
    return [tag for tag in found if tag not in NEED_SETUP and not tag.startswith("python_")]


def true_constraints(m=25):
    rng = np.random.default_rng(1)
    pairs = np.array([rng.choice(N, 2, replace=False) for _ in range(m)])
    signs = np.where(CLASS[pairs[:, 0]] == CLASS[pairs[:, 1]], 1, -1)
    return Constraints.from_pairs(pairs, signs, n=N)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The data and constraints as files."""
    folder = tmp_path_factory.mktemp("files")
    rows = [",".join([*map(repr, map(float, x)), str(c)]) for x, c in zip(X, CLASS)]
    (folder / "data.csv").write_text("a,b,c,class\n" + "\n".join(rows) + "\n")
    true_constraints().to_csv(folder / "pairs.csv")
    return folder


def labels_of(file):
    lines = file.read_text().splitlines()[1:]
    return [int(line.split(",")[1]) for line in lines]


def pairs_of(constraints):
    pairs, signs = constraints.pairs()
    return sorted((*sorted(p), s) for p, s in zip(pairs.tolist(), signs.tolist()))


def options_of(tag):
    # It tries dozens of methods.
    return {"folds": 2, "sample": 30} if tag == "auto" else {}


@pytest.mark.parametrize("tag", tags("base_clusterer"))
def test_clusterer(tag, files, tmp_path):
    plugin = _catalogue.find(tag)
    options = options_of(tag)
    made = getattr(mustlink, plugin.class_name)(**options, random_state=SEED)
    table = ", ".join(f"{k} = {json.dumps(v)}" for k, v in {"type": tag, **options}.items())
    arguments = ["--clusterer", f"{{ {table} }}"]
    if "n_clusters" in made.get_params():
        made.set_params(n_clusters=K)
        arguments += ["--k", K]
    given = None
    if plugin.properties["reads_constraints"]:
        given = true_constraints()
        arguments += ["--constraints", files / "pairs.csv"]
    found = made.fit(X, constraints=given)
    out = tmp_path / "labels.csv"
    arguments += ["--data", files / "data.csv", "--class", "class", "--seed", SEED, "--out", out]
    shown = json.loads(command("cluster", *arguments, "--format", "json"))
    assert found.labels_.tolist() == labels_of(out)
    assert found.objective_ == shown["objective"]
    assert (found.violations_["must_link"], found.violations_["cannot_link"]) == (
        shown["violations"]["must"],
        shown["violations"]["cannot"],
    )


@pytest.mark.parametrize("tag", tags("query_selector"))
def test_selector(tag, files, tmp_path):
    facts = _catalogue.find(tag).properties
    clusterer = "pck_means" if facts["needs_clustering"] else None
    given = {"n_clusters": K, "budget": 12, "random_state": SEED, "clusterer": clusterer}
    found = select(X, tag, y_true=CLASS, **given)
    asked = select(X, tag, oracle=lambda i, j: CLASS[i] == CLASS[j], **given)
    assert pairs_of(asked) == pairs_of(found)
    out = tmp_path / "pairs.csv"
    arguments = ["--data", files / "data.csv", "--class", "class", "--selector", tag]
    arguments += ["--k", K, "--budget", 12, "--seed", SEED, "--out", out]
    arguments += ["--clusterer", clusterer or "none"]
    command("select", *arguments)
    assert pairs_of(found) == pairs_of(Constraints.from_csv(out, n=N))


@pytest.mark.parametrize("tag", tags("ensemble_generator"))
def test_generator(tag, files, tmp_path):
    # The program shows what an ensemble decides.
    generator = {"type": tag}
    found = impute(
        X, generator, n_clusters=K, kappa_must=0.9, cannot_link=True, random_state=SEED
    )
    out = tmp_path / "pairs.csv"
    arguments = ["--data", files / "data.csv", "--class", "class", "--generator", tag, "--k", K]
    arguments += ["--seed", SEED, "--kappa-must", 0.9, "--kinds", "both"]
    command("impute", *arguments, "--out", out)
    assert pairs_of(found) == pairs_of(Constraints.from_csv(out, n=N))
    # Nothing may follow from what an ensemble guesses.
    found.to_csv(tmp_path / "found.csv")
    for file in (out, tmp_path / "found.csv"):
        assert all(row.endswith(",soft") for row in file.read_text().splitlines()[1:])
    members = generate(X, generator, n_clusters=K, random_state=SEED)
    together = np.mean([m[:, None] == m[None, :] for m in members if (m >= 0).all()], axis=0)
    if len(members) and (members >= 0).all():
        pairs, signs = found.pairs()
        assert (together[pairs[signs > 0][:, 0], pairs[signs > 0][:, 1]] >= 0.9).all()


@pytest.mark.parametrize("tag", tags("consensus_function"))
def test_consensus(tag, files, tmp_path):
    needs = _catalogue.find(tag).properties
    if not needs["labels_only"]:
        # Partitions from elsewhere have no distances; inside an ensemble they do.
        table = {"clusterer": {"type": "ensemble", "generator": "random_init", "consensus": tag}}
        if tag == "wsbpa":
            table["clusterer"]["generator"] = {"type": "random_init", "clusterer": "lac"}
        found = Method(table, n_clusters=K, random_state=SEED).fit(X).labels_
        out, method = tmp_path / "labels.csv", tmp_path / "method.json"
        method.write_text(json.dumps(table))
        arguments = ["--method", method, "--data", files / "data.csv", "--class", "class"]
        command("cluster", *arguments, "--k", K, "--seed", SEED, "--out", out)
        assert found.tolist() == labels_of(out)
        return
    members = generate(X, {"type": "random_init", "members": 7}, n_clusters=4, random_state=1)
    members = members.copy()
    if not needs["complete"]:
        members[2, 5:9] = -1
    k = K if needs["fixed_k"] else None
    given = true_constraints(8) if needs["reads_constraints"] else None
    found = consensus(members, k, tag, constraints=given, random_state=SEED)
    file, out, pairs = (tmp_path / name for name in ("p.csv", "labels.csv", "pairs.csv"))
    head = ",".join(f"m{t}" for t in range(len(members)))
    np.savetxt(file, members.T, fmt="%d", delimiter=",", header=head, comments="")
    arguments = [file, "--consensus", tag, "--seed", SEED, "--out", out]
    arguments += [] if k is None else ["--k", k]
    if given is not None:
        given.to_csv(pairs)
        arguments += ["--constraints", pairs]
    command("consensus", *arguments)
    assert found.tolist() == labels_of(out)


@pytest.mark.parametrize("tag", tags("metric"))
def test_metric(tag, tmp_path):
    needs = _catalogue.find(tag).properties
    beyond = [f for f in needs if f.startswith("needs_") and f != "needs_truth" and needs[f]]
    labels = (CLASS + (np.arange(N) % 4 == 0)) % K
    score = getattr(mustlink.metrics, tag)
    if beyond or not needs["needs_truth"]:
        given = {
            "needs_constraints": ("constraints", true_constraints()),
            "needs_heldout": ("heldout", true_constraints()),
            "needs_unconstrained": ("unconstrained", CLASS),
            "needs_ensemble": ("partitions", [labels, CLASS]),
        }
        handed = dict(given[f] for f in beyond if f in given)
        first = [CLASS] if needs["needs_truth"] else [X] if needs["needs_data"] else []
        if "needs_data" in beyond and needs["needs_truth"]:
            handed["X"] = X
        assert isinstance(score(*first, labels, **handed), float)
        return
    for name, values in (("truth", CLASS), ("labels", labels)):
        column = "\n".join(map(str, values))
        (tmp_path / f"{name}.csv").write_text(f"label\n{column}\n")
    shown = command_scores(tmp_path, tag)
    assert score(CLASS, labels) == pytest.approx(shown, abs=0)


def command_scores(folder, tag):
    arguments = ["--truth", folder / "truth.csv", "--labels", folder / "labels.csv"]
    run = subprocess.run(
        [sys.executable, "-m", "mustlink", "score", *map(str, arguments), "--metric", tag]
        + ["--format", "json"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)[tag]
