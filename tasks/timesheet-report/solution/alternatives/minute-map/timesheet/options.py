"""The options of report, read by hand."""
import getopt
import re
from datetime import date

LONG = ["by=", "from=", "to=", "only=", "depth=", "round=", "json"]


class UsageError(Exception):
    pass


def read_options(argv):
    """A dict with file, by, from, to, only, depth, round and json."""
    chosen = {"file": "-", "by": "project", "from": None, "to": None, "only": [], "depth": None, "round": 1, "json": False}
    try:
        pairs, files = getopt.gnu_getopt(argv, "", LONG)
    except getopt.GetoptError as error:
        raise UsageError(str(error)) from None
    if len(files) > 1:
        raise UsageError("more than one file")
    if files:
        chosen["file"] = files[0]
    for option, value in pairs:
        store(chosen, option[2:], value)
    if chosen["from"] and chosen["to"] and chosen["from"] > chosen["to"]:
        raise UsageError("--from is later than --to")
    return chosen


def store(chosen, name, value):
    if name == "json":
        chosen["json"] = True
    elif name == "only":
        chosen["only"].append(value.split("/"))
    elif name in ("from", "to"):
        chosen[name] = checked_date(value)
    elif name in ("depth", "round"):
        if not re.fullmatch("[1-9][0-9]*", value):
            raise UsageError(f"--{name} wants a whole number of at least 1, not {value}")
        chosen[name] = int(value)
    elif value not in ("project", "tag", "day"):
        raise UsageError(f"--by cannot be {value}")
    else:
        chosen[name] = value


def checked_date(text):
    try:
        year, month, day = text.split("-")
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        raise UsageError(f"not a date: {text}") from None
