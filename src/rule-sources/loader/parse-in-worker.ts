import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DomainDefinition, ParsedRules } from '../../core/rules/definition';
import { errorCode, toReason } from '../../platform/errors';
import { createAssembly } from './chunks';
import type { ParseRules } from './rule-loader';
import type { ParseReply, ParseRequest } from './serve-parsing';

export interface WorkerOptions {
  /** The worker's script; default: the built `parse-worker.js`. */
  readonly script?: string;
  /** Node's own flags for the worker. */
  readonly execArgv?: readonly string[];
  /** Memory limit of parsing (about a hundred times the files); beyond it the load fails and the service survives. */
  readonly maxMemoryMb?: number;
}

const SCRIPT = join(__dirname, '..', 'parse-worker.js');
const MAX_MEMORY_MB = 1_024;
const MEBIBYTE = 1_048_576;

/** Parses in a thread of its own, started for each load and ended after it. Takes over the bytes of the files. */
export function parseInWorker({
  script = SCRIPT,
  execArgv = [],
  maxMemoryMb = affordableMemoryMb(),
}: WorkerOptions = {}): ParseRules {
  return (files, { hasZone, ...options }, signal) =>
    new Promise<ParsedRules>((resolve, reject) => {
      signal.throwIfAborted();
      const worker = new Worker(script, {
        name: 'parse-rules',
        env: {},
        execArgv: [...execArgv],
        resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
      });
      const end = (settle: () => void) => {
        signal.removeEventListener('abort', abort);
        settle();
        void worker.terminate();
      };
      const fail = (error: Error) => {
        end(() => {
          reject(error);
        });
      };
      const abort = () => {
        fail(new Error('the load was cancelled'));
      };
      const assembly = createAssembly();
      const send = (request: ParseRequest, transfer: readonly ArrayBuffer[] = []) => {
        worker.postMessage(request, transfer);
      };
      worker.on('message', (reply: ParseReply) => {
        if (reply.kind === 'zones') {
          send({ kind: 'zones', known: reply.names.filter((name) => hasZone?.(name)) });
          return;
        }
        if (reply.kind === 'done') {
          const { problems, unlisted, overlaid } = reply;
          end(() => {
            resolve({ domains: assembly.domains, problems, unlisted, overlaid });
          });
          return;
        }
        assembly.add(JSON.parse(reply.text) as DomainDefinition[]);
        setImmediate(send, { kind: 'more' } satisfies ParseRequest);
      });
      worker.on('error', (error) => {
        fail(describeCrash(error, maxMemoryMb));
      });
      worker.on('exit', (code) => {
        fail(new Error(`the thread that parses rule files ended with exit code ${String(code)}`));
      });
      signal.addEventListener('abort', abort, { once: true });
      const buffers = new Set(files.map(({ bytes }) => bytes.buffer));
      send({ kind: 'parse', files, options }, [...buffers].filter(isTransferable));
    });
}

/** At most half of the container's memory, so that a load too large fails before the container does. */
function affordableMemoryMb(): number {
  const half = Math.floor(process.constrainedMemory() / 2 / MEBIBYTE);
  return half > 0 ? Math.min(half, MAX_MEMORY_MB) : MAX_MEMORY_MB;
}

function isTransferable(buffer: ArrayBufferLike): buffer is ArrayBuffer {
  return buffer instanceof ArrayBuffer;
}

function describeCrash(error: unknown, maxMemoryMb: number): Error {
  const message =
    errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `parsing the rule files takes more than ${String(maxMemoryMb)} MiB of memory: expected fewer or smaller files`
      : `parsing the rule files failed: ${toReason(error)}`;
  return new Error(message, { cause: error });
}
