import { logStart } from '../../../../src/app/process/start';
import { readSettings } from '../../../../src/settings/settings';
import { createRecordingLogger } from '../../../support/recording-logger';

function allLinesAtStart(env: Readonly<Record<string, string>>) {
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { logger, lines } = createRecordingLogger();
  logStart({ ...read, logger }, { counters: 'somewhere', timeZones: '2026f of Weir' });
  return lines;
}

const startOf = (env: Readonly<Record<string, string>>) =>
  allLinesAtStart({ BACKEND_TYPE: 'memory', ...env }).map(({ message }) => message);

function linesAtStart(env: Readonly<Record<string, string>>) {
  return allLinesAtStart(env).filter(({ message }) => message.includes('longer than proxies wait'));
}

it('warns once of a time-out that is longer than any proxy waits, also when nobody set it', () => {
  const url = { KVSTORE_URL: 'redis:6379' };
  expect(linesAtStart(url)).toMatchObject([{ level: 'warn', fields: { timeoutMs: 10_000 } }]);
  expect(linesAtStart({ ...url, KVSTORE_TIMEOUT: '1s' })).toEqual([]);
  const perSecond = { KVSTORE_PERSECOND: 'true', KVSTORE_PERSECOND_URL: 'redis:6380' };
  const short = { ...url, ...perSecond, KVSTORE_TIMEOUT: '40ms' };
  expect(linesAtStart({ ...short, KVSTORE_PERSECOND_TIMEOUT: '2s' })).toMatchObject([
    { fields: { timeoutMs: 2_000 } },
  ]);
  expect(linesAtStart({ ...short, KVSTORE_PERSECOND_TIMEOUT: '40ms' })).toEqual([]);
});

it('says nothing of it where no store is asked', () => {
  expect(linesAtStart({ BACKEND_TYPE: 'memory' })).toEqual([]);
});

it('warns of counters in memory that the heap cannot hold', () => {
  expect(startOf({ MEMORY_MAX_BYTES: '1000000000000' })).toContainEqual(
    expect.stringMatching(/^MEMORY_MAX_BYTES=1000000000000 is more than half of the heap limit/),
  );
  expect(startOf({}).filter((message) => message.includes('MEMORY_MAX_BYTES'))).toEqual([]);
});
