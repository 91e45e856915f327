#!/usr/bin/env bash
# memcached 1.6.18: a life of one second (`set k 0 1 1`) lasts from some milliseconds to one second, by where its clock stands.
#
# Lives end at ticks of a clock of whole seconds that began with the process: a counter per second that is kept for one second
# is gone before its second is over, so that its limit begins anew within it.
# Packages: Debian 12, memcached 1.6.18 and libevent-2.1-7.
# Seen on 2026-11-28 (the figures vary by some milliseconds):
#   40 lives of one second: the shortest took under 100 ms, the longest over 900 ms, none over 1,100 ms
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
pid=
chmod 755 "$folder"
(cd "$folder" && apt-get download -qq memcached libevent-2.1-7 libsasl2-2 2>/dev/null && for one in memcached_1.6.18-*.deb lib*.deb; do dpkg -x "$one" .; done)
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu" "$folder/usr/bin/memcached" -u "$(id -un)" -l 127.0.0.1 -p "$port" -U 0 & pid=$!

python3 - "$port" <<'PYTHON'
import socket, sys, time

for _ in range(100):
    try:
        stream = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)


def call(text):
    stream.sendall(text.encode())
    return stream.recv(4096)


lives = []
for turn in range(40):
    # Each begins at another place between two ticks: the end of the one before was at a tick.
    time.sleep((turn * 0.37) % 1)
    call('set k 0 1 1\r\n0\r\n')
    began = time.monotonic()
    while call('get k\r\n') != b'END\r\n':
        time.sleep(0.002)
    lives.append((time.monotonic() - began) * 1000)
print(f'40 lives of one second: the shortest took {min(lives):.0f} ms, the longest {max(lives):.0f} ms')
sys.exit(0 if min(lives) < 100 and 900 < max(lives) < 1100 else 1)
PYTHON
