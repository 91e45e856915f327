import { bothLogs, createDebugDecisions } from '../../../../src/app/observe/debug-decisions';
import type { DecisionRecord } from '../../../../src/core/decision/decision-record';
import { OK } from '../../../support/transport-harness';
import { createRecordingLogger } from '../../../support/recording-logger';
import { descriptor, request } from '../../../support/requests';

const NO_LIMIT = {
  code: 'OK',
  currentLimit: undefined,
  limitRemaining: 0,
  secondsUntilReset: undefined,
} as const;
const RECORD: DecisionRecord = {
  time: '2026-11-22T14:00:00.000Z',
  request: request('shop', ['user=ann', descriptor(['user=bob', 'path=/'])]),
  decision: {
    ...OK,
    statuses: [
      {
        ...NO_LIMIT,
        currentLimit: { requestsPerUnit: 5, unit: 'DAY', name: '' },
        limitRemaining: 4,
      },
      NO_LIMIT,
    ],
  },
  metrics: ['shop.user', undefined],
  secrets: undefined,
};

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function open() {
  const { logger, lines } = createRecordingLogger();
  let now = 1_000.2;
  const log = createDebugDecisions({ clock: () => now, logger });
  const ask = (times: number) => {
    for (let n = 0; n < times; n++) if (log.isWanted(false)) log.write(RECORD);
  };
  return { log, lines, ask, at: (seconds: number) => (now = seconds) };
}

it('logs the facts of a decision at the level debug', () => {
  const { lines, ask } = open();
  ask(1);
  expect(lines).toMatchObject([
    {
      level: 'debug',
      message: 'decided',
      fields: {
        at: '2026-11-22T14:00:00.000Z',
        domain: 'shop',
        descriptors: 'user=ann; user=bob,path=/',
        hits: '1; 1',
        rules: 'shop.user; none',
        code: 'OK',
        statuses: 'OK 5 DAY 4; OK',
      },
    },
  ]);
});

it('logs 100 of a second, and says within a second how many it left out', () => {
  const { lines, ask, at } = open();
  ask(250);
  expect(lines).toHaveLength(100);
  jest.advanceTimersByTime(1_000);
  expect(lines.at(-1)).toMatchObject({ level: 'debug', fields: { decisions: 150 } });
  at(1_001);
  ask(1);
  expect(lines).toHaveLength(102);
});

it('says at its end what it left out', () => {
  const { log, lines, ask } = open();
  ask(101);
  log.close();
  expect(lines.at(-1)).toMatchObject({ fields: { decisions: 1 } });
  jest.advanceTimersByTime(5_000);
  expect(lines).toHaveLength(101);
});

it('gives each of two logs what it wants', () => {
  const written: string[] = [];
  const named = (name: string, wanted: boolean) => ({
    isWanted: (isRefused: boolean) => isRefused === wanted,
    write: () => written.push(name),
  });
  const log = bothLogs(named('refused', true), named('passed', false));
  for (const isRefused of [true, false]) if (log?.isWanted(isRefused) === true) log.write(RECORD);
  expect(written).toEqual(['refused', 'passed']);
  const alone = named('alone', true);
  expect([bothLogs(alone, undefined), bothLogs(undefined, alone)]).toEqual([alone, alone]);
  expect(bothLogs(undefined, undefined)).toBeUndefined();
});
