import { openSync } from 'node:fs';
import { destination } from 'pino';

/** Takes lines without ever blocking: what the file does not take in time is dropped. */
export interface LineFile {
  write(line: string): void;
  /** Settles when everything that was taken is written, or `withinMs` later. */
  close(withinMs: number): Promise<void>;
}

export interface LineFileOptions {
  /** Undefined: standard output. Lines are appended. */
  readonly path: string | undefined;
  /** Most bytes that wait to be written. */
  readonly maxBytes: number;
  readonly onDropped: () => void;
  readonly onError: (error: Error) => void;
}

const STANDARD_OUTPUT = 1;

/** Throws when the file cannot be opened. */
export function openLineFile({ path, maxBytes, onDropped, onError }: LineFileOptions): LineFile {
  const dest = path === undefined ? STANDARD_OUTPUT : openSync(path, 'a');
  const out = destination({ dest, sync: false, maxLength: maxBytes });
  out.on('drop', onDropped);
  out.on('error', onError);
  return {
    write(line) {
      out.write(line);
    },
    close: (withinMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        out.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
        out.end();
      }),
  };
}
