"""Calls the library once and writes one tagged value. Knows nothing of what is right."""
import json
import os
import sys

result = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what the library prints is not the result
request = json.loads(sys.stdin.readline())["input"]
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.path.insert(0, os.environ["WORKSPACE"])


def take(request):
    it = make(request)
    found = []
    for _ in range(request["take"]):
        try:
            found.append(next(it).isoformat())
        except StopIteration:
            found.append("stop")
            break
    return found


def state(request):
    it = make(request)
    same = iter(it) is it
    moment = next(it)
    return {"iterIsSelf": same, "type": type(moment).__name__, "dtIsMatch": it.dt == moment, "microsecond": moment.microsecond}


def explain(request):
    return make({"start": "2024-01-01T00:00:00", **request}).explain()


def make(request):
    from datetime import datetime
    from cronsim import CronSim
    return CronSim(request["expr"], datetime.fromisoformat(request["start"]), reverse=request.get("reverse", False))


CALLS = {"take": take, "state": state, "explain": explain}

try:
    answer = {"kind": "value", "value": CALLS[request["call"]](request)}
except Exception as error:
    answer = {"kind": "error", "type": type(error).__name__, "message": str(error)}
try:
    line = json.dumps(answer, allow_nan=False)
except (TypeError, ValueError) as error:
    line = json.dumps({"kind": "error", "type": "Unserialisable", "message": str(error)})
result.write(line + "\n")
result.close()
