import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { toReason } from '../../platform/errors';
import type { Logger } from '../../platform/logger';
import { KeysUnavailable } from './jwt-verifier';

interface KeySetDeps {
  /** Reads the whole set; rejects within its own time-out. */
  readonly load: () => Promise<unknown>;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

interface KeySetOptions {
  /** Its source, for the log. */
  readonly name: string;
  /** A good set is refreshed after this time, while the old one serves. */
  readonly refreshMs: number;
}

/** The source is read at most once in this time, however many tokens name unknown keys, and however it fails. */
const ASK_EVERY_MS = 5_000;

/** The keys that verify tokens; the last good set keeps serving while its source is unreachable. */
export function createKeySet(
  deps: KeySetDeps,
  { name, refreshMs }: KeySetOptions,
): JWTVerifyGetKey {
  const { load, monotonicMs, logger } = deps;
  let find: JWTVerifyGetKey | undefined;
  let lastGoodMs = -Infinity;
  let lastAskedMs = -Infinity;
  let failure: string | undefined = 'it was not read yet';
  let warnedOf: string | undefined;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    try {
      find = createLocalJWKSet((await load()) as JSONWebKeySet);
      lastGoodMs = monotonicMs();
      if (failure !== undefined) logger.info('read the key set', { keys: name });
      failure = undefined;
    } catch (error) {
      const reason = toReason(error);
      const kept = find === undefined ? 'no JWT can be checked' : 'its last content stays in use';
      if (failure !== reason)
        logger.error(`the key set cannot be read, ${kept}`, { keys: name, reason });
      failure = reason;
    }
  };
  /** Reads again unless that was done a moment ago; concurrent calls share one read. */
  const readAgain = (): Promise<void> => {
    if (asking !== undefined) return asking;
    if (monotonicMs() - lastAskedMs < ASK_EVERY_MS) return Promise.resolve();
    lastAskedMs = monotonicMs();
    asking = ask().finally(() => (asking = undefined));
    return asking;
  };
  const current = (): JWTVerifyGetKey => {
    if (find === undefined) throw new KeysUnavailable(`the key set ${name}: ${String(failure)}`);
    return find;
  };
  /** An unusable key of the set (a private one, a point off its curve) refuses its tokens. */
  const warnOfKey = (error: unknown): void => {
    if (error instanceof errors.JWKSNoMatchingKey) return;
    const reason = toReason(error);
    if (reason !== warnedOf)
      logger.warn('the key set has a key that cannot be used, tokens that name it are refused', {
        keys: name,
        reason,
      });
    warnedOf = reason;
  };

  return async (header, token) => {
    if (find === undefined) await readAgain();
    else if (monotonicMs() - lastGoodMs > refreshMs) void readAgain();
    try {
      return await current()(header, token);
    } catch (error) {
      if (error instanceof KeysUnavailable || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      warnOfKey(error);
    }
    // For a key that is new since, or was repaired.
    await readAgain();
    if (failure !== undefined) throw new KeysUnavailable(`the key set ${name}: ${failure}`);
    return current()(header, token);
  };
}

/** Far more than any set of public keys. */
const MAX_BYTES = 1_048_576;

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
    if (length > MAX_BYTES) throw new Error(`it is longer than ${String(MAX_BYTES)} bytes`);
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
