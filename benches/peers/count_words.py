"""Print the counts of words that scikit-learn makes: the golden values in the tests of `count_words`.

    python benches/peers/count_words.py
"""

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

TEXTS = [
    "The court, the Court & a judge's court_room!",
    "Émile scored 2 goals in 90 minutes; goals win.",
    "",
    "ÜBER-GOALS über alles: the 2nd court",
    "a I ! b",
    "Матч окончен: 2:1, матч!",
    "東京 都 東京都庁 x1",
]
WAYS = [
    {},
    {"min_df": 2},
    {"max_df": 0.2},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "min_df": 2},
    {"analyzer": "char_wb", "ngram_range": (4, 6), "min_df": 2},
]

for way in WAYS:
    vectorizer = CountVectorizer(**way)
    counts = vectorizer.fit_transform(TEXTS).toarray()
    terms = vectorizer.get_feature_names_out()
    print(way)
    for row in counts:
        print(repr("|".join(f"{term}:{n}" for term, n in zip(terms, row, strict=True) if n)))

weights = TfidfVectorizer(sublinear_tf=True, smooth_idf=True).fit_transform(TEXTS).toarray()
print("tf-idf")
for row in weights[:2]:
    print([float(weight) for weight in row if weight])
