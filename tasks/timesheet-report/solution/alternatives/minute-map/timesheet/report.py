"""How much time went where: a map from every minute to the entry that has it."""
import json
import sys
from collections import Counter
from datetime import timedelta

from .options import UsageError, read_options


def report(argv, read_entries):
    try:
        options = read_options(argv)
    except UsageError as error:
        print(f"worklog report: {error}", file=sys.stderr)
        return 2
    kept = keep(minute_map(read_entries(options["file"])), options)
    groups = [(name, count) for name, count in rounded(kept, namer(options), options["round"]).items() if count]
    total = rounded(kept, lambda day, entry: ["total"], options["round"])["total"]
    groups.sort(key=(lambda group: group[0]) if options["by"] == "day" else (lambda group: (-group[1], group[0])))
    if options["json"]:
        print(json.dumps({"groups": [dict(name=name, minutes=count) for name, count in groups], "total": total}, indent=2))
        return 0
    for name, count in groups + [("TOTAL", total)]:
        hours, minutes = divmod(count, 60)
        print(name, f"{hours}:{minutes:02d}", sep="\t")
    return 0


def minute_map(entries):
    """{(day, minute): entry}. Entries are laid down by the time at which they start; sorting keeps the order of the file."""
    owners = {}
    for entry in sorted(entries, key=lambda entry: (entry.day, entry.start)):
        day, minute = entry.day, entry.start
        while True:
            owners[day.isoformat(), minute] = entry
            minute += 1
            if minute == 1440:
                day, minute = day + timedelta(days=1), 0
            if minute == entry.end:
                break
    return owners


def keep(owners, options):
    kept = []
    for (day, _minute), entry in owners.items():
        if options["from"] and day < options["from"] or options["to"] and day > options["to"]:
            continue
        path = entry.project.split("/")
        if options["only"] and not any(path[:len(only)] == only for only in options["only"]):
            continue
        kept.append((day, entry))
    return kept


def namer(options):
    if options["by"] == "day":
        return lambda day, entry: [day]
    if options["by"] == "tag":
        return lambda day, entry: sorted(set(entry.tags)) or ["(none)"]
    return lambda day, entry: ["/".join(entry.project.split("/")[:options["depth"]])]


def rounded(kept, names, step):
    days = Counter((name, day) for day, entry in kept for name in names(day, entry))
    sums = Counter()
    for (name, _day), count in days.items():
        sums[name] += (count + step - 1) // step * step
    return sums
