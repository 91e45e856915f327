import { readFileSync } from 'node:fs';
import { toReason } from '../platform/errors';
import { type Flags, type FlagValues, helpRows, readArguments, toValues } from '../platform/flags';
import { keyAt, parseSecretKeys, TokenMaker } from '../platform/secret-keys';

const FLAGS: Flags = {
  key: { value: 'NAME', about: 'the descriptor key whose values these are' },
  key_file: { value: 'FILE', about: 'the file of SECRET_KEYS_FILE' },
  id: { value: 'N', about: 'the key of this id; without it the one that is used now' },
  sha256: { about: 'the tokens of hash_value: sha256, which need no key' },
  help: { about: 'print this', aliases: ['h'] },
};

export const HASH_USAGE = `usage: ratelimit-hash-value -key NAME (-key_file FILE [-id N] | -sha256)

Reads values from the standard input, one a line, and prints the token of each, as value_hash takes it
and counters, statistics and pages show it.

${helpRows(FLAGS, 17)}
Flags may be written with one dash or two. Exit status: 0, or 1 after a mistake.
`;

/** Makes the token of one value; help and mistakes are texts to print. */
export type HashCommand =
  | { readonly kind: 'hash'; readonly tokenOf: (value: string) => string }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

/** `ratelimit-hash-value` from its arguments; `nowSeconds` selects the key. */
export function readHashCommand(args: readonly string[], nowSeconds: number): HashCommand {
  try {
    const flags = readFlags(args);
    if (flags.has('help')) return { kind: 'help' };
    return { kind: 'hash', tokenOf: createTokenOf(flags, nowSeconds) };
  } catch (error) {
    return { kind: 'mistake', message: toReason(error) };
  }
}

function readFlags(args: readonly string[]): FlagValues {
  const read = readArguments(args, FLAGS);
  // Not printed: it may be a value that should have come by standard input.
  if (
    read.some(
      ({ flag, value }) => flag === undefined || (flag.value === undefined && value !== undefined),
    )
  )
    throw new Error('unexpected argument: values are read from standard input; see -help');
  return toValues(read);
}

function createTokenOf(flags: FlagValues, nowSeconds: number): (value: string) => string {
  const last = (name: string) => flags.get(name)?.at(-1);
  const key = last('key') ?? '';
  if (key === '') throw new Error('-key needs the name of a descriptor key');
  const file = last('key_file') ?? '';
  if ((file === '') !== flags.has('sha256')) throw new Error('expected one of -key_file, -sha256');
  const maker = new TokenMaker(() => nowSeconds, file === '' ? [] : readKeys(file));
  if (file === '') return (value) => maker.tokenOf({ key, value }, 'sha256');
  const id = Number(last('id') ?? keyAt(maker.keys, nowSeconds)?.id);
  if (!maker.keys.some((one) => one.id === id)) {
    const ids = maker.keys.map((one) => one.id).join(', ');
    throw new Error(`-id ${String(last('id'))} is not in the file: expected one of ${ids}`);
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
