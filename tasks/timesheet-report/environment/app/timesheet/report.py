"""How much time went where."""
from __future__ import annotations

import argparse
import sys


def report(arguments: argparse.Namespace) -> int:
    print("worklog: report is not written yet", file=sys.stderr)
    return 3
