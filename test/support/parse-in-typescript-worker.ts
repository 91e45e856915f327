import { join } from 'node:path';
import { parseInWorker, type WorkerOptions } from '../../src/rule-sources/loader/parse-in-worker';

export const TYPESCRIPT_HOOK = join(__dirname, 'typescript-hook.cjs');

/** The product's parse thread, started from its TypeScript source. */
export function parseInTypescriptWorker(options: WorkerOptions = {}) {
  return parseInWorker({
    script: join(__dirname, '../../src/rule-sources/parse-worker.ts'),
    execArgv: ['--require', TYPESCRIPT_HOOK],
    ...options,
  });
}
