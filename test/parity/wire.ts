import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { filter, firstValueFrom, startWith, Subject } from 'rxjs';
import type { Scenario, WireLine } from './scenario';

/** A StatsD server over TCP and UDP that keeps every line. */
export interface StatsdServer {
  readonly port: number;
  lines(): readonly string[];
  /** Waits until the check of all lines so far holds, which is asked again with each that arrives. */
  until(check: (lines: readonly string[]) => boolean): Promise<void>;
  /** Waits until the check of all lines so far throws no more, likewise. */
  untilPasses(check: (lines: readonly string[]) => void): Promise<void>;
  close(): Promise<void>;
}

export async function startStatsdServer(): Promise<StatsdServer> {
  let received = '';
  const arrivals = new Subject<void>();
  const take = (text: string): void => {
    received += text;
    arrivals.next();
  };
  const lines = () => received.split('\n').filter((line) => line !== '');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (chunk) => {
      take(chunk.toString());
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const udp = createSocket('udp4', (message) => {
    take(`${message.toString()}\n`);
  });
  await new Promise<void>((resolve) => {
    udp.bind(port, '127.0.0.1', resolve);
  });
  const until: StatsdServer['until'] = async (check) => {
    const checks = arrivals.pipe(
      startWith(undefined),
      filter(() => check(lines())),
    );
    await firstValueFrom(checks);
  };
  return {
    port,
    lines,
    until,
    untilPasses: (check) =>
      until((all) => {
        try {
          check(all);
          return true;
        } catch {
          return false;
        }
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        udp.close();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** Sends the statistics of a scenario that recorded them to this server. */
export function statsdSettings(
  { wire, settings }: Scenario,
  { port }: StatsdServer,
): Readonly<Record<string, string>> {
  if (wire === undefined) return {};
  return {
    DISABLE_STATS: 'false',
    USE_STATSD: String(settings['USE_DOG_STATSD'] !== 'true'),
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: String(port),
    STATS_FLUSH_INTERVAL: '50ms',
  };
}

/** Waits until a line of every recorded name has arrived; gauges come with a flush, not with the last one. */
export async function expectNames({ wire = [] }: Scenario, server: StatsdServer): Promise<void> {
  await server.until((lines) =>
    wire.every(({ name }) => lines.some((line) => line.startsWith(`${name}:`))),
  );
}

/** Stores and their times, connections, unmatched descriptors and what is below `weir.` have names that the reference does not send. */
const OURS = ['redis', 'localcache', 'memcache', 'memory', 'store.', 'unmatched'];
const OURS_ALONE = 'weir.';

/**
 * Compares the lines by name and type: totals of counters, how often a time was sent. `alsoOurs`: first words below
 * `ratelimit.` of statistics that the reference does not send.
 */
export function expectWire(
  { wire }: Scenario,
  lines: readonly string[],
  alsoOurs: readonly string[] = [],
): void {
  if (wire === undefined) return;
  const found = gather(lines);
  const recorded = new Map(wire.map((line) => [keyOf(line), line]));
  const welcome = [OURS_ALONE, ...[...OURS, ...alsoOurs].map((word) => `ratelimit.${word}`)];
  const isWelcome = (key: string) => welcome.some((start) => key.startsWith(start));
  const compared = [...found.keys()].filter((key) => !isWelcome(key) || recorded.has(key));
  expect(compared.sort()).toEqual([...recorded.keys()].sort());
  for (const [key, { total, count }] of recorded) {
    if (total !== undefined) expect([key, found.get(key)?.total]).toEqual([key, total]);
    if (count !== undefined) expect([key, found.get(key)?.count]).toEqual([key, count]);
  }
}

/** A line is compared by name, type and tags, in any order of these. */
function keyOf({ name, type, tags = [] }: WireLine): string {
  return `${name}|${type}|${[...tags].sort().join(',')}`;
}

function gather(lines: readonly string[]): ReadonlyMap<string, Required<WireLine>> {
  const found = new Map<string, Required<WireLine>>();
  for (const line of lines) {
    const [, name = '', value = '', type = '', list = ''] =
      /^(.*):([^:|]+)\|(\w+)(?:\|@[^|]+)?(?:\|#(.*))?$/.exec(line) ?? [];
    const tags = list === '' ? [] : list.split(',');
    const key = keyOf({ name, type, tags });
    const { total, count } = found.get(key) ?? { total: 0, count: 0 };
    found.set(key, { name, type, tags, total: total + Number(value), count: count + 1 });
  }
  return found;
}
