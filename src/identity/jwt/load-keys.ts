import { readFile } from 'node:fs/promises';
import { toReason } from '../../platform/errors';

/** Far more than any set of public keys. */
const MOST_BYTES = 1_048_576;

/** Reads a JSON Web Key Set by HTTP; no redirect is followed. */
export function loadKeysByUrl(url: string, timeoutMs: number) {
  return async (): Promise<unknown> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { redirect: 'error', signal }).catch((error: unknown) => {
      throw new Error(toReason(error), { cause: error });
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answered ${String(response.status)}, expected 200`);
    }
    return parse(await readBounded(response));
  };
}

export function loadKeysFromFile(file: string) {
  return async (): Promise<unknown> => parse(await readFile(file, 'utf8'));
}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error(`it is longer than ${String(MOST_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The message of JSON.parse would quote the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('it is not valid JSON');
  }
}
