import { lastValueFrom, tap, toArray } from 'rxjs';
import {
  createPushOutput,
  type Flush,
  type Change,
  createChanges,
} from '../../../src/stats/push-output';
import { createRegistry } from '../../../src/stats/registry';
import { createPlainNaming } from '../../../src/stats/names';
import { statsdLines } from '../../../src/stats/statsd/create-statsd';
import { createRecordingSink } from '../../support/recording-sink';

const plainLines = (change: Change) => statsdLines(change, createPlainNaming());

function setUp(flushIntervalMs: number, fails?: (send: number) => boolean) {
  const registry = createRegistry();
  const recording = createRecordingSink(100, fails);
  const output = createPushOutput(
    { changes: createChanges(registry), sink: recording.sink, toLines: plainLines },
    { flushIntervalMs, lastFlushWithinMs: 1000 },
  );
  return { ...recording, registry, output };
}

describe('createPushOutput', () => {
  it('flushes what is left when it is closed, then ends', async () => {
    const { registry, output, sent } = setUp(3_600_000);
    const run = lastValueFrom(output.run$.pipe(toArray()));
    registry.count('hits', 2);
    output.close();
    output.close();
    expect(await run).toEqual([{ lines: 1, error: undefined }]);
    expect(sent).toEqual(['hits:2|c']);
  });

  it('flushes once when it was closed before it ran', async () => {
    const { registry, output, sent } = setUp(3_600_000);
    registry.count('hits', 2);
    output.close();
    await lastValueFrom(output.run$);
    expect(sent).toEqual(['hits:2|c']);
  });

  it('emits how each flush went, and sends later what a sink that is away refused', async () => {
    const { registry, output, seen, sent } = setUp(1, (send) => send < 3);
    const endsWhenTaken = tap(({ lines }: Flush) => {
      if (lines > 0) output.close();
    });
    const run = lastValueFrom(output.run$.pipe(endsWhenTaken, toArray()));
    registry.count('hits', 2);
    const flushes = (await run).filter(({ lines, error }) => lines > 0 || error !== undefined);
    expect(flushes.map(({ lines, error }) => error?.message ?? lines)).toEqual([
      'refused',
      'refused',
      'refused',
      1,
    ]);
    expect(sent).toEqual(['hits:2|c']);
    expect(seen.sends).toBe(4);
  });
});
