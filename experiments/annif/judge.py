"""Measures of answers of Annif and memoir, by the same code: an answer is a list of classes, best first."""

import csv
import json
import math
from statistics import mean


def annif_gold(path, prefix):
    """True classes of each row of a corpus, known to the vocabulary or not."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [row["subject_uris"].replace(prefix, "").split() for row in csv.DictReader(lines)]


def annif_answers(path, prefix):
    """Classes with scores for each row of `annif index`."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line)["results"] for line in lines]
    return [{answer["uri"].removeprefix(prefix): answer["score"] for answer in row} for row in rows]


def memoir_answers(path):
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [dict(zip(row["classes"], row["scores"], strict=True)) for row in rows]


def averaged(firsts, seconds, weight, limit):
    """What Annif's ensemble answers: averages of scores, where a class that is not suggested has 0."""
    rows = []
    for first, second in zip(firsts, seconds, strict=True):
        sums = {name: weight * score for name, score in first.items()}
        for name, score in second.items():
            sums[name] = sums.get(name, 0) + (1 - weight) * score
        best = sorted((name for name in sums if sums[name] > 0), key=lambda name: -sums[name])
        rows.append({name: sums[name] for name in best[:limit]})
    return rows


def ndcg(answer, truth, at):
    """The ideal has all true labels, also those that no training row has."""
    gain = sum(1 / math.log2(place + 2) for place, name in enumerate(answer[:at]) if name in truth)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(at, len(truth))))


def f1(answer, truth, at):
    given = answer[:at]
    return 2 * sum(name in truth for name in given) / (len(given) + len(truth))


def measures(answers, gold):
    """Means over all rows; a row without an answer counts 0."""
    ranked = [sorted(row, key=lambda name: -row[name]) for row in answers]
    pairs = [(answer, set(truth)) for answer, truth in zip(ranked, gold, strict=True)]
    return {
        "rows": len(pairs),
        "accuracy": round(mean(bool(answer) and answer[0] in truth for answer, truth in pairs), 4),
        "ndcg_at_5": round(mean(ndcg(answer, truth, 5) for answer, truth in pairs), 4),
        "ndcg_at_20": round(mean(ndcg(answer, truth, 20) for answer, truth in pairs), 4),
        "f1_at_5": round(mean(f1(answer, truth, 5) for answer, truth in pairs), 4),
    }
