import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeCode, errorCode } from './errors';
import type { Logger } from './logger';

export interface TokenFileDeps {
  readonly monotonicMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Maximal age of the token in milliseconds. */
const FRESH_MS = 1_000;

/** The longest token, in bytes. */
const MAX_BYTES = 4_096;

/**
 * Checks Authorization headers against the token in a file: `Bearer` with it, or `Basic` with it as the password. The file is read
 * again with a call, at most once a second; while it cannot be read the last valid token stays in use. Throws when it cannot be
 * read at first.
 */
export function createTokenCheck(
  file: string,
  { monotonicMs, logger }: TokenFileDeps,
): (authorization: string | undefined) => Promise<string | undefined> {
  let digest = digestOf(file, readNow(file));
  let readMs = monotonicMs();
  let isFailing = false;

  const renew = async (): Promise<void> => {
    if (monotonicMs() - readMs < FRESH_MS) return;
    readMs = monotonicMs();
    try {
      const found = digestOf(file, await readFile(file, 'utf8'));
      if (!found.equals(digest)) logger.info('loaded a new token for the operator API', { file });
      digest = found;
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn(`${reasonOf(file, error)}, the last valid token stays in use`);
      isFailing = true;
    }
  };

  return async (authorization) => {
    await renew();
    const given = tokenIn(authorization);
    if (given === undefined || !timingSafeEqual(sha256(given), digest)) return undefined;
    return digest.toString('hex').slice(0, 8);
  };
}

function tokenIn(authorization = ''): string | undefined {
  const [, scheme = '', rest = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return rest;
  const text = Buffer.from(rest, 'base64').toString();
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : text.slice(colon + 1);
}

class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

function digestOf(file: string, text: string): Buffer {
  const token = text.trim();
  if (token === '' || /\s/.test(token) || Buffer.byteLength(token) > MAX_BYTES) {
    const expected = `a token of 1 to ${String(MAX_BYTES)} bytes without white space`;
    throw new TokenFileError(`${file}: expected ${expected} (ADMIN_TOKEN_FILE)`);
  }
  return sha256(token);
}

function readNow(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new TokenFileError(reasonOf(file, error), { cause: error });
  }
}

function reasonOf(file: string, error: unknown): string {
  if (error instanceof TokenFileError) return error.message;
  return `cannot read the token in ${file} (ADMIN_TOKEN_FILE): ${describeCode(errorCode(error))}`;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
