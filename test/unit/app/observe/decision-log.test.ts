import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDecisionLog } from '../../../../src/app/observe/decision-log';
import type { DecisionRecord } from '../../../../src/core/decision/decision-record';
import { openLineFile } from '../../../../src/platform/line-file';
import type { DecisionLogSettings } from '../../../../src/settings/logging';
import { OK } from '../../../support/transport-harness';
import { createRecordingLogger } from '../../../support/recording-logger';
import { request } from '../../../support/requests';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-decisions-'));
});
afterEach(() => {
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

const RECORD: DecisionRecord = {
  time: '2026-11-22T14:00:00.000Z',
  request: request('shop', ['user=ann\u2028']),
  decision: OK,
  metrics: ['shop.user'],
  secrets: undefined,
};

function open(settings: Partial<DecisionLogSettings>, random = () => 0.5) {
  const file = join(folder, 'decisions.jsonl');
  const counts = new Map<string, number>();
  const { logger, lines } = createRecordingLogger();
  let now = 1_000.2;
  const log = createDecisionLog(
    { mode: 'all', sample: 1, file, maxPerSecond: 2, ...settings },
    {
      clock: () => now,
      random,
      statistics: { count: (name, by) => counts.set(name, (counts.get(name) ?? 0) + by) },
      logger,
    },
  );
  if (log === undefined) throw new Error('there is no log');
  return {
    log,
    counts,
    lines,
    at: (seconds: number) => (now = seconds),
    written: () => readFileSync(file, 'utf8').trimEnd().split('\n'),
  };
}

it('does not exist when it is off', () => {
  const deps = { clock: () => 0, random: () => 0, statistics: { count: () => undefined } };
  const settings = { mode: 'off', sample: 1, file: undefined, maxPerSecond: 1 } as const;
  expect(createDecisionLog(settings, { ...deps, ...createRecordingLogger() })).toBeUndefined();
});

it.each([
  ['over', 0.01, 0, [false, true]],
  ['all', 0.01, 0.5, [false, true]],
  ['all', 0.6, 0.5, [true, true]],
  ['all', 0, 0, [false, true]],
] as const)(
  'under %s with a share of %d and a draw of %d takes what passes and what is refused: %j',
  async (mode, sample, draw, wanted) => {
    const { log } = open({ mode, sample }, () => draw);
    expect([log.isWanted(false), log.isWanted(true)]).toEqual(wanted);
    await log.close();
  },
);

it('appends one line of JSON for a record, invisible characters escaped', async () => {
  const { log, written } = open({});
  log.write(RECORD);
  log.write(RECORD);
  await log.close();
  expect(written()).toHaveLength(2);
  expect(written()[0]).toContain('ann\\u2028');
  expect(JSON.parse(written()[0] as string)).toMatchObject({ domain: 'shop', code: 'OK' });
});

it('takes so many lines a second, counts the others and says once how many', async () => {
  const { log, counts, lines, at } = open({ maxPerSecond: 2 });
  expect([1, 2, 3, 4].map(() => log.isWanted(true))).toEqual([true, true, false, false]);
  at(1_001);
  expect(log.isWanted(true)).toBe(true);
  expect(counts.get('ratelimit.decisionlog.dropped')).toBe(2);
  await log.close();
  expect(lines).toMatchObject([
    {
      message:
        'the decision log has dropped lines: more than DECISION_LOG_MAX_PER_SECOND in a second, or the disk or the reader is slow',
      fields: { lines: 2 },
    },
  ]);
});

it('says after a second and then once a minute how many lines it has dropped', async () => {
  jest.useFakeTimers();
  const { log, lines } = open({ maxPerSecond: 1 });
  // The clock of the log stands still: of its one second a single line is taken.
  for (let second = 0; second < 130; second += 1) {
    log.isWanted(true);
    log.isWanted(true);
    jest.advanceTimersByTime(1_000);
  }
  expect(lines.map(({ fields }) => fields['lines'])).toEqual([1, 120, 120]);
  jest.useRealTimers();
  await log.close();
});

it('drops what does not fit into the bytes that may wait', async () => {
  const file = join(folder, 'small.jsonl');
  let dropped = 0;
  const lines = openLineFile({
    path: file,
    maxBytes: 100,
    onDropped: () => (dropped += 1),
    onError: (error) => {
      throw error;
    },
  });
  for (let i = 0; i < 5; i++) lines.write(`${'x'.repeat(59)}\n`);
  await lines.close(5_000);
  expect(dropped).toBeGreaterThan(0);
  expect(readFileSync(file, 'utf8')).toBe(`${'x'.repeat(59)}\n`.repeat(5 - dropped));
});

it('does not start with a file that cannot be opened', () => {
  expect(() => open({ file: join(folder, 'none', 'decisions.jsonl') })).toThrow(
    /^DECISION_LOG_FILE=".*decisions\.jsonl": cannot open the file: it does not exist \(ENOENT\)$/,
  );
});
