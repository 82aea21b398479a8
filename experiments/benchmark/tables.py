"""The tables and the figure of the manual, from the rows."""

import csv
import math
import random
from pathlib import Path

from design import ANSWERS, CONDITIONS, DEVELOPMENT, HERE, OURS, PEERS, SETS, TEST, key, read_rows


def value(row, measure):
    return float(row[measure] or 0.0)


def mean(values):
    return sum(values) / len(values)


def interval(differences, rounds=10_000):
    """The interval over sets that holds 95 % of the bootstrap means."""
    draw = random.Random(1)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


def shown(number, sign=False):
    text = f"{abs(number):.3f}".replace("0.", ".", 1)
    return ("−" if number < 0 else "+" if sign else "") + text


def sizes():
    """The number of objects of each set."""
    with (HERE / "sets.csv").open(newline="", encoding="utf-8") as file:
        found = {row["name"]: int(row["n"]) for row in csv.DictReader(file)}
    return {name: found[file] for name, file in SETS.items()}


def is_bound(row, sizes):
    """True if `auto` shows a lower bound: there are more constraints than half the objects."""
    return 2 * int(row["answers"]) > sizes[row["set"]]


def runs_of(rows, measure):
    """The value of each run: for each condition, number of answers and method a dictionary by set and draw.

    Without two classes among the free objects, a measure over them is not defined. Such pairs count for no method.
    """
    undefined = {key(row)[:5] for row in rows if row["ari"] and not row[measure]}
    runs = {}
    for row in rows:
        if key(row)[:5] not in undefined:
            at = (row["asked"], float(row["wrong"]), int(row["answers"]), row["method"])
            runs.setdefault(at, {})[row["set"], row["draw"]] = value(row, measure)
    return runs


def means(values, sets):
    """The mean over the draws of each of the sets that has some."""
    found = {}
    for (name, _), number in values.items():
        found.setdefault(name, []).append(number)
    return {name: mean(found[name]) for name in sets if name in found}


def extent(runs, sets):
    """How many sets and draws there are, in words."""
    counts = [len({draw for name, draw in runs if name == one}) for one in sets]
    counts = [count for count in counts if count]
    if not counts:
        return "no set"
    low, high = min(counts), max(counts)
    draws = str(low) if low == high else f"{low} to {high}"
    return f"{len(counts)} set{'s' * (len(counts) != 1)}, {draws} draw{'s' * (high != 1)}"


def table():
    rows = read_rows()
    named = {row["method"] for row in rows}
    methods = [m for m in [*OURS, *PEERS] if m in named] + sorted(named - {*OURS, *PEERS})
    names = {"test": TEST, "development": DEVELOPMENT}
    for measure, title in [("ari", "ARI, all objects"), ("ari_free", "ARI, objects without an answer"),
                           ("ami_free", "AMI, objects without an answer")]:
        runs = runs_of(rows, measure)
        for group, sets in names.items():
            for asked, wrong in CONDITIONS:
                own = {(m, a): {at: v for at, v in runs.get((asked, wrong, a, m), {}).items() if at[0] in sets}
                       for m in methods for a in ANSWERS}
                whole = {a: extent({at for m in methods for at in own[m, a]}, sets) for a in ANSWERS}
                print(f"\n| {title}; {group} sets, {asked} pairs{', a tenth wrong' if wrong else ''} | "
                      + " | ".join(f"{a} ({whole[a]})" for a in ANSWERS) + " |")
                print("|---|" + "---|" * len(ANSWERS))
                for method in methods:
                    cells = []
                    for answers in ANSWERS:
                        values, auto = own[method, answers], own.get(("auto", answers), {})
                        if not values:
                            cells.append("")
                            continue
                        text = shown(mean([*means(values, sets).values()]))
                        less = means({at: auto[at] - values[at] for at in values if at in auto}, sets)
                        if method != "auto" and less:
                            low, high = interval([*less.values()])
                            text += f" ({shown(low, True)}, {shown(high, True)})"
                        count = extent(values, sets)
                        cells.append(text if count == whole[answers] else f"{text} [{count}]")
                    if any(cells):
                        print(f"| {method} | " + " | ".join(cells) + " |")
    print("\nThe head of a column has the number of sets and draws. A cell in which they differ has its own in square"
          "\nbrackets. In round brackets: how much `auto` is ahead on the same draws, as the interval that holds 95 % of"
          "\nthe means over resampled sets.")
    print("\n| score that `auto` shows; pairs | answers | runs | mean error | lower bounds | true |")
    print("|---|---|---|---|---|---|")
    n = sizes()
    for asked, wrong in CONDITIONS:
        for answers in ANSWERS:
            at = (asked, wrong, answers)
            own = [r for r in rows if r["shown"] and r["met"] and (r["asked"], float(r["wrong"]), int(r["answers"])) == at]
            errors = [float(r["shown"]) - float(r["met"]) for r in own]
            within = sum(e <= 2 * float(r["shown_error"]) and (is_bound(r, n) or e >= -2 * float(r["shown_error"]))
                         for e, r in zip(errors, own))
            bounds = sum(is_bound(r, n) for r in own)
            if own:
                print(f"| {asked}{', a tenth wrong' if wrong else ''} | {answers} | {len(own)} | "
                      f"{shown(mean(errors), True)} | {bounds} | {within} |")


