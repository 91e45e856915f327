import { readFileSync } from 'node:fs';
import { readArguments } from '../platform/arguments';
import { toReason } from '../platform/errors';
import { keyAt, parseSecretKeys } from '../platform/secret-keys/parse-secret-keys';
import { TokenMaker } from '../platform/secret-keys/token-maker';

export const HASH_USAGE = `usage: ratelimit-hash-value -key NAME (-key_file FILE [-id N] | -sha256)

Reads values from the standard input, one a line, and prints the token of each, as value_hash takes it
and counters, statistics and pages show it.

  -key NAME        the descriptor key whose values these are
  -key_file FILE   the file of SECRET_KEYS_FILE
  -id N            the key of this id; without it the one that is used now
  -sha256          the tokens of hash_value: sha256, which need no key
  -help            print this

Flags may be written with one dash or two. Exit status: 0, or 1 after a mistake.
`;

/** Makes the token of one value; help and mistakes are texts to print. */
export type HashCommand =
  | { readonly kind: 'hash'; readonly tokenOf: (value: string) => string }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

/** `ratelimit-hash-value` from its arguments; `nowSeconds` chooses the key. */
export function readHashCommand(args: readonly string[], nowSeconds: number): HashCommand {
  try {
    const flags = readFlags(args);
    if (flags.has('help') || flags.has('h')) return { kind: 'help' };
    return { kind: 'hash', tokenOf: createTokenOf(flags, nowSeconds) };
  } catch (error) {
    return { kind: 'mistake', message: toReason(error) };
  }
}

const VALUED = ['key', 'key_file', 'id'];
const SWITCHES = ['sha256', 'help', 'h'];

function readFlags(args: readonly string[]): ReadonlyMap<string, string> {
  const flags = new Map<string, string>();
  for (const { name = '', value } of readArguments(args, VALUED)) {
    if (SWITCHES.includes(name) && value === undefined) flags.set(name, 'true');
    else if (VALUED.includes(name)) flags.set(name, value ?? '');
    // Not printed: it may be a value that should have come by the standard input.
    else throw new Error('unexpected argument: values are read from standard input; see -help');
  }
  return flags;
}

function createTokenOf(
  flags: ReadonlyMap<string, string>,
  nowSeconds: number,
): (value: string) => string {
  const key = flags.get('key') ?? '';
  if (key === '') throw new Error('-key needs the name of a descriptor key');
  const file = flags.get('key_file') ?? '';
  if ((file === '') !== flags.has('sha256')) throw new Error('expected one of -key_file, -sha256');
  const maker = new TokenMaker(() => nowSeconds, file === '' ? [] : readKeys(file));
  if (file === '') return (value) => maker.tokenOf({ key, value }, 'sha256');
  const id = Number(flags.get('id') ?? keyAt(maker.keys, nowSeconds)?.id);
  if (!maker.keys.some((one) => one.id === id)) {
    const ids = maker.keys.map((one) => one.id).join(', ');
    throw new Error(`-id ${String(flags.get('id'))} is not in the file: expected one of ${ids}`);
  }
  return (value) => maker.tokenUnder({ key, value }, id) ?? '';
}

function readKeys(file: string) {
  try {
    return parseSecretKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`-key_file: ${toReason(error)}`, { cause: error });
  }
}
