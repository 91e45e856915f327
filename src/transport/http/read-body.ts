import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';
import { refusal, type Refusal } from './refusal';

/** A body above this many bytes is refused, as it comes and unpacked (behaviour.md §4.5). */
export const MAX_BODY_BYTES = 1024 * 1024;

type Unpack = (
  packed: InputType,
  options: ZlibOptions,
  done: (error: Error | null, body: Buffer) => void,
) => void;

const ENCODINGS: ReadonlyMap<string, Unpack | undefined> = new Map<string, Unpack | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
]);

const TOO_LARGE = refusal(
  413,
  'too_large',
  `the body is larger than ${String(MAX_BODY_BYTES)} bytes`,
);
const NOT_UTF8 = refusal(400, 'malformed', 'the body is not valid utf-8');

/**
 * Reads a body as text and hands on either it or why there is none, once; nothing when the caller
 * hangs up. What comes after a refusal is thrown away, so that a caller can finish and read it.
 */
export function readBody(request: IncomingMessage, done: (body: string | Refusal) => void): void {
  const encoding = (request.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!ENCODINGS.has(encoding)) {
    request.resume();
    done(unknownEncoding(encoding));
    return;
  }
  collect(request, (packed) => {
    if (packed === undefined) done(TOO_LARGE);
    else unpack(packed, encoding, done);
  });
}

/** All bytes of the body; undefined, as soon as it is known, when they are too many. */
function collect(request: IncomingMessage, done: (bytes: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isRefused = Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES;
  if (isRefused) done(undefined);
  request.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    length += chunk.length;
    chunks.push(chunk);
    if (length <= MAX_BODY_BYTES) return;
    isRefused = true;
    chunks.length = 0;
    done(undefined);
  });
  request.on('end', () => {
    if (!isRefused) done(Buffer.concat(chunks));
  });
}

function unpack(packed: Buffer, encoding: string, done: (body: string | Refusal) => void): void {
  const unpackBytes = ENCODINGS.get(encoding);
  if (unpackBytes === undefined) {
    done(toText(packed));
    return;
  }
  unpackBytes(packed, { maxOutputLength: MAX_BODY_BYTES }, (error, bytes) => {
    if (error === null) done(toText(bytes));
    else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') done(TOO_LARGE);
    else done(refusal(400, 'malformed', `the body is not ${encoding}: ${error.message}`));
  });
}

function toText(bytes: Buffer): string | Refusal {
  return isUtf8(bytes) ? bytes.toString('utf8') : NOT_UTF8;
}

function unknownEncoding(encoding: string): Refusal {
  const error = `content-encoding ${JSON.stringify(encoding)} is not one of gzip, deflate, br, identity`;
  return refusal(415, 'unsupported_encoding', error, { 'Accept-Encoding': 'gzip, deflate, br' });
}
