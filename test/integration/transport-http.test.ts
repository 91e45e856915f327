import { once } from 'node:events';
import { connect } from 'node:net';
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/platform/http-listener';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import {
  SERVING,
  OK,
  answering,
  recordingStatistics,
  type Script,
} from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';

const BODY = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}]}]}';

describe('the HTTP port', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function start(script: Script = () => OK, timeouts: Partial<HttpTimeouts> = {}) {
    const health = createSnapshot<HealthStatus<string>>(SERVING);
    const { statistics } = recordingStatistics();
    const transport = createHttpTransport(
      { health, statistics },
      {
        ...{ host: '127.0.0.1', port: 0, limits: httpLimits() },
        timeouts: { ...HTTP_TIMEOUTS, ...timeouts },
      },
    );
    const asked = answering(transport, script);
    const address = await transport.listen();
    const port = 'port' in address ? address.port : 0;
    cleanups.push(() => transport.close(0));
    const url = `http://127.0.0.1:${String(port)}`;
    const post = (body: string) => fetch(`${url}/json`, { method: 'POST', body });
    return { ...asked, transport, port, url, post };
  }

  it('cuts callers that send their headers or bodies too slowly', async () => {
    const { port } = await start(undefined, { headersMs: 100, requestMs: 200, checkEveryMs: 20 });
    const slow = [
      'POST /json HTTP/1.1\r\nHost: x\r\n',
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    ];
    for (const text of slow) {
      const socket = connect(port, '127.0.0.1');
      let heard = '';
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
      socket.write(text);
      await once(socket, 'close');
      expect(heard).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    }
  });

  it('forgets a caller that hangs up', async () => {
    const { port, waiting, post } = await start(({ domain }) => (domain === 'd' ? undefined : OK));
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(BODY.length)}\r\n\r\n${BODY}`,
    );
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    socket.destroy();
    await once(socket, 'close');
    expect((await post('{}')).status).toBe(200);
    const [taken] = waiting.map(({ responder, callId }) => responder.answer(callId, OK));
    expect(taken).toBe(false);
  });

  it('answers what is in flight when it closes, and closes the connections that it keeps', async () => {
    const { waiting, post, transport, completed, url } = await start(() => undefined);
    const pending = post(BODY);
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    const closed = transport.close(10_000);
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    const answer = await pending;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await answer.text();
    await closed;
    expect(completed).toEqual(['questions$', 'run$']);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('cuts what is not answered in time', async () => {
    const { waiting, post, transport } = await start(() => undefined);
    const pending = post(BODY);
    pending.catch(() => undefined);
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    await transport.close(50);
    await expect(pending).rejects.toThrow();
  });

  it('names the address that it cannot listen on', async () => {
    const { port } = await start();
    const { statistics } = recordingStatistics();
    const second = createHttpTransport(
      { health: createSnapshot(SERVING), statistics },
      { host: '127.0.0.1', port, limits: httpLimits() },
    );
    await expect(second.listen()).rejects.toThrow(
      `cannot listen on 127.0.0.1:${String(port)}: address already in use`,
    );
  });
});
