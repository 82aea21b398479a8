"""An oracle for mustlink: answers "same cluster?" from a CSV with the columns id and label.

oracle = { type = "subprocess", command = ["python3", "oracle.py", "labels.csv"] }
"""

import csv
import json
import sys

with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
    label = {row["id"]: row["label"] for row in csv.DictReader(file)}


def say(**message):
    print(json.dumps({"v": 1, **message}), flush=True)  # Unflushed answers never arrive.


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say(type="hello", name="labels from a file")
    elif message["type"] == "ask":
        a, b = label.get(message["i"]["id"]), label.get(message["j"]["id"])
        reply = "dont_know" if not a or not b else "must_link" if a == b else "cannot_link"
        say(type="answer", id=message["id"], reply=reply, annotator="file")
    elif message["type"] == "sort":  # With sort = 8: several objects at once, by far fewer calls.
        groups = {}
        for one in message["objects"]:
            groups.setdefault(label.get(one["id"]) or one["id"], []).append(one["index"])
        say(type="sorted", id=message["id"], groups=list(groups.values()), annotator="file")
    elif message["type"] == "bye":
        break
