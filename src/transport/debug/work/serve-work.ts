import type { ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import type { WorkScheduler } from './work-scheduler';
import { toReason } from '../../../platform/errors';
import { respond } from '../../responses';

export interface Serving {
  /** Makes the answer and sends it. */
  readonly run: () => Steps<void>;
  /** See Task. */
  readonly isLarge?: boolean | undefined;
  /** Called where no answer was sent yet. */
  readonly failed: (error: unknown) => void;
  /** Called where the task is refused: status 429, with the header already set. */
  readonly refused: (error: string) => void;
}

/** Starts to answer a call when the scheduler admits it. */
export function serveWork(
  work: WorkScheduler,
  response: ServerResponse,
  { run, isLarge = false, failed, refused }: Serving,
): void {
  const retryAfterSeconds = work.begin({
    run,
    isLarge,
    isWanted: () => !response.destroyed,
    failed(error) {
      // A part of an answer must not be taken for the whole.
      if (response.headersSent) response.destroy();
      else failed(error);
    },
  });
  if (retryAfterSeconds === undefined) return;
  const seconds = String(retryAfterSeconds);
  response.setHeader('Retry-After', seconds);
  refused(`operator calls have used their share of the time, try again in ${seconds} s`);
}

/** Serves a page that takes work, or occupies memory until it is read. */
export function servePage(
  work: WorkScheduler,
  response: ServerResponse,
  run: () => Steps<void>,
): void {
  serveWork(work, response, {
    run,
    isLarge: true,
    failed(error) {
      sendText(response, 500, `this page failed: ${toReason(error)}\n`);
    },
    refused(error) {
      sendText(response, 429, `${error}\n`);
    },
  });
}

/** Undefined, a step without a line, stays one. */
export function* linesOf(lines: Iterable<string | undefined>): Generator<string | undefined, void> {
  for (const line of lines) yield line && `${line}\n`;
}

export function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

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

/** A value as JSON, as `JSON.stringify` writes it, in pieces: each item of a list and each field, down to `levels`, is one. */
export function* printJson(value: unknown, levels: number): Generator<string, void, void> {
  if (levels === 0 || typeof value !== 'object' || value === null)
    yield JSON.stringify(value ?? null);
  else if (Array.isArray(value)) yield* printList(value, levels);
  else yield* printObject(value, levels);
}

function* printList(list: readonly unknown[], levels: number): Generator<string, void, void> {
  yield '[';
  for (const [at, item] of list.entries()) {
    if (at > 0) yield ',';
    yield* printJson(item, levels - 1);
  }
  yield ']';
}

function* printObject(object: object, levels: number): Generator<string, void, void> {
  let before = '{';
  for (const [name, inner] of Object.entries(object)) {
    if (inner === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* printJson(inner, levels - 1);
    before = ',';
  }
  yield before === ',' ? '}' : '{}';
}
