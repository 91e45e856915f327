import { createUdpSink, nameOf } from '../../../../src/stats/statsd/sinks';

describe('nameOf', () => {
  it.each([
    ['localhost', 'tcp://localhost:8125'],
    ['::1', 'tcp://[::1]:8125'],
  ])('names %s as %s', (host, name) => {
    expect(nameOf('tcp', { host, port: 8125, timeoutMs: 1 })).toBe(name);
  });
});

describe('a name server that never answers', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('fails each flush over UDP when its time is up, and is asked once', async () => {
    let questions = 0;
    const sink = createUdpSink({
      host: 'statsd.test',
      port: 8125,
      timeoutMs: 2_000,
      lookup: () => {
        questions += 1;
        return new Promise(() => undefined);
      },
    });
    const { signal } = new AbortController();
    for (let flush = 0; flush < 3; flush += 1) {
      const failed = expect(sink.send('a:1|c', signal)).rejects.toThrow(/2000 ms/);
      await jest.advanceTimersByTimeAsync(2_000);
      await failed;
      sink.endFlush();
    }
    expect(questions).toBe(1);
    sink.close();
  });

  it('is left at once when a flush is cancelled', async () => {
    const sink = createUdpSink({
      host: 'statsd.test',
      port: 8125,
      timeoutMs: 2_000,
      lookup: () => new Promise(() => undefined),
    });
    const cancelling = new AbortController();
    const failed = expect(sink.send('a:1|c', cancelling.signal)).rejects.toThrow('cancelled');
    cancelling.abort();
    await failed;
    expect(jest.getTimerCount()).toBe(0);
  });
});
