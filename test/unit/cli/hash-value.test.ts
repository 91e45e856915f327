import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHashCommand } from '../../../src/cli/hash-value';
import { createTokens, ROTATION_SECONDS, TWO_KEYS } from '../../support/secret-rules';

const directory = mkdtempSync(join(tmpdir(), 'weir-hash-'));
const file = join(directory, 'keys');
beforeAll(() => {
  writeFileSync(file, TWO_KEYS);
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const read = (...args: string[]) =>
  readHashCommand(
    args.map((arg) => arg.replace('FILE', file)),
    ROTATION_SECONDS,
  );

describe('ratelimit-hash-value', () => {
  it.each([
    ['the key of now', ['-key', 'k', '-key_file', 'FILE'], 2],
    ['the key of an id', ['--key=k', '--key_file=FILE', '-id', '1'], 1],
    ['no key', ['-key', 'k', '-sha256'], 'sha256' as const],
  ])('makes tokens under %s', (_, args, scheme) => {
    const command = read(...args);
    const token = createTokens(() => 0).tokenUnder({ key: 'k', value: 'a secret' }, scheme);
    expect(command.kind === 'hash' && command.tokenOf('a secret')).toBe(token);
  });

  it('asks for help', () => {
    expect(read('-key', 'k', '-help')).toEqual({ kind: 'help' });
  });

  it.each([
    [['-key_file', 'FILE'], '-key needs the name of a descriptor key'],
    [['-key', 'k'], 'expected one of -key_file, -sha256'],
    [['-key', 'k', '-key_file', 'FILE', '-sha256'], 'expected one of -key_file, -sha256'],
    [
      ['-key', 'k', '-key_file', 'FILE', '-id', '3'],
      '-id 3 is not in the file: expected one of 1, 2',
    ],
    [['-key', 'k', '-key_file', '/none'], /^-key_file: /],
    [['-key', 'k', 'sk_live_secret'], /^unexpected argument: values are read from standard input/],
    [['-sha256=x'], /^unexpected argument/],
  ])('refuses %j', (args, message) => {
    const command = read(...args);
    const said = command.kind === 'mistake' ? command.message : '';
    if (typeof message === 'string') expect(said).toBe(message);
    else expect(said).toMatch(message);
    expect(said).not.toContain('sk_live_secret');
  });
});
