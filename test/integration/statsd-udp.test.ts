import { lastValueFrom, tap, toArray } from 'rxjs';
import { createPlainNaming } from '../../src/stats/names';
import type { Flush } from '../../src/stats/push-output';
import { createRegistry } from '../../src/stats/registry';
import { createStatsd } from '../../src/stats/statsd/create-statsd';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startStatsdUdp } from '../support/statsd-server';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function server(options: Parameters<typeof startStatsdUdp>[0] = {}) {
  const started = await startStatsdUdp(options);
  ends.push(started.stop);
  return started;
}

function output(port: number, { host = '127.0.0.1', flushIntervalMs = 5 } = {}) {
  const registry = createRegistry();
  const errors: string[] = [];
  const options = { timeoutMs: 20_000, flushIntervalMs, lastFlushWithinMs: 20_000 };
  const naming = createPlainNaming();
  const statsd = createStatsd(registry, { ...options, naming, host, port, protocol: 'udp' });
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

describe('StatsD over UDP', () => {
  it.each(['127.0.0.1', 'localhost'])('sends to %s what changed', async (host) => {
    const statsd = await server();
    const { registry } = output(statsd.port, { host });
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

  it('fills datagrams with whole lines up to what a packet carries', async () => {
    const statsd = await server();
    const { registry, close } = output(statsd.port, { flushIntervalMs: 3_600_000 });
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
    const statsd = await server();
    const { registry } = output(statsd.port);
    const name = '日'.repeat(2048);
    registry.count(name, 1);
    await eventually(() => {
      expect(statsd.totals()).toEqual({ [name]: 1 });
    });
  });

  it('keeps what a port of this machine refused and sends it when somebody listens', async () => {
    const port = await freePort();
    const { registry, errors } = output(port);
    registry.count('hits', 2);
    await eventually(() => {
      expect(errors).not.toEqual([]);
    });
    registry.count('hits', 3);
    const statsd = await server({ port });
    await eventually(() => {
      expect(statsd.totals()).toEqual({ hits: 5 });
    });
    expect(errors[0]).toContain('ECONNREFUSED');
  });

  it('flushes once more when it is closed, and ends', async () => {
    const statsd = await server();
    const { registry, close } = output(statsd.port, { flushIntervalMs: 3_600_000 });
    registry.count('hits', 7);
    expect(await close()).toEqual([{ lines: 1, error: undefined }]);
    await eventually(() => {
      expect(statsd.totals()).toEqual({ hits: 7 });
    });
  });

  it('ends when the host does not exist', async () => {
    const { registry, close } = output(1, { host: 'no.such.invalid', flushIntervalMs: 3_600_000 });
    registry.count('hits', 7);
    const [flush] = await close();
    expect(flush?.error?.message).toContain('no.such.invalid');
  });
});
