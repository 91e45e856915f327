import { EventEmitter } from 'node:events';
import { socketCall, type StartCall } from '../../../../src/stats/statsd/sinks';

function setUp() {
  const socket = new EventEmitter();
  const abort = new AbortController();
  const call = (start: StartCall, timeoutMs = 60_000) =>
    socketCall({ socket, signal: abort.signal, timeoutMs }, start);
  return { socket, abort, call };
}

const forever = () => undefined;

describe('socketCall', () => {
  it('ends with the call', async () => {
    const { call } = setUp();
    await expect(
      call((done) => {
        done(null);
      }),
    ).resolves.toBeUndefined();
  });

  it('fails with the call', async () => {
    const { call } = setUp();
    const failing = call((done) => {
      done(new Error('write EPIPE'));
    });
    await expect(failing).rejects.toThrow('the other side closed the connection (EPIPE)');
  });

  it.each<[string, (event: ReturnType<typeof setUp>) => void, string]>([
    ['fails', ({ socket }) => socket.emit('error', new Error('reset')), 'reset'],
    ['closes', ({ socket }) => socket.emit('close'), 'the connection was closed'],
    [
      'is not wanted any more',
      ({ abort }) => {
        abort.abort();
      },
      'the flush was cancelled',
    ],
  ])('fails when the socket %s', async (_, happen, message) => {
    const context = setUp();
    const failing = context.call(forever);
    happen(context);
    await expect(failing).rejects.toThrow(message);
  });

  it('fails when time is up', async () => {
    const { call } = setUp();
    await expect(call(forever, 1)).rejects.toThrow('nothing was accepted for 1 ms');
  });

  it('does not begin what nobody wants', async () => {
    const { abort, call } = setUp();
    abort.abort();
    let begun = false;
    await expect(
      call(() => {
        begun = true;
      }),
    ).rejects.toThrow('the flush was cancelled');
    expect(begun).toBe(false);
  });

  it.each([
    [
      new AggregateError([new Error('refused by ::1'), new Error('refused by 127.0.0.1'), 'x']),
      'refused by ::1, refused by 127.0.0.1',
    ],
    [new TypeError(''), 'TypeError'],
  ])('says what an error without a message means', async (error, message) => {
    const { call } = setUp();
    const failing = call((done) => {
      done(error);
    });
    await expect(failing).rejects.toThrow(message);
  });

  it('leaves no listener behind', async () => {
    const { socket, call } = setUp();
    await call((done) => {
      done();
    });
    expect([socket.listenerCount('error'), socket.listenerCount('close')]).toEqual([0, 0]);
  });
});
