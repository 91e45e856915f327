import { shouldRateLimit } from './call';
import { explain } from './explain';
import { USAGE } from './flags';
import { type ClientOptions, parseOptions } from './options';
import { type RawResponse, toProtoJson } from './response';
import { toText } from './to-text';

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

function report(response: RawResponse, { json, descriptors }: ClientOptions): CliResult {
  const stdout = json
    ? `${JSON.stringify(toProtoJson(response), null, 2)}\n`
    : toText(response, descriptors);
  const { overallCode = 'UNKNOWN' } = response;
  if (overallCode === 'OK') return { exitCode: 0, stdout, stderr: '' };
  if (overallCode === 'OVER_LIMIT') return { exitCode: 2, stdout, stderr: '' };
  const stderr = `ratelimit-client: the overall code is ${overallCode}, expected OK or OVER_LIMIT\n`;
  return { exitCode: 1, stdout, stderr };
}
