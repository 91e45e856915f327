import { parseDuration } from '../../platform/env-table/parsers';
import type { Flags, FlagValues } from '../../platform/flags';
import type { RandomBytes } from '../credential';
import type { IdentityStore } from '../store/store';

export interface CommandDeps {
  readonly store: IdentityStore;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
  /** The address of the service on this machine: `http://localhost:8082`. */
  readonly baseUrl: string;
}

export interface CommandCall {
  readonly values: readonly string[];
  readonly flags: FlagValues;
}

/** The result of a command. `records` are for `--json`, a line each; `lines` for people. */
export type CommandResult =
  | {
      readonly kind: 'done';
      readonly records: readonly object[];
      readonly lines: readonly string[];
    }
  | { readonly kind: 'not-found'; readonly message: string }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] };

export interface ProvisioningCommand {
  readonly doc: string;
  /** Names of the values that must be given. */
  readonly values?: readonly string[];
  readonly flags?: Flags;
  /** The input that it reads from standard input. */
  readonly input?: string;
  readonly run: (call: CommandCall, deps: CommandDeps) => Promise<CommandResult>;
}

export function done(records: readonly object[], lines: readonly string[]): CommandResult {
  return { kind: 'done', records, lines };
}

export function notFound(what: string, id: string): CommandResult {
  return { kind: 'not-found', message: `there is no ${what} ${JSON.stringify(id)}` };
}

export function wrong(...problems: readonly string[]): CommandResult {
  return { kind: 'wrong', problems };
}

/** The value of a flag that may be given once. */
export function flagText({ flags }: CommandCall, name: string): string | undefined {
  return flags.get(name)?.at(-1);
}

/** The longest session: a year. */
const MAX_TTL_MS = 366 * 24 * 3_600_000;

/** The milliseconds of a flag with a duration; a string is a mistake. */
export function readTtl(
  call: CommandCall,
  name: string,
  otherwise: string | undefined,
): number | string | undefined {
  const text = flagText(call, name) ?? otherwise;
  if (text === undefined) return undefined;
  const milliseconds = Math.floor(parseDuration(text) ?? 0);
  if (milliseconds >= 1 && milliseconds <= MAX_TTL_MS) return milliseconds;
  return `--${name} ${JSON.stringify(text)}: expected a duration from 1ms to 8784h, such as 1h30m`;
}

export function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
