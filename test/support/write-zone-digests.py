#!/usr/bin/env python3
"""Writes test/fixtures/zone-digests.json: what Python's zoneinfo says of every zone of PyPI's tzdata.

python3 test/support/write-zone-digests.py WHEEL    (pip download --no-deps tzdata==2026.6)

For each zone: every change of its offset from 2000 to 2040 (seconds, offset), as a SHA-256 of their text with the number of changes,
and of a few zones all of them, for people.
"""

import datetime
import hashlib
import json
import os
import sys
import tempfile
import zipfile
import zoneinfo

FROM = 946684800  # 2000-01-01
TO = 2208988800  # 2040-01-01
STEP = 6 * 3600
SHOWN = ["America/Vancouver", "Australia/Lord_Howe", "Africa/Casablanca", "America/Havana"]
TARGET = os.path.join(os.path.dirname(__file__), "../fixtures/zone-digests.json")
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def changes_of(zone):
    def offset_at(second):
        moment = (EPOCH + datetime.timedelta(seconds=second)).astimezone(zone)
        return int(moment.utcoffset().total_seconds())

    found = [(FROM, offset_at(FROM))]
    for start in range(FROM, TO, STEP):
        low, high = start, start + STEP
        while offset_at(low) != offset_at(high):
            a, b = low, high
            while b - a > 1:
                middle = (a + b) // 2
                if offset_at(middle) == offset_at(low):
                    a = middle
                else:
                    b = middle
            found.append((b, offset_at(b)))
            low = b
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(sys.argv[1]).extractall(folder)
        root = os.path.join(folder, "tzdata/zoneinfo")
        with open(os.path.join(root, "tzdata.zi")) as file:
            release = file.readline().split()[-1]
        zoneinfo.reset_tzpath([root])
        digests, shown, known = {}, {}, {}
        for at, _, files in os.walk(root):
            for name in files:
                path = os.path.join(at, name)
                with open(path, "rb") as file:
                    data = file.read()
                if data[:4] != b"TZif":
                    continue
                key = os.path.relpath(path, root)
                if data not in known:
                    known[data] = changes_of(zoneinfo.ZoneInfo.no_cache(key))
                changes = known[data]
                text = "\n".join(f"{second} {offset}" for second, offset in changes)
                digests[key] = f"{len(changes) - 1} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
                if key in SHOWN:
                    shown[key] = changes
        result = {
            "release": release,
            "from": FROM,
            "to": TO,
            "digests": dict(sorted(digests.items())),
            "changes": dict(sorted(shown.items())),
        }
    with open(TARGET, "w") as file:
        json.dump(result, file, separators=(",", ":"))
        file.write("\n")


main()