def figure(path, answers=100):
    """k-means, the best package over all sets, and `auto`: mean ± standard error on each set, correct answers."""
    found = {}
    for row in read_rows():
        if (row["asked"], float(row["wrong"]), int(row["answers"])) == ("random", 0.0, answers):
            found.setdefault((row["method"], row["set"]), []).append(value(row, "ari"))
    named = [s for s in SETS if all((m, s) in found for m in ("k-means", "auto"))]
    peers = [m for m in PEERS if all((m, s) in found for s in named)]
    best = max(peers, key=lambda m: mean([mean(found[m, s]) for s in named]))
    shown = [("k-means", "k-means, without answers", "#8a8a8a"), (best, best, "#c9711c"),
             ("auto", "mustlink", "#1f6fb4")]
    named.sort(key=lambda s: (s in DEVELOPMENT, -mean(found["auto", s])))
    left, width, step, top = 150, 520, 17, 58
    height = top + step * (len(named) + 1) + 46
    x = lambda v: left + width * max(v, 0.0)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for at, (method, name, colour) in enumerate(shown):
        centre = left - 22 + 185 * at
        upper, lower = (mean([mean(found[method, s]) for s in named if s in group]) for group in (TEST, DEVELOPMENT))
        out.append(f'<circle cx="{centre}" cy="18" r="5" fill="{colour}"/>'
                   f'<text x="{centre + 10}" y="22" fill="#222">{name}</text>'
                   f'<text x="{centre + 10}" y="37" fill="#666">mean {upper:.2f} above, {lower:.2f} below</text>')
    for tick in range(0, 11, 2):
        out.append(f'<line x1="{x(tick / 10):.1f}" x2="{x(tick / 10):.1f}" y1="{top - 8}" y2="{height - 38}" '
                   f'stroke="#e3e3e3"/><text x="{x(tick / 10):.1f}" y="{height - 22}" text-anchor="middle" '
                   f'fill="#444">{tick / 10:.1f}</text>')
    out.append(f'<text x="{left + width / 2}" y="{height - 6}" text-anchor="middle" fill="#222">adjusted Rand index '
               f'after {answers} answers (1 is perfect)</text>')
    for at, name in enumerate(named):
        y = top + step * (at + (name in DEVELOPMENT)) + 5
        out.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end" fill="#222">{name.replace("_", " ")}</text>')
        for method, _, colour in shown:
            values = found[method, name]
            middle = mean(values)
            if len(values) > 1:
                half = math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1) / len(values))
                low, high = x(middle - half), x(min(middle + half, 1.0))
                out.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" '
                           f'stroke="{colour}" stroke-width="2"/>')
            out.append(f'<circle cx="{x(middle):.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
    Path(path).write_text("\n".join([*out, "</svg>"]) + "\n")
