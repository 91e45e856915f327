import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../src/settings/settings';
import { readEnvTable } from './results';

it.each(readEnvTable('refused-here.txt'))(
  '$given, which the reference takes, ends the start and is named',
  ({ given, env }) => {
    const read = readSettings(env);
    expect(read.ok ? [] : read.problems).toContainEqual(
      expect.stringContaining(`${given}: expected `),
    );
  },
);

it('the page of differences says so', () => {
  const page = readFileSync(join(__dirname, '../../../docs/replacing-the-reference.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith('| values that mean nothing')) ?? '';
  for (const word of ['negative', '`NEAR_LIMIT_RATIO`', '`TRACING_SAMPLING_RATE`', '`LOG_FORMAT`'])
    expect(row).toContain(word);
});
