import type { ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import { respond } from '../../responses';

/** Characters written to a connection at once. */
const PIECE_LENGTH = 65_536;

export interface Head {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a text in pieces as they are made, at the pace at which they are read. A short one is sent as a whole. */
export function* sendPieces(
  response: ServerResponse,
  { status, contentType, headers }: Head,
  pieces: Steps<void, string> | Iterable<string | undefined>,
): Steps<void> {
  const isHead = response.req.method === 'HEAD';
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    let waitsFor = typeof piece === 'string' ? undefined : piece;
    if (text.length >= PIECE_LENGTH) {
      if (!response.headersSent)
        response.writeHead(status, { ...headers, 'Content-Type': contentType });
      if (isHead) break;
      if (!response.write(text)) waitsFor = untilRead(response);
      text = '';
    }
    yield waitsFor;
  }
  if (response.headersSent) response.end(text);
  else respond(response, status, contentType, text, headers);
}

/** Settles also when the connection is closed. */
function untilRead(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    if (response.destroyed) resolve();
    else response.on('drain', done).on('close', done);
  });
}
