import { shouldRateLimit } from './call';
import {
  USAGE,
  type ClientOptions,
  parseOptions,
  type Descriptor,
  type ExplainOptions,
} from './options';
import { toProtoJson, toText } from './response';
import { readFileSync } from 'node:fs';
import { toReason } from '../platform/errors';
import type { RawRateLimitResponse } from '../platform/rate-limit-response';

/** The output of the process and its exit code. */
export interface CliResult {
  /** 0 OK, 2 OVER_LIMIT, 1 error. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line client from its arguments to its result; never rejects. */
export async function runClient(args: readonly string[]): Promise<CliResult> {
  try {
    const options = parseOptions(args);
    if (options === 'help') return { exitCode: 0, stdout: USAGE, stderr: '' };
    const { explain: explained, remarks = [] } = options;
    const { stderr, ...result } =
      explained === undefined
        ? report(await shouldRateLimit(options), options)
        : { exitCode: 0 as const, stdout: await explain(options, explained), stderr: '' };
    return {
      ...result,
      stderr: `${remarks.map((remark) => `ratelimit-client: ${remark}\n`).join('')}${stderr}`,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { exitCode: 1, stdout: '', stderr: `ratelimit-client: ${message}\n` };
  }
}

function report(response: RawRateLimitResponse, { json, descriptors }: ClientOptions): CliResult {
  const stdout = json
    ? `${JSON.stringify(toProtoJson(response), null, 2)}\n`
    : toText(response, descriptors);
  const { overallCode = 'UNKNOWN' } = response;
  if (overallCode === 'OK') return { exitCode: 0, stdout, stderr: '' };
  if (overallCode === 'OVER_LIMIT') return { exitCode: 2, stdout, stderr: '' };
  const stderr = `ratelimit-client: the overall code is ${String(overallCode)}, expected OK or OVER_LIMIT\n`;
  return { exitCode: 1, stdout, stderr };
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, '; give a token with -token_file'],
  [404, '; the service must not run with ADMIN_API=off'],
]);

/**
 * Fetches from the debug port the answer that a request would get, and why: as text for a person, or as JSON. Rejects with what
 * happened and what to do next.
 */
export async function explain(
  { domain, descriptors, hitsAddend, timeoutMs, json }: ClientOptions,
  { debug, tokenFile }: ExplainOptions,
): Promise<string> {
  const authorization = tokenFile === undefined ? {} : { Authorization: bearer(tokenFile) };
  let response: Response;
  try {
    response = await fetch(`http://${debug}/api/v1/explain${json ? '' : '?format=text'}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorization },
      body: JSON.stringify({ domain, descriptors: descriptors.map(toJson), hitsAddend }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const next = 'give the address of the debug port with -debug';
    throw new Error(`cannot reach the debug port at ${debug}: ${toReason(error)}; ${next}`, {
      cause: error,
    });
  }
  const body = await response.text();
  if (response.ok) return json ? `${JSON.stringify(JSON.parse(body), null, 2)}\n` : body;
  const hint = HINTS.get(response.status) ?? '';
  throw new Error(`the debug port at ${debug} answered ${String(response.status)}: ${body}${hint}`);
}

function toJson({ entries, hits }: Descriptor): object {
  if (hits === undefined) return { entries };
  return { entries, hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 };
}

function bearer(file: string): string {
  try {
    return `Bearer ${readFileSync(file, 'utf8').trim()}`;
  } catch (error) {
    throw new Error(`cannot read -token_file ${file}: ${toReason(error)}`, { cause: error });
  }
}
