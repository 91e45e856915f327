import { readFileSync } from 'node:fs';
import { toReason } from '../platform/errors';
import type { ClientOptions, Descriptor, ExplainOptions } from './options';

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, '; give a token with -token_file'],
  [404, '; the service must not run with ADMIN_API=off'],
]);

/**
 * Fetches from the debug port the answer that a request would get, and why: as text for a person, or as JSON. Rejects with what
 * happened and what to do next.
 */
export async function explain(
  { domain, descriptors, hitsAddend, timeoutMs, json }: ClientOptions,
  { debug, tokenFile }: ExplainOptions,
): Promise<string> {
  const authorization = tokenFile === undefined ? {} : { Authorization: bearer(tokenFile) };
  let response: Response;
  try {
    response = await fetch(`http://${debug}/api/v1/explain${json ? '' : '?format=text'}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorization },
      body: JSON.stringify({ domain, descriptors: descriptors.map(toJson), hitsAddend }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const next = 'give the address of the debug port with -debug';
    throw new Error(`cannot reach the debug port at ${debug}: ${toReason(error)}; ${next}`, {
      cause: error,
    });
  }
  const body = await response.text();
  if (response.ok) return json ? `${JSON.stringify(JSON.parse(body), null, 2)}\n` : body;
  const hint = HINTS.get(response.status) ?? '';
  throw new Error(`the debug port at ${debug} answered ${String(response.status)}: ${body}${hint}`);
}

function toJson({ entries, hits }: Descriptor): object {
  if (hits === undefined) return { entries };
  return { entries, hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 };
}

function bearer(file: string): string {
  try {
    return `Bearer ${readFileSync(file, 'utf8').trim()}`;
  } catch (error) {
    throw new Error(`cannot read -token_file ${file}: ${toReason(error)}`, { cause: error });
  }
}
