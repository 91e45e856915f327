import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';

/** Dumps at a time; each holds what it shows until its client has read it. */
const MAX_DUMPS = 4;
/** Bytes of a text that are handed to a connection at once. */
const PIECE_BYTES = 65_536;

/** Sends what may be large, as fast as it is read, to a few clients at a time; one more is answered 503. */
export interface Dumps {
  sendText(response: ServerResponse, dump: () => string): void;
  sendPieces(
    response: ServerResponse,
    contentType: string,
    dump: () => AsyncIterable<string>,
  ): void;
}

export function createDumps(): Dumps {
  let running = 0;

  const isFull = (response: ServerResponse): boolean => {
    if (running < MAX_DUMPS) return false;
    response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(`${String(MAX_DUMPS)} dumps are running already, try again later\n`);
    return true;
  };
  const send = (
    response: ServerResponse,
    headers: Readonly<Record<string, string | number>>,
    pieces: Iterable<Buffer> | AsyncIterable<string>,
  ): void => {
    running += 1;
    response.writeHead(200, headers);
    pipeline(Readable.from(pieces), response, (error) => {
      running -= 1;
      // A fault cuts the answer, so that a part of it is not taken for the whole.
      if (error) response.destroy();
    });
  };

  return {
    sendText(response, dump) {
      if (isFull(response)) return;
      const bytes = Buffer.from(withNewline(dump()));
      const headers = {
        'Content-Type': 'text/plain; charset=utf-8',
        'Content-Length': bytes.length,
      };
      send(response, headers, piecesOf(bytes));
    },
    sendPieces(response, contentType, dump) {
      if (!isFull(response)) send(response, { 'Content-Type': contentType }, dump());
    },
  };
}

function* piecesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function withNewline(body: string): string {
  return body === '' || body.endsWith('\n') ? body : `${body}\n`;
}
