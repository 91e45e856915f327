import { lastValueFrom, toArray } from 'rxjs';
import { type Change, createChanges } from '../../../src/stats/changes';
import { createPushOutput } from '../../../src/stats/push-output';
import { createRegistry } from '../../../src/stats/registry';
import { createPlainNaming } from '../../../src/stats/naming';
import { statsdLines } from '../../../src/stats/statsd/lines';
import { eventually } from '../../support/eventually';
import { createRecordingLogger } from '../../support/recording-logger';
import { createRecordingSink } from '../../support/recording-sink';

const plainLines = (change: Change) => statsdLines(change, createPlainNaming());

function setUp(flushIntervalMs: number, fails?: (send: number) => boolean, isOptional = false) {
  const registry = createRegistry();
  const recording = createRecordingSink(100, fails);
  const { logger, lines } = createRecordingLogger();
  const output = createPushOutput(
    {
      changes: createChanges(registry),
      sink: recording.sink,
      toLines: plainLines,
      logger,
    },
    { flushIntervalMs, lastFlushWithinMs: 1000, isOptional },
  );
  return { ...recording, registry, output, log: lines };
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

  it('warns once while the sink is away and says when it is back', async () => {
    const { registry, output, seen, sent, log } = setUp(1, (send) => send < 3);
    const run = lastValueFrom(output.run$);
    registry.count('hits', 2);
    await eventually(() => {
      expect(sent).toEqual(['hits:2|c']);
    });
    output.close();
    await run;
    expect(seen.sends).toBe(4);
    expect(log).toEqual([
      {
        level: 'warn',
        message: 'statistics cannot be written to a recording, they are kept and sent later',
        fields: { error: 'refused' },
      },
      { level: 'warn', message: 'statistics are written to a recording again', fields: {} },
    ]);
  });

  it('warns of a sink that nobody asked for only once it has taken something', async () => {
    const isAway = (send: number) => send < 3 || (send > 3 && send < 6);
    const { registry, output, sent, log } = setUp(1, isAway, true);
    const run = lastValueFrom(output.run$);
    registry.count('hits', 2);
    await eventually(() => {
      expect(sent).toEqual(['hits:2|c']);
    });
    expect(log.map(({ level, fields }) => [level, fields])).toEqual([
      ['debug', { error: 'refused' }],
    ]);
    registry.count('hits', 3);
    await eventually(() => {
      expect(sent).toEqual(['hits:2|c', 'hits:3|c']);
    });
    output.close();
    await run;
    expect(log.map(({ level }) => level)).toEqual(['debug', 'warn', 'warn']);
  });
});
