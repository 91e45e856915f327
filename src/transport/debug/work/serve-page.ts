import type { ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import { toReason } from '../../../platform/errors';
import { serveWork } from './serve-work';
import type { WorkScheduler } from './work-scheduler';

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
