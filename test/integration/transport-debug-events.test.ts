import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createDebugListener } from '../../src/transport/debug/listener';
import type { EventSource, EventStreamOptions } from '../../src/transport/debug/event-stream';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';
import { piecesOf } from '../support/run-steps';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(
  next: () => unknown = () => ({ n: 1 }),
  events: Partial<EventStreamOptions> = {},
) {
  const calls: string[] = [];
  const base = { version: 1, read: () => ({ rules: base.version }) };
  const live: EventSource = {
    start: () => void calls.push('start'),
    stop: () => void calls.push('stop'),
    base,
    next() {
      calls.push('next');
      return next();
    },
  };
  const listener = createDebugListener(
    {
      dumpRules: () => [],
      dumpStats: () => piecesOf(),
      dumpStatsJson: () => piecesOf(),
      live,
      clock: () => 0,
      events: { maxListeners: 2, intervalMs: 10, patience: 3, ...events },
    },
    { host: '127.0.0.1', port: 0, limits: httpLimits(), allowedHosts: [] },
  );
  const address = await listener.listen();
  cleanups.push(() => listener.close(0));
  const port = 'port' in address ? address.port : 0;
  return { calls, base, listener, port };
}

/** A stream, its text so far, and a way to leave. */
async function follow(port: number) {
  const request = httpGet({ host: '127.0.0.1', port, path: '/ui/events', agent: false });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const until = (pattern: RegExp) =>
    eventually(() => {
      expect(text).toMatch(pattern);
    });
  return { response, until, text: () => text, leave: () => request.destroy() };
}

describe('the events of the dashboard', () => {
  it('tell the rules once, then figures again and again, the same to all', async () => {
    let n = 0;
    const { port, calls } = await start(() => ({ n: (n += 1) }));
    const one = await follow(port);
    expect(one.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    await one.until(
      /^event: rules\ndata: \{"rules":1\}\n\nevent: figures\ndata: \{"n":1\}\n\nevent: figures\ndata: \{"n":2\}\n\n/,
    );
    const other = await follow(port);
    await other.until(/"n":\d+\}\n\n.*"n":\d+/s);
    expect(calls.filter((call) => call === 'start')).toHaveLength(1);
    one.leave();
    other.leave();
  });

  it('tell the rules again when they are others', async () => {
    const { port, base } = await start();
    const one = await follow(port);
    await one.until(/figures/);
    base.version = 2;
    await one.until(/event: rules\ndata: \{"rules":2\}\n\nevent: figures/);
    expect(one.text().match(/event: rules/g)).toHaveLength(2);
    one.leave();
  });

  it('compute nothing while nobody listens', async () => {
    const { port, calls } = await start();
    expect(calls).toEqual([]);
    const one = await follow(port);
    await one.until(/figures/);
    one.leave();
    await eventually(() => {
      expect(calls.at(-1)).toBe('stop');
    });
    const again = await follow(port);
    await again.until(/figures/);
    expect(calls.filter((call) => call !== 'next')).toEqual(['start', 'stop', 'start']);
    again.leave();
  });

  it('go to so many listeners, and tell the next one that it is too many', async () => {
    const { port } = await start();
    const streams = [await follow(port), await follow(port)];
    const refused = await follow(port);
    await refused.until(/^event: full\ndata: \{"maxListeners":2\}\n\n$/);
    streams[0]?.leave();
    await eventually(async () => {
      const next = await follow(port);
      await next.until(/event: (?:rules|full)/);
      next.leave();
      expect(next.text()).not.toContain('event: full');
    });
    streams[1]?.leave();
  });

  it('drop a listener that does not read, and go on for the others', async () => {
    const large = 'x'.repeat(1_000_000);
    const { port, calls } = await start(() => ({ large }));
    const slow = connect(port, '127.0.0.1');
    slow.on('error', () => undefined);
    await once(slow, 'connect');
    slow.pause();
    slow.write('GET /ui/events HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => {
      expect(calls.filter((call) => call === 'next').length).toBeGreaterThan(3);
    });
    // Room for one listener is left as long as the slow one has its place; then there is for two.
    const others = await eventually(async () => {
      const both = [await follow(port), await follow(port)];
      try {
        await both[1]?.until(/event: (?:rules|full)/);
        expect(both[1]?.text()).not.toContain('event: full');
        return both;
      } catch (error) {
        for (const one of both) one.leave();
        throw error;
      }
    });
    for (const one of others) one.leave();
    slow.destroy();
  });

  it('end when the service does', async () => {
    const { port, listener } = await start();
    const one = await follow(port);
    const ended = once(one.response, 'end');
    await listener.close(5_000);
    await ended;
  });

  it('answer GET and HEAD only', async () => {
    const { port, calls } = await start();
    const url = `http://127.0.0.1:${String(port)}/ui/events`;
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect(calls).toEqual([]);
  });
});

describe('the page of the dashboard', () => {
  it('is one document that may run nothing but what stands in it', async () => {
    const { port } = await start();
    const answer = await fetch(`http://127.0.0.1:${String(port)}/ui`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/);
    expect(policy).not.toContain('unsafe');
    const html = await answer.text();
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(html).not.toMatch(/^\s*(?:import|export) /m);
    expect(html).toContain('<style>');
  });
});
