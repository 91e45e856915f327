import { PassThrough, Writable } from 'node:stream';
import { filter, firstValueFrom, lastValueFrom, Subject, tap } from 'rxjs';
import { createStatsLog } from '../../../src/stats/stats-log';
import { createPlainNaming } from '../../../src/stats/names';
import { createRegistry } from '../../../src/stats/registry';
import type { Flush } from '../../../src/stats/push-output';

const now = () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
const TIME = 'time="2026-01-02T03:04:05.006Z"';

function setUp(out: Writable, { flushIntervalMs = 3_600_000, lastFlushWithinMs = 1000 } = {}) {
  const registry = createRegistry();
  const output = createStatsLog(
    { registry, out, now, naming: createPlainNaming() },
    { flushIntervalMs, lastFlushWithinMs },
  );
  const flushSubject = new Subject<Flush>();
  return {
    registry,
    output,
    run: lastValueFrom(output.run$.pipe(tap(flushSubject)), { defaultValue: undefined }),
    /** Waits for the end of the next flush that writes something. */
    flushed: () => firstValueFrom(flushSubject.pipe(filter(({ lines }) => lines > 0))),
  };
}

describe('createStatsLog', () => {
  it('writes a line for each statistic that changed', async () => {
    const out = new PassThrough({ encoding: 'utf8' });
    const { registry, output, run } = setUp(out);
    registry.count('ratelimit.service.config_load_success', 2);
    registry.count('two words', 1);
    registry.count('never', 0);
    registry.gauge('open', () => 4);
    registry.time('took', 0, 3);
    output.close();
    await run;
    expect(out.read()).toBe(
      [
        `${TIME} type=counter name=ratelimit.service.config_load_success delta=2 total=2`,
        `${TIME} type=counter name="two words" delta=1 total=1`,
        `${TIME} type=gauge name=open value=4`,
        `${TIME} type=timer name=took count=3 p50=0 p90=0 p99=0 max=0`,
        '',
      ].join('\n'),
    );
  });

  it('writes at each flush what came since, and a gauge only when it moved', async () => {
    const out = new PassThrough({ encoding: 'utf8' });
    const { registry, output, run, flushed } = setUp(out, { flushIntervalMs: 1 });
    let written = '';
    out.on('data', (text: string) => (written += text));
    let open = 1;
    registry.gauge('open', () => open);
    registry.count('hits', 1);
    await flushed();
    expect(written).toContain('total=1');
    open = 2;
    registry.count('hits', 2);
    await flushed();
    expect(written).toContain('name=hits delta=2 total=3');
    output.close();
    await run;
    expect(written.match(/name=open value=/g)).toHaveLength(2);
  });

  it('outlives a broken pipe and leaves the stream to its owner', async () => {
    const out = new Writable({
      write(_chunk, _encoding, done) {
        done(new Error('write EPIPE'));
      },
    });
    const { registry, output, run } = setUp(out);
    registry.count('hits', 1);
    output.close();
    expect((await run)?.error?.message).toBe('write EPIPE');
    expect(out.listenerCount('error')).toBe(0);
  });

  it('gives a reader that does not read up when the last flush is due', async () => {
    const out = new Writable({ write: () => undefined });
    const { registry, output, run } = setUp(out, { lastFlushWithinMs: 20 });
    registry.count('hits', 1);
    output.close();
    expect(await run).toBeUndefined();
  });
});
