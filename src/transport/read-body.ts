import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';
import { unpackedLimit, unpackReason } from '../wire/unpacked-limit';
import type { TransportBounds } from './bounds';
import { refusal, type Refusal } from './responses';

interface BodyBounds extends Pick<TransportBounds, 'maxJsonBytes' | 'maxUnpackRatio'> {
  /** A bound in bytes that is independent of MAX_JSON_BYTES; missing: only that applies. */
  readonly maxFixedBytes?: number;
}

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

const NOT_UTF8 = refusal(400, 'malformed', 'the body is not valid utf-8');

/**
 * Reads a body as text and passes on either the text or the reason why it is refused, once; nothing if the client hangs up.
 * Discards what arrives after a refusal, so that the client can finish and read the refusal.
 */
export function readBody(
  request: IncomingMessage,
  bounds: BodyBounds,
  done: (body: string | Refusal) => void,
): void {
  const encoding = (request.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!ENCODINGS.has(encoding)) {
    request.resume();
    done(unknownEncoding(encoding));
    return;
  }
  collect(request, maxBytesOf(bounds), (packed) => {
    if (packed === undefined) done(tooLarge(bounds));
    else unpack(packed, encoding, bounds, done);
  });
}

/**
 * All bytes of the body; undefined as soon as they are known to be too many. They are copied together as they come: a list of
 * chunks of one byte each would take a hundred times their room.
 */
function collect(
  request: IncomingMessage,
  maxBytes: number,
  done: (bytes: Buffer | undefined) => void,
): void {
  let body: Buffer = NOTHING;
  let length = 0;
  let isRefused = Number(request.headers['content-length'] ?? 0) > maxBytes;
  if (isRefused) done(undefined);
  request.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    const end = length + chunk.length;
    if (end > maxBytes) {
      isRefused = true;
      body = NOTHING;
      done(undefined);
      return;
    }
    if (end > body.length) body = grown(body, length, end);
    chunk.copy(body, length);
    length = end;
  });
  request.on('end', () => {
    if (!isRefused) done(body.subarray(0, length));
  });
}

/** Grows with the bytes received, never with a header's promise. */
function grown(body: Buffer, length: number, atLeast: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(atLeast, 2 * body.length));
  body.copy(larger, 0, 0, length);
  return larger;
}

function unpack(
  packed: Buffer,
  encoding: string,
  bounds: BodyBounds,
  done: (body: string | Refusal) => void,
): void {
  const unpackBytes = ENCODINGS.get(encoding);
  if (unpackBytes === undefined) {
    done(toText(packed));
    return;
  }
  const maxBytes = maxBytesOf(bounds);
  const { maxUnpackRatio: maxRatio } = bounds;
  const maxOutputLength = unpackedLimit(packed.length, { maxBytes, maxRatio });
  unpackBytes(packed, { maxOutputLength }, (error, bytes) => {
    if (error === null) done(toText(bytes));
    else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      const isWhole = maxOutputLength === maxBytes;
      done(
        isWhole ? tooLarge(bounds) : refusal(413, 'too_large', unpackReason('the body', maxRatio)),
      );
    } else done(refusal(400, 'malformed', `the body is not ${encoding}: ${error.message}`));
  });
}

const NOTHING = Buffer.alloc(0);

function maxBytesOf({ maxJsonBytes, maxFixedBytes = Infinity }: BodyBounds): number {
  return Math.min(maxJsonBytes, maxFixedBytes);
}

function tooLarge(bounds: BodyBounds): Refusal {
  const maxBytes = maxBytesOf(bounds);
  const isSetting = maxBytes === bounds.maxJsonBytes;
  const bound = isSetting ? `MAX_JSON_BYTES (${String(maxBytes)})` : `${String(maxBytes)} bytes`;
  return refusal(413, 'too_large', `the body is larger than ${bound}`);
}

function toText(bytes: Buffer): string | Refusal {
  return isUtf8(bytes) ? bytes.toString('utf8') : NOT_UTF8;
}

function unknownEncoding(encoding: string): Refusal {
  const error = `content-encoding ${JSON.stringify(encoding)} is not one of gzip, deflate, br, identity`;
  return refusal(415, 'unsupported_encoding', error, { 'Accept-Encoding': 'gzip, deflate, br' });
}
