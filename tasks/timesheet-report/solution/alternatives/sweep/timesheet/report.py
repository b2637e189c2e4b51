"""How much time went where, by sweeping once over all starts and ends."""
from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from .entries import Entry


@dataclass
class Ledger:
    """Minutes per group and day."""

    step: int
    days: dict[str, dict[date, float]] = field(default_factory=dict)

    def add(self, group: str, day: date, minutes: float) -> None:
        days = self.days.setdefault(group, {})
        days[day] = days.get(day, 0) + minutes

    def sum(self, group: str) -> int:
        return sum(math.ceil(minutes / self.step) * self.step for minutes in self.days.get(group, {}).values())


@dataclass(order=True)
class Claim:
    """An entry that goes on; the heap gives the one that started latest."""

    priority: tuple[timedelta, int]
    end: datetime = field(compare=False)
    entry: Entry = field(compare=False)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-")
    parser.add_argument("--by", choices=("project", "tag", "day"), default="project")
    parser.add_argument("--from", dest="since", type=iso_date)
    parser.add_argument("--to", dest="until", type=iso_date)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--depth", type=natural)
    parser.add_argument("--round", type=natural, default=1)
    parser.add_argument("--json", action="store_true")


def iso_date(text: str) -> date:
    return datetime.strptime(text, "%Y-%m-%d").date()


def natural(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def write_report(entries: list[Entry], options: argparse.Namespace) -> None:
    ledger, whole = Ledger(options.round), Ledger(options.round)
    for entry, start, end in slices(entries):
        for day, minutes in by_day(start, end):
            if not wanted(entry, day, options):
                continue
            whole.add("", day, minutes)
            for group in groups_of(entry, day, options):
                ledger.add(group, day, minutes)
    rows = [(group, ledger.sum(group)) for group in ledger.days]
    rows.sort()
    if options.by != "day":
        rows.sort(key=lambda row: row[1], reverse=True)
    if options.json:
        json.dump({"groups": [{"name": name, "minutes": minutes} for name, minutes in rows], "total": whole.sum("")}, sys.stdout)
        print()
        return
    rows.append(("TOTAL", whole.sum("")))
    print("\n".join(f"{name}\t{minutes // 60}:{minutes % 60:0>2}" for name, minutes in rows))


def slices(entries: list[Entry]) -> Iterator[tuple[Entry, datetime, datetime]]:
    """Stretches of time, each with the one entry to which it belongs."""
    waiting = sorted(((began(entry), number, entry) for number, entry in enumerate(entries)), key=lambda item: item[:2])
    heap: list[Claim] = []
    at = 0
    now = datetime.min
    while at < len(waiting) or heap:
        if not heap:
            now = waiting[at][0]
        while at < len(waiting) and waiting[at][0] <= now:
            start, number, entry = waiting[at]
            heapq.heappush(heap, Claim((datetime.max - start, -number), ended(entry), entry))
            at += 1
        while heap and heap[0].end <= now:
            heapq.heappop(heap)
        if not heap:
            continue
        until = heap[0].end
        if at < len(waiting):
            until = min(until, waiting[at][0])
        yield heap[0].entry, now, until
        now = until


def began(entry: Entry) -> datetime:
    return datetime.combine(entry.day, time()) + timedelta(minutes=entry.start)


def ended(entry: Entry) -> datetime:
    crossing = timedelta(days=1) if entry.end <= entry.start else timedelta()
    return datetime.combine(entry.day, time()) + timedelta(minutes=entry.end) + crossing


def by_day(start: datetime, end: datetime) -> Iterator[tuple[date, int]]:
    while start < end:
        midnight = datetime.combine(start.date() + timedelta(days=1), time())
        stop = min(end, midnight)
        yield start.date(), (stop - start) // timedelta(minutes=1)
        start = stop


def wanted(entry: Entry, day: date, options: argparse.Namespace) -> bool:
    if options.since and day < options.since:
        return False
    if options.until and day > options.until:
        return False
    return not options.only or any((entry.project + "/").startswith(only + "/") for only in options.only)


def groups_of(entry: Entry, day: date, options: argparse.Namespace) -> list[str]:
    match options.by:
        case "day":
            return [str(day)]
        case "tag":
            return list(dict.fromkeys(entry.tags)) or ["(none)"]
        case _:
            return ["/".join(entry.project.split("/")[:options.depth])]
