"""The tables and the figure of the manual, from the rows."""

import math
import random
from pathlib import Path

from design import ANSWERS, CONDITIONS, DEVELOPMENT, OURS, PEERS, SETS, TEST, read_rows


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


def table():
    rows = read_rows()
    methods = [m for m in [*OURS, *PEERS] if any(r["method"] == m for r in rows)]
    names = {"test": TEST, "development": DEVELOPMENT}
    for measure, title in [("ari", "ARI, all objects"), ("ari_free", "ARI, objects without an answer"),
                           ("ami_free", "AMI, objects without an answer")]:
        for group, sets in names.items():
            for asked, wrong in CONDITIONS:
                print(f"\n| {title}; {group} sets, {asked} pairs{', a tenth wrong' if wrong else ''} | "
                      + " | ".join(map(str, ANSWERS)) + " |")
                print("|---|" + "---|" * len(ANSWERS))
                found = {}
                for method in methods:
                    for answers in ANSWERS:
                        for name in sets:
                            own = [value(r, measure) for r in rows
                                   if (r["set"], r["asked"], float(r["wrong"]), int(r["answers"]), r["method"])
                                   == (name, asked, wrong, answers, method)]
                            if own:
                                found[method, answers, name] = mean(own)
                for method in methods:
                    cells = []
                    for answers in ANSWERS:
                        own = [found[method, answers, s] for s in sets if (method, answers, s) in found]
                        text = shown(mean(own)) if own else ""
                        both = [s for s in sets if (method, answers, s) in found and ("auto", answers, s) in found]
                        if method != "auto" and both:
                            less = [found["auto", answers, s] - found[method, answers, s] for s in both]
                            low, high = interval(less)
                            text += f" ({shown(low, True)}, {shown(high, True)})"
                        cells.append(text)
                    if any(cells):
                        print(f"| {method} | " + " | ".join(cells) + " |")
    print("\nIn brackets: how much `auto` is ahead, the interval that holds 95 % of the means over resampled sets.")
    print("\n| score that `auto` shows; pairs | answers | runs | mean error | truth within two standard errors |")
    print("|---|---|---|---|---|")
    for asked, wrong in CONDITIONS:
        for answers in ANSWERS:
            at = (asked, wrong, answers)
            own = [r for r in rows if r["shown"] and (r["asked"], float(r["wrong"]), int(r["answers"])) == at]
            errors = [float(r["shown"]) - float(r["met"]) for r in own]
            within = sum(abs(e) <= 2 * float(r["shown_error"]) for e, r in zip(errors, own))
            if own:
                print(f"| {asked}{', a tenth wrong' if wrong else ''} | {answers} | {len(own)} | "
                      f"{shown(mean(errors), True)} | {within} |")


def figure(path, answers=100):
    """k-means, the best package over all sets, and `auto`: mean ± standard error on each set, right answers."""
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
