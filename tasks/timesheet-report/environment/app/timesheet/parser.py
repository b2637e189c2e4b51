"""Text to entries."""
from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from .entries import Entry, TimesheetError

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
ENTRY = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})\s+(\S+)(.*)")
PROJECT = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")


def parse(lines: Iterable[str], name: str) -> list[Entry]:
    """Read all entries in the order of the file. `name` is the file's, for messages."""
    entries: list[Entry] = []
    day: date | None = None
    for number, raw in enumerate(lines, start=1):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        place = f"{name}:{number}"
        if DATE.fullmatch(text):
            day = parse_date(text, place)
            continue
        if day is None:
            raise TimesheetError(f"{place}: an entry before the first date")
        entries.append(parse_entry(text, day, number, place))
    return entries


def parse_date(text: str, place: str) -> date:
    try:
        if not DATE.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        raise TimesheetError(f"{place}: not a date: {text}") from None


def parse_entry(text: str, day: date, number: int, place: str) -> Entry:
    match = ENTRY.fullmatch(text)
    if match is None:
        raise TimesheetError(f"{place}: neither a date nor an entry: {text}")
    start = minutes(match[1], match[2], place)
    end = minutes(match[3], match[4], place)
    if start == end:
        raise TimesheetError(f"{place}: start and end are equal")
    if not PROJECT.fullmatch(match[5]):
        raise TimesheetError(f"{place}: not a project: {match[5]}")
    words = match[6].split()
    return Entry(
        line=number,
        day=day,
        start=start,
        end=end,
        project=match[5],
        tags=tuple(word[1:] for word in words if word.startswith("#") and len(word) > 1),
        note=" ".join(word for word in words if not word.startswith("#")),
    )


def minutes(hours: str, rest: str, place: str) -> int:
    if int(hours) > 23 or int(rest) > 59:
        raise TimesheetError(f"{place}: not a time of day: {hours}:{rest}")
    return int(hours) * 60 + int(rest)
