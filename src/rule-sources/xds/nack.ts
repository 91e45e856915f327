import { quote } from '../../fields/located';
import { countErrors, isError, problemText, WHOLE } from '../../fields/problem';
import type { LoadResult } from '../load-result';
import { RULES_TYPE_URL, type Status } from './messages';
import type { Response } from './read-response';

/** Checks and compiles a complete state, given as a message with its resources in the field `resources`. Never rejects. */
export type LoadState<R> = (message: Uint8Array, signal: AbortSignal) => Promise<LoadResult<R>>;

/** INVALID_ARGUMENT. */
const CODE = 3;

/** A server may refuse messages above 4 MiB, and no operator reads that much. */
const MAX_TEXT = 1_000_000;

/** The mistakes of a load, one per line, for the `error_detail` of a NACK. */
export function toErrorDetail(load: Pick<LoadResult<unknown>, 'problems' | 'unlisted'>): Status {
  const lines: string[] = [];
  let length = 0;
  for (const line of load.problems.filter(isError).map(problemText)) {
    length += line.length + 1;
    if (length > MAX_TEXT) break;
    lines.push(line);
  }
  const left = countErrors(load) - lines.length;
  if (left > 0) lines.push(`and ${String(left)} more`);
  return { code: CODE, message: lines.join('\n') };
}

export function isOfRules({ typeUrl }: Response): boolean {
  return typeUrl === RULES_TYPE_URL;
}

/**
 * Equal for refused responses that count as the same: all of other types do, so that a server that sends one after the other is
 * slowed down.
 */
export function refusedContent(response: Response, contentOfRules: () => unknown): string {
  return isOfRules(response) ? JSON.stringify(contentOfRules()) : 'another type';
}

/** The result for a response of another type. */
export function refuseType({ typeUrl }: Response): LoadResult<never> {
  const message = `the management server sent resources of type ${quote(typeUrl)}; expected ${RULES_TYPE_URL}`;
  return {
    ok: false,
    problems: [{ severity: 'error', class: 'wrong-type', file: '', at: WHOLE, message }],
    durationMs: 0,
  };
}
