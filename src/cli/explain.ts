import { readFileSync } from 'node:fs';
import { toReason } from '../platform/errors';
import type { ClientOptions, ExplainOptions } from './options';

/** Asks the debug port what would be answered and why; the text for a person, or JSON. Rejects with what happened and what to do next. */
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
      body: JSON.stringify({ domain, descriptors, hitsAddend }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const next = 'another debug address is given with -debug';
    throw new Error(`cannot reach the debug port at ${debug}: ${toReason(error)}; ${next}`, {
      cause: error,
    });
  }
  const body = await response.text();
  if (response.ok) return json ? `${JSON.stringify(JSON.parse(body), null, 2)}\n` : body;
  const hint = response.status === 401 ? '; a token is given with -token_file' : '';
  throw new Error(`the debug port at ${debug} answered ${String(response.status)}: ${body}${hint}`);
}

function bearer(file: string): string {
  try {
    return `Bearer ${readFileSync(file, 'utf8').trim()}`;
  } catch (error) {
    throw new Error(`cannot read -token_file ${file}: ${toReason(error)}`, { cause: error });
  }
}
