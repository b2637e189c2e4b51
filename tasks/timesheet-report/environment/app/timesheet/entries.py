"""What a timesheet says, as data."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Entry:
    #: line of the file, counted from 1
    line: int
    #: the day on which the entry starts
    day: date
    #: minutes after midnight, 0 .. 1439
    start: int
    #: minutes after midnight, as written: not later than start means on the next day
    end: int
    project: str
    #: as written, without the "#", in order; the same tag may occur twice
    tags: tuple[str, ...]
    note: str


class TimesheetError(Exception):
    """The timesheet cannot be read. The message names the place."""
