import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../core/ports';
import type { DomainDefinition, ParsedRules } from '../../core/rules/definition';
import type { OverlaySet } from '../../core/rules/overlays/overlay';
import type { ParseOptions } from '../../core/rules/parse/parse-rule-files';
import { addUnlisted, firstProblems, isError, type RuleProblem, WHOLE } from '../../fields/problem';
import { toReason } from '../../platform/errors';
import type { LoadResult, RuleFiles, RuleFile } from '../load-result';
import { createHash } from 'node:crypto';

/** Parses rule files, here or elsewhere. Rejects only for faults outside of the files: a crash, a cancellation. */
export type ParseRules = (
  files: RuleFiles['files'],
  options: ParseOptions,
  signal: AbortSignal,
) => Promise<ParsedRules>;

/** Turns rule files into rules; a mistake in them, or a crash of their parser, is a result that is not ok. */
export type LoadRules<R> = (found: RuleFiles, signal: AbortSignal) => Promise<LoadResult<R>>;

export interface RuleLoaderDeps<R> {
  /** Parses off the main thread. */
  readonly parse: ParseRules;
  /** Parses small files before requests are served, sooner than a thread could start. */
  readonly parseSmall?: ParseRules;
  /** Compiles, pausing often enough that no slice takes more than a millisecond. */
  readonly compile: (domains: readonly DomainDefinition[]) => Generator<unknown, R>;
  readonly clock: Clock;
  /** Default: a digest of the files. */
  readonly digest?: DigestRules;
  /** The overlays in force; default: there are none. */
  readonly overlays?: (() => OverlaySet | undefined) | undefined;
}

/** Below this many bytes parsing takes less time than starting a thread does. */
const SMALL_BYTES = 16_384;

export function createRuleLoader<R>(
  {
    parse,
    parseSmall = parse,
    compile,
    clock,
    digest = digestFiles,
    overlays: currentOverlays = () => undefined,
  }: RuleLoaderDeps<R>,
  options: ParseOptions,
): LoadRules<R> {
  let loadedBefore = false;
  return async ({ files, problems }, signal) => {
    const startedAt = clock();
    const durationMs = () => (clock() - startedAt) * 1_000;
    const listed = (found: Pick<ParsedRules, 'problems' | 'unlisted'>) => {
      const first = firstProblems([...problems, ...found.problems]);
      return { ...first, unlisted: addUnlisted(first.unlisted, found.unlisted) };
    };
    const failed = (found: Pick<ParsedRules, 'problems' | 'unlisted'>): LoadResult<R> => ({
      ok: false,
      ...listed(found),
      durationMs: durationMs(),
    });
    try {
      const chosen = loadedBefore || sizeOf(files) >= SMALL_BYTES ? parse : parseSmall;
      // Before parsing, which detaches the bytes.
      const digested = await inSlices(digest(files));
      const overlays = currentOverlays();
      const parsed: ParsedRules =
        files.length === 0
          ? { domains: [], problems: [] }
          : await chosen(files, { ...options, overlays }, signal);
      if (problems.some(isError) || parsed.problems.some(isError)) return failed(parsed);
      signal.throwIfAborted();
      const rules = await inSlices(compile(parsed.domains));
      loadedBefore = true;
      return {
        ok: true,
        rules,
        domainCount: parsed.domains.length,
        ruleCount: parsed.domains.reduce((count, domain) => count + domain.rules.length, 0),
        digest: overlays === undefined ? digested : digestTogether(digested, overlays.digest),
        ...(parsed.overlaid && { overlaid: parsed.overlaid }),
        ...listed(parsed),
        durationMs: durationMs(),
      };
    } catch (error) {
      return failed({ problems: [toProblem(error)] });
    }
  };
}

/** Instances with the same rules and the same overlays agree. */
function digestTogether(...digests: readonly string[]): string {
  return `sha256:${createHash('sha256').update(digests.join()).digest('hex')}`;
}

/** Runs one slice per turn of the event loop. */
export async function inSlices<R>(slices: Generator<unknown, R>): Promise<R> {
  for (;;) {
    await turn();
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}

function sizeOf(files: RuleFiles['files']): number {
  return files.reduce((size, { bytes }) => size + bytes.length, 0);
}

function toProblem(error: unknown): RuleProblem {
  const message = toReason(error);
  return { severity: 'error', class: 'load-failed', file: '', at: WHOLE, message };
}

/** Bytes hashed per slice: a fraction of a millisecond. */
const SLICE = 262_144;

/** A digest of rules, computed in slices: `sha256:` and 64 hexadecimal digits. */
type DigestRules = (files: readonly RuleFile[]) => Generator<void, string>;

/** Covers only contents and relative names, so that instances with the same files agree. */
export function* digestFiles(files: readonly RuleFile[]): Generator<void, string> {
  const sha = createHash('sha256');
  for (const { file, bytes } of files.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    sha.update(`${String(Buffer.byteLength(file))}:${file}:${String(bytes.length)}:`);
    for (let at = 0; at < bytes.length; at += SLICE) {
      sha.update(bytes.subarray(at, at + SLICE));
      yield;
    }
  }
  return `sha256:${sha.digest('hex')}`;
}
