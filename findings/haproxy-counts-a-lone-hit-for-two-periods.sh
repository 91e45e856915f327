#!/usr/bin/env bash
# HAProxy 2.6.12: one lone request stays in `http_req_rate(2s)` for four seconds, and ten fall away one by one over the period that follows.
#
# The rate is that of the last two periods: the one before counts by the share of it that still lies within, rounded so that a
# lone hit counts whole to the end. `deny if { sc0_http_req_rate gt 0 }` with a period of an hour refuses for up to two hours.
# Packages: Debian 12, haproxy 2.6.12, liblua5.3-0, libopentracing-c-wrapper0 and libopentracing1.
# Seen on 2026-11-28:
#   one request: 1 after 3.5 s, 0 after 4.5 s; ten requests: 10 after 1.5 s, 5 after 2.9 s, 0 after 4.5 s
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
pid=
chmod 755 "$folder"
(cd "$folder" && apt-get download -qq haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 2>/dev/null && for one in haproxy_2.6.12-*.deb lib*.deb; do dpkg -x "$one" .; done)
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
cat > "$folder/haproxy.cfg" <<CONF
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
frontend all
  bind 127.0.0.1:$port
  stick-table type string size 1k expire 1m store http_req_rate(2s)
  http-request track-sc0 str(one) if { path /one }
  http-request track-sc0 str(ten) if { path /ten }
  http-request return status 200 content-type text/plain lf-string "%[path,field(3,/),table_http_req_rate(all)]" if { path_beg /read/ }
  http-request return status 200
CONF
LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu" "$folder/usr/sbin/haproxy" -db -f "$folder/haproxy.cfg" >/dev/null 2>&1 & pid=$!

python3 - "$port" <<'PYTHON'
import sys, time, urllib.error, urllib.request


def ask(path):
    return urllib.request.urlopen(f'http://127.0.0.1:{sys.argv[1]}{path}', timeout=5).read().decode()


for _ in range(100):
    try:
        ask('/read/none')
        break
    except urllib.error.URLError:
        time.sleep(0.05)
else:
    sys.exit('haproxy does not answer: it has not started, which says nothing of its rates')


def rates(name, count, moments):
    for _ in range(count):
        ask(f'/{name}')
    began = time.monotonic()
    found = []
    for seconds in moments:
        time.sleep(began + seconds - time.monotonic())
        found.append(int(ask(f'/read/{name}')))
    return found


one = rates('one', 1, (3.5, 4.5))
ten = rates('ten', 10, (1.5, 2.9, 4.5))
print(f'one request: {one[0]} after 3.5 s, {one[1]} after 4.5 s; ten requests: {ten[0]} after 1.5 s, {ten[1]} after 2.9 s, {ten[2]} after 4.5 s')
sys.exit(0 if one == [1, 0] and ten[0] == 10 and ten[1] in (4, 5, 6) and ten[2] == 0 else 1)
PYTHON
