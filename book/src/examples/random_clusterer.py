"""A clusterer in plain Python: random labels. Shows the protocol and nothing else.

mustlink cluster --data iris --k 3 --clusterer external_clusterer \
    --set 'clusterer.command=["python3", "random_clusterer.py"]'
"""

import json
import random
import sys


def say(message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"v": 1, "type": "hello", "name": "random_labels", "again": True})
    elif message["type"] == "cluster":
        draw = random.Random(message["seed"])
        labels = [draw.randrange(message["k"]) for _ in range(message["n"])]
        say({"type": "clustering", "labels": labels, "k": message["k"]})
    elif message["type"] == "bye":
        break
