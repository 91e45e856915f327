import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretKeys } from '../../src/app/secrets/create-secret-keys';
import { createRegistry } from '../../src/stats/registry';
import { eventually } from '../support/edge/eventually';
import { createRecordingLogger } from '../support/recording-logger';
import { ROTATION_SECONDS, TWO_KEYS } from '../support/secret-rules';

const SECRET = { key: 'k', value: 'v' };
const directory = mkdtempSync(join(tmpdir(), 'weir-keys-'));
const file = join(directory, 'keys');
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function create(text: string) {
  writeFileSync(file, text, { mode: 0o600 });
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const clock = () => ROTATION_SECONDS;
  return { keys: createSecretKeys(file, { statistics: registry, logger, clock }), lines };
}

it('reads the keys again when their file changes, and keeps the old ones while it is bad', async () => {
  const { keys, lines } = create(TWO_KEYS);
  const subscription = keys.run$.subscribe();
  const before = keys.tokens.tokenOf(SECRET, 'keyed');
  expect(before).toMatch(/^h2-/);
  writeFileSync(file, '');
  await eventually(() => {
    expect(lines.at(-1)?.level).toBe('error');
  });
  expect(lines.at(-1)?.fields['reason']).toMatch(/^no key: expected/);
  expect(keys.tokens.tokenOf(SECRET, 'keyed')).toBe(before);
  writeFileSync(file, `3 ${Buffer.alloc(32, 3).toString('base64')}`);
  await eventually(() => {
    expect(keys.tokens.tokenOf(SECRET, 'keyed')).toMatch(/^h3-/);
  });
  expect(lines.filter(({ level }) => level === 'info').map(({ fields }) => fields)).toEqual([
    { ids: '1, 2', now: 2 },
    { ids: '3', now: 3 },
  ]);
  expect(JSON.stringify(lines)).not.toContain(Buffer.alloc(24, 1).toString('base64'));
  keys.close();
  subscription.unsubscribe();
});
