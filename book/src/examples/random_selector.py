"""A selector in plain Python: all eligible pairs in random order.

mustlink select --data iris --budget 20 --selector external_selector \
    --set 'selector.command=["python3", "random_selector.py"]'
"""

import json
import random
import struct
import sys


def say(message):
    print(json.dumps(message), flush=True)


def integers(path):
    """A NumPy file of 64-bit integers, read without NumPy."""
    content = open(path, "rb").read()
    body = content[10 + struct.unpack("<H", content[8:10])[0] :]
    return [number for (number,) in struct.iter_unpack("<q", body)]


pairs = []
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"v": 1, "type": "hello", "name": "random", "again": True})
    elif message["type"] == "start":
        path = message["eligible"]
        objects = integers(path) if path else list(range(message["n"]))
        pairs = [(i, j) for i in objects for j in objects if i < j]
        random.Random(message["seed"]).shuffle(pairs)
        say({"type": "started"})
    elif message["type"] == "step" and pairs:
        say({"type": "ask", "subject": pairs[-1][0], "reference": pairs[-1][1], "purpose": "random"})
    elif message["type"] == "step":
        say({"type": "done", "reason": "exhausted"})
    elif message["type"] == "tell":
        pairs.pop()
        say({"type": "told"})
    elif message["type"] == "bye":
        break
