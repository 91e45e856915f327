import { lastValueFrom, tap, toArray } from 'rxjs';
import { createPlainNaming } from '../../src/stats/names';
import { createRegistry } from '../../src/stats/registry';
import type { Flush } from '../../src/stats/push-output';
import { createStatsd, type StatsdOptions } from '../../src/stats/statsd/create-statsd';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startStopwatch } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';
import { startStatsdTcp, startStatsdUdp, type StatsdRecord } from '../support/statsd-server';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Stops a server at the end. */
async function keep<S extends { readonly stop: () => Promise<void> }>(starting: Promise<S>) {
  const started = await starting;
  ends.push(started.stop);
  return started;
}

const server = (options: Parameters<typeof startStatsdTcp>[0] = {}) =>
  keep(startStatsdTcp(options));

/** A running output; `close` is its end. */
function output(port: number, options: Partial<StatsdOptions> = {}) {
  const registry = createRegistry();
  const errors: string[] = [];
  const statsd = createStatsd(registry, {
    host: '127.0.0.1',
    port,
    protocol: 'tcp',
    naming: createPlainNaming(),
    timeoutMs: 20_000,
    flushIntervalMs: 5,
    lastFlushWithinMs: 20_000,
    ...options,
  });
  const noteError = tap<Flush>(({ error }) => {
    if (error !== undefined) errors.push(error.message);
  });
  const run = lastValueFrom(statsd.run$.pipe(noteError, toArray()));
  const close = () => {
    statsd.close();
    return run;
  };
  ends.push(close);
  return { registry, errors, close };
}

describe('StatsD over TCP', () => {
  it('sends counters as differences, gauges and timers, over one connection', async () => {
    const statsd = await server();
    const { registry, close } = output(statsd.port);
    registry.gauge('open', () => 3);
    registry.time('took', 0.42, 3);
    for (let i = 1; i <= 5; i += 1) {
      registry.count('hits', i);
      registry.count('имя ünï', 1);
      await eventually(() => {
        expect(statsd.totals()['hits']).toBe((i * (i + 1)) / 2);
      });
    }
    await close();
    expect(statsd.totals()).toEqual({ hits: 15, took: 3, 'имя ünï': 5 });
    expect(statsd.lines).toContain('hits:1|c');
    expect(statsd.lines).toContain('open:3|g');
    expect(statsd.connections()).toBe(1);
  });

  it('goes on with a server that went away and came back', async () => {
    const first = await server();
    const { registry, close } = output(first.port);
    registry.count('hits', 2);
    await eventually(() => {
      expect(first.totals()).toEqual({ hits: 2 });
    });
    await first.stop();
    registry.count('hits', 3);
    const second = await server({ port: first.port });
    await eventually(() => {
      expect(second.totals()).toEqual({ hits: 3 });
    });
    await close();
    expect(second.totals()).toEqual({ hits: 3 });
  });

  it('waits for a server that does not read and loses nothing', async () => {
    const statsd = await server({ paused: true });
    const { registry, errors, close } = output(statsd.port, { flushIntervalMs: 1 });
    const names = Array.from(
      { length: 100_000 },
      (_, i) => `a.rule.with.a.long.name.${i.toString()}`,
    );
    const count = () => {
      for (const name of names) registry.count(name, 1);
    };
    count();
    await eventually(() => {
      expect(statsd.connections()).toBe(1);
    });
    for (let round = 0; round < 20; round += 1) {
      count();
      await new Promise(setImmediate);
    }
    statsd.resume();
    await eventually(
      () => {
        const totals = statsd.totals();
        expect(Object.keys(totals)).toHaveLength(names.length);
        expect(Object.values(totals).every((total) => total === 21)).toBe(true);
      },
      { withinMs: 20_000, everyMs: 200 },
    );
    await close();
    expect(statsd.connections()).toBe(1);
    expect(errors).toEqual([]);
  }, 30_000);

  it('connects anew when a server has not read for too long', async () => {
    const statsd = await server({ paused: true });
    const { registry, errors } = output(statsd.port, { stuckMs: 50, lastFlushWithinMs: 50 });
    for (let i = 0; i < 300_000; i += 1)
      registry.count(`a.rule.with.a.long.name.${i.toString()}`, 1);
    await eventually(
      () => {
        expect(statsd.connections()).toBeGreaterThan(1);
      },
      { withinMs: 20_000 },
    );
    expect(errors[0]).toBe('nothing was accepted for 50 ms');
  }, 30_000);

  it('sends lines whole, however the network splits them', async () => {
    const statsd = await server();
    const { registry, close } = output(statsd.port);
    const names = Array.from({ length: 5000 }, (_, i) => `${'x'.repeat(i % 97)}.${i.toString()}`);
    names.forEach((name, i) => {
      registry.count(name, i + 1);
    });
    await close();
    await eventually(() => {
      expect(statsd.totals()).toEqual(Object.fromEntries(names.map((name, i) => [name, i + 1])));
    });
  });

  it('ends within its time when nobody is there', async () => {
    const { registry, close } = output(await freePort(), { flushIntervalMs: 3_600_000 });
    registry.count('hits', 7);
    const [flush] = await close();
    expect(flush?.error?.message).toContain('ECONNREFUSED');
  });

  it('ends within its time when the server does not read', async () => {
    const statsd = await server({ paused: true });
    const { registry, close } = output(statsd.port, { lastFlushWithinMs: 50 });
    for (let i = 0; i < 300_000; i += 1)
      registry.count(`a.rule.with.a.long.name.${i.toString()}`, 1);
    await eventually(() => {
      expect(statsd.connections()).toBe(1);
    });
    const elapsedMs = startStopwatch();
    await close();
    expectFigure({ name: 'end', value: elapsedMs(), unit: 'ms', below: 2000 });
  });

  it('names every address of a host that refuses', async () => {
    const { registry, errors } = output(await freePort(), { host: 'localhost' });
    registry.count('hits', 1);
    await eventually(() => {
      expect(errors[0]).toMatch(/^connection refused /);
    });
  });
});

