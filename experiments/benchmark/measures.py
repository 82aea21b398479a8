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
    same, in_a, in_b = choose(table_of(a, b).values()), choose(sums(a)), choose(sums(b))
    pairs = len(a) * (len(a) - 1) / 2
    expected = in_a * in_b / pairs if pairs else 0.0
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else (same - expected) / (most - expected)


def choose(counts):
    return sum(c * (c - 1) / 2 for c in counts)


def met(labels, classes, pairs):
    """The mean of two shares, over the pairs of objects that no answer settles: equal pairs that share a cluster, and
    different ones that do not. None if there are no pairs of one kind. An answer is (i, j, True for must-link). Pairs that
    follow only because there are two classes do not count as settled."""
    root = list(range(len(labels)))

    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, j, is_must in pairs:
        if is_must:
            root[find(i)] = find(j)
    groups = {}
    for i in range(len(labels)):
        groups.setdefault(find(i), []).append(i)
    apart = {frozenset((find(i), find(j))) for i, j, is_must in pairs if not is_must}
    # For each sort of pairs: equal and together, equal, together, all.
    whole = counts(labels, classes, range(len(labels)))
    settled = [counts(labels, classes, group) for group in groups.values() if len(group) > 1]
    for a, b in (pair for pair in apart if len(pair) == 2):
        parts = groups[a], groups[b], groups[a] + groups[b]
        in_a, in_b, in_all = (counts(labels, classes, part) for part in parts)
        settled.append([x - y - z for x, y, z in zip(in_all, in_a, in_b)])
    both, equal, together, every = (w - sum(part) for w, part in zip(whole, zip(*settled) if settled else [()] * 4))
    if not equal or equal == every:
        return None
    return (both / equal + 1 - (together - both) / (every - equal)) / 2


def counts(labels, classes, objects):
    """The numbers of pairs among objects: of one class and cluster, of one class, of one cluster, and all."""
    a, b = [labels[i] for i in objects], [classes[i] for i in objects]
    return [choose(table_of(a, b).values()), choose(sums(b)), choose(sums(a)), choose([len(a)])]


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
