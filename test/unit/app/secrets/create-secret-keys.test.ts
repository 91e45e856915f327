import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretKeys } from '../../../../src/app/secrets/create-secret-keys';
import { createRegistry } from '../../../../src/stats/registry';
import { createRecordingLogger } from '../../../support/recording-logger';
import { ROTATION_SECONDS, TWO_KEYS } from '../../../support/secret-rules';

const SECRET = { key: 'k', value: 'v' };
const directory = mkdtempSync(join(tmpdir(), 'weir-keys-'));
const file = join(directory, 'keys');
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function create(text: string, mode = 0o600) {
  // The one before it may not be written by who is not root.
  rmSync(file, { force: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const clock = () => ROTATION_SECONDS;
  return { keys: createSecretKeys(file, { statistics: registry, logger, clock }), lines };
}

it.each([
  [0o644, 1],
  [0o640, 0],
  [0o400, 0],
])('warns of a file that others may read (%o)', (mode, warnings) => {
  const { lines } = create(TWO_KEYS, mode);
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(warnings);
});

it('throws at the start what is wrong with the file, after the name of its setting', () => {
  expect(() => create('x')).toThrow('SECRET_KEYS_FILE: line 1: expected an id');
  const { logger } = createRecordingLogger();
  const deps = { statistics: createRegistry(), logger, clock: () => 0 };
  expect(() => createSecretKeys(join(directory, 'none'), deps)).toThrow(/^SECRET_KEYS_FILE: .+/);
});

it('has no keys without a file', () => {
  const { logger } = createRecordingLogger();
  const deps = { statistics: createRegistry(), logger, clock: () => 0 };
  const keys = createSecretKeys(undefined, deps);
  expect(keys.tokens.tokenOf(SECRET, 'sha256')).toMatch(/^s-/);
  keys.close();
});