describe('StatsD over UDP', () => {
  it('fills datagrams with whole lines up to what a packet carries', async () => {
    const statsd = await keep(startStatsdUdp());
    const { registry, close } = output(statsd.port, {
      protocol: 'udp',
      flushIntervalMs: 3_600_000,
    });
    const names = Array.from({ length: 500 }, (_, i) => `a.rule.with.a.long.name.${i.toString()}`);
    for (const name of names) registry.count(name, 2);
    await close();
    await eventually(() => {
      expect(statsd.totals()).toEqual(Object.fromEntries(names.map((name) => [name, 2])));
    });
    expect(Math.max(...statsd.sizes)).toBeLessThanOrEqual(1432);
    expect(statsd.sizes.length).toBeLessThan(20);
  });

  it('sends a line that is longer than a packet', async () => {
    const statsd = await keep(startStatsdUdp());
    const { registry } = output(statsd.port, { protocol: 'udp' });
    const name = '日'.repeat(2048);
    registry.count(name, 1);
    await eventually(() => {
      expect(statsd.totals()).toEqual({ [name]: 1 });
    });
  });
});

type Start = (options?: {
  readonly port: number;
}) => Promise<StatsdRecord & { readonly port: number; readonly stop: () => Promise<void> }>;

describe.each<[StatsdOptions['protocol'], Start]>([
  ['tcp', startStatsdTcp],
  ['udp', startStatsdUdp],
])('StatsD over %s', (protocol, start) => {
  it.each(['127.0.0.1', 'localhost'])('sends to %s what changed', async (host) => {
    const statsd = await keep(start());
    const { registry } = output(statsd.port, { protocol, host });
    registry.gauge('open', () => 3);
    registry.time('took', 0.42, 3);
    for (let i = 1; i <= 3; i += 1) {
      registry.count('hits', i);
      await eventually(() => {
        expect(statsd.totals()).toEqual({ hits: (i * (i + 1)) / 2, took: 3 });
      });
    }
    expect(statsd.lines).toContain('open:3|g');
  });

  it('keeps what it counted while nobody listened and sends it when somebody does', async () => {
    const port = await freePort();
    const { registry, errors } = output(port, { protocol });
    registry.count('hits', 2);
    registry.time('took', 1, 4);
    await eventually(() => {
      expect(errors).not.toEqual([]);
    });
    registry.count('hits', 3);
    const statsd = await keep(start({ port }));
    await eventually(() => {
      expect(statsd.totals()).toEqual({ hits: 5, took: 4 });
    });
    expect(errors[0]).toContain('ECONNREFUSED');
    if (protocol === 'tcp')
      expect(errors[0]).toBe(`connection refused (ECONNREFUSED 127.0.0.1:${String(port)})`);
  });

  it('flushes once more when it is closed, and ends', async () => {
    const statsd = await keep(start());
    const { registry, close } = output(statsd.port, { protocol, flushIntervalMs: 3_600_000 });
    registry.count('hits', 7);
    expect(await close()).toEqual([{ lines: 1, error: undefined }]);
    await eventually(() => {
      expect(statsd.totals()).toEqual({ hits: 7 });
    });
  });

  it('ends when the host does not exist', async () => {
    const { registry, close } = output(1, {
      ...{ protocol, host: 'no.such.invalid', flushIntervalMs: 3_600_000 },
    });
    registry.count('hits', 7);
    const [flush] = await close();
    expect(flush?.error?.message).toContain('no.such.invalid');
  });
});
