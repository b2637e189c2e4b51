"""The command line."""
from __future__ import annotations

import argparse
import re
import sys
from datetime import date

from .entries import Entry, TimesheetError
from .parser import parse
from .report import build, render


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="worklog", description="Answers questions about a timesheet.")
    commands = parser.add_subparsers(dest="command", required=True)

    check = commands.add_parser("check", help="say whether the file can be read")
    check.add_argument("file", nargs="?", default="-")
    check.set_defaults(run=run_check)

    report = commands.add_parser("report", help="how much time went where", allow_abbrev=False)
    report.add_argument("file", nargs="?", default="-")
    report.add_argument("--by", choices=["project", "tag", "day"], default="project")
    report.add_argument("--from", dest="first", type=to_date, metavar="DATE")
    report.add_argument("--to", dest="last", type=to_date, metavar="DATE")
    report.add_argument("--only", action="append", metavar="PROJECT")
    report.add_argument("--depth", type=to_count, metavar="N")
    report.add_argument("--round", type=to_count, default=1, metavar="N")
    report.add_argument("--json", action="store_true")
    report.set_defaults(run=run_report)

    arguments = parser.parse_args(argv)
    if arguments.command == "report" and arguments.first and arguments.last and arguments.first > arguments.last:
        report.error("--from is later than --to")
    try:
        return arguments.run(arguments)
    except TimesheetError as error:
        print(f"worklog: {error}", file=sys.stderr)
        return 2


def to_date(text: str) -> date:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError(text)
    return date.fromisoformat(text)


def to_count(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise ValueError(text)
    return int(text)


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
    groups, total = build(read_entries(arguments.file), arguments)
    sys.stdout.write(render(groups, total, as_json=arguments.json))
    return 0
