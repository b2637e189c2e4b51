"""The command line."""
from __future__ import annotations

import argparse
import sys

from .entries import Entry, TimesheetError
from .parser import parse
from .report import add_options, write_report


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="worklog", description="Answers questions about a timesheet.")
    commands = parser.add_subparsers(dest="command", required=True)

    check = commands.add_parser("check", help="say whether the file can be read")
    check.add_argument("file", nargs="?", default="-")
    check.set_defaults(run=run_check)

    summary = commands.add_parser("report", help="how much time went where")
    add_options(summary)
    summary.set_defaults(run=run_report)

    arguments = parser.parse_args(argv)
    if arguments.run is run_report and arguments.since and arguments.until and arguments.since > arguments.until:
        summary.error("--from is later than --to")
    try:
        return arguments.run(arguments)
    except TimesheetError as error:
        print(f"worklog: {error}", file=sys.stderr)
        return 2


def read_entries(path: str) -> list[Entry]:
    """All entries of a file, or of standard input for "-"."""
    if path == "-":
        return parse(sys.stdin, "-")
    try:
        with open(path, encoding="utf-8") as lines:
            return parse(lines, path)
    except OSError as error:
        raise TimesheetError(f"{path}: {error.strerror}") from None


def run_check(arguments: argparse.Namespace) -> int:
    entries = read_entries(arguments.file)
    days = {entry.day for entry in entries}
    print(f"ok: {len(entries)} entries on {len(days)} days")
    return 0


def run_report(arguments: argparse.Namespace) -> int:
    write_report(read_entries(arguments.file), arguments)
    return 0
