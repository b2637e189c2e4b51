"""What a timesheet says, as data."""
from __future__ import annotations

from collections import namedtuple

Entry = namedtuple("Entry", ["line", "day", "start", "end", "project", "tags", "note"])
Entry.__doc__ = "One entry of the timesheet."
Entry.line.__doc__ = "line of the file, counted from 1"
Entry.day.__doc__ = "the day on which the entry starts, a datetime.date"
Entry.start.__doc__ = "minutes after midnight, 0 .. 1439"
Entry.end.__doc__ = "minutes after midnight, as written: not later than start means on the next day"
Entry.project.__doc__ = "as written"
Entry.tags.__doc__ = "a tuple, as written, without the \"#\", in order; the same tag may occur twice"
Entry.note.__doc__ = "text, may be empty"


class TimesheetError(Exception):
    """The timesheet cannot be read. The message names the place."""
