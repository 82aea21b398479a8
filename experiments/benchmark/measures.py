"""Measures of a clustering, without any package."""

import math


def table_of(a, b):
    counts = {}
    for pair in zip(a, b):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def sums(labels):
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return list(counts.values())


def ari(a, b):
    def choose(counts):
        return sum(c * (c - 1) / 2 for c in counts)

    same, in_a, in_b = choose(table_of(a, b).values()), choose(sums(a)), choose(sums(b))
    pairs = len(a) * (len(a) - 1) / 2
    expected = in_a * in_b / pairs if pairs else 0.0
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else (same - expected) / (most - expected)


def met(labels, classes):
    """The mean of two shares: equal pairs that share a cluster, and different ones that do not."""
    def choose(counts):
        return sum(c * (c - 1) / 2 for c in counts)

    both, equal, together = (choose(c) for c in (table_of(labels, classes).values(), sums(classes), sums(labels)))
    different = len(labels) * (len(labels) - 1) / 2 - equal
    return (both / equal + 1 - (together - both) / different) / 2


def entropy(counts, n):
    return -sum(c / n * math.log(c / n) for c in counts)


def ami(a, b):
    """Adjusted mutual information, arithmetic mean."""
    n, rows, columns = len(a), sums(a), sums(b)
    if len(rows) == len(columns) == 1:
        return 1.0
    joint = table_of(a, b)
    mutual = entropy(rows, n) + entropy(columns, n) - entropy(joint.values(), n)
    log = [0.0] * (n + 1)
    for i in range(2, n + 1):
        log[i] = log[i - 1] + math.log(i)
    expected = 0.0
    for r in rows:
        for c in columns:
            fixed = log[r] + log[c] + log[n - r] + log[n - c] - log[n]
            for x in range(max(1, r + c - n), min(r, c) + 1):
                chance = fixed - log[x] - log[r - x] - log[c - x] - log[n - r - c + x]
                expected += x / n * math.log(n * x / (r * c)) * math.exp(chance)
    most = (entropy(rows, n) + entropy(columns, n)) / 2
    return 1.0 if most == expected else (mutual - expected) / (most - expected)
