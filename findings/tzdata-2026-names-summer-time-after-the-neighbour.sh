#!/usr/bin/env bash
# tzdata 2026f: zones that keep summer time for good are in standard time, that of their neighbour: Vancouver in MST, Winnipeg in EST.
#
# Clocks there stand as in summer (UTC-7, UTC-5), but the abbreviation is another and daylight saving is off: code that asks
# whether a zone is in summer time, or finds an offset by `PDT` and `PST`, is wrong by an hour from autumn 2026. The last line of
# the file of a zone (TZif) says it for all years to come. Half the year `America/Vancouver` has the letters of `America/Phoenix`.
# Package: PyPI tzdata 2026.6 (2026f).
# Seen on 2026-11-28:
#   America/Vancouver: MST7; July 2026 PDT -07:00 summer time, January 2027 MST -07:00 standard time
#   America/Edmonton: CST6; July 2026 MDT -06:00 summer time, January 2027 CST -06:00 standard time
#   America/Winnipeg: EST5; July 2026 CDT -05:00 summer time, January 2027 EST -05:00 standard time
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip install --quiet --no-deps --target "$folder" tzdata==2026.6 2>/dev/null

PYTHONTZPATH="$folder/tzdata/zoneinfo" python3 - "$folder" <<'PYTHON'
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

EXPECTED = """\
America/Vancouver: MST7; July 2026 PDT -07:00 summer time, January 2027 MST -07:00 standard time
America/Edmonton: CST6; July 2026 MDT -06:00 summer time, January 2027 CST -06:00 standard time
America/Winnipeg: EST5; July 2026 CDT -05:00 summer time, January 2027 EST -05:00 standard time"""


def told(zone, year, month):
    moment = datetime(year, month, 15, 12, tzinfo=ZoneInfo(zone))
    kind = 'summer' if moment.dst() else 'standard'
    return f'{moment.tzname()} {moment.isoformat()[-6:]} {kind} time'


def line(zone):
    with open(f'{sys.argv[1]}/tzdata/zoneinfo/{zone}', 'rb') as file:
        rule = file.read().split(b'\n')[-2].decode()
    return f'{zone}: {rule}; July 2026 {told(zone, 2026, 7)}, January 2027 {told(zone, 2027, 1)}'


found = '\n'.join(line(one.split(':')[0]) for one in EXPECTED.split('\n'))
print(found)
sys.exit(0 if found == EXPECTED else 1)
PYTHON
