"""A clusterer of scikit-learn as a plugin; needs numpy and scikit-learn.

mustlink cluster --data iris --k 3 --clusterer external_clusterer \
    --set 'clusterer.command=["python3", "sklearn_clusterer.py"]'
"""

import json
import os
import sys

import numpy
from sklearn.cluster import BisectingKMeans


def say(message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"v": 1, "type": "hello", "name": "bisecting_kmeans", "again": True})
    elif message["type"] == "cluster":
        x = numpy.load(message["data"]["values"])
        model = BisectingKMeans(message["k"], random_state=message["seed"]).fit(x)
        path = os.path.join(message["directory"], "labels.npy")
        numpy.save(path, model.labels_)
        say({"type": "clustering", "labels": path, "k": message["k"]})
    elif message["type"] == "bye":
        break
