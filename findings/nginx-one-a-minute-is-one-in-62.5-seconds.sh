#!/usr/bin/env bash
# nginx 1.22.1: `limit_req` with `rate=1r/m` takes one request in 62.5 seconds, not one in 60.
#
# The rate is kept as whole thousandths of a request a second: 1,000 / 60 is cut to 16. `rate=1r/m` is 0.96 a minute, 2r/m 1.98,
# 59r/m 58.98. A client that comes once a minute is refused every other time, so that whoever takes such limits to another
# limiter word by word gives clients a little more.
# Package: Debian 12, nginx 1.22.1.
# Seen on 2026-11-28:
#   rate=1r/m: refused after 60.5 and 62.3 s, taken after 62.6 s
# Exits with 1 when it is something else. Takes a bit more than a minute.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
pid=
chmod 755 "$folder"
(cd "$folder" && apt-get download -qq nginx 2>/dev/null && dpkg -x nginx_1.22.1-*.deb .)
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
mkdir "$folder/html" && echo ok > "$folder/html/index.html"
cat > "$folder/nginx.conf" <<CONF
daemon off;
master_process off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
  access_log off;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  limit_req_zone \$server_port zone=one:1m rate=1r/m;
  limit_req_status 429;
  server {
    listen 127.0.0.1:$port;
    root $folder/html;
    limit_req zone=one;
  }
}
CONF
"$folder/usr/sbin/nginx" -e "$folder/error.log" -c "$folder/nginx.conf" & pid=$!

python3 - "$port" <<'PYTHON'
import sys, time, urllib.error, urllib.request

url = f'http://127.0.0.1:{sys.argv[1]}/index.html'


def ask():
    try:
        return urllib.request.urlopen(url).status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return 0


first = 0
while first == 0:
    first = ask()
    began = time.monotonic()
found = [first]
for seconds in (60.5, 62.3, 62.6):
    time.sleep(began + seconds - time.monotonic())
    found.append(ask())
words = {429: 'refused', 200: 'taken'}
a, b, c = (words.get(status, status) for status in found[1:])
print(f'rate=1r/m: {a} after 60.5 s, {b} after 62.3 s, {c} after 62.6 s')
sys.exit(0 if found == [200, 429, 429, 200] else 1)
PYTHON
