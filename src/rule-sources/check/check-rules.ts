import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { DEFAULT_REQUEST_BOUNDS } from '../../core/decision/request';
import type { ParsedRules, RuleDefinition } from '../../core/rules/definition';
import { overlayText } from '../../core/rules/overlays/overlay';
import type { ZoneLookup } from '../../core/windows/zone-data';
import { isError, problemText, type RuleProblem, describePlace, WHOLE } from '../../fields/problem';
import { systemClock } from '../../platform/clock';
import { toReason } from '../../platform/errors';
import { parseSecretKeys, type SecretKey, TokenMaker } from '../../platform/secret-keys';
import { readCheckFiles } from '../check-files';
import { NOT_READ, type RuleFiles, type RuleInput } from '../load-result';
import { readOverlayFiles, type ReadOverlays } from '../overlay-files';
import { parseDump } from '../parse-dump';
import { parseRules } from '../parse-rules';
import { explainRules } from './explain-rules';
import { parseCheckOptions, USAGE } from './options';
import { findMeetingDomains, type MeetingDomains } from '../../core/rules/find-meeting-domains';

/** The output of the command and its exit code. */
export interface CheckOutcome {
  readonly exitCode: 0 | 1;
  /** Lines for standard output. */
  readonly lines: readonly string[];
  /** Lines for standard error: usage mistakes only. */
  readonly errorLines: readonly string[];
}

/** Reads the rule files that the command line names. Never rejects. */
export type ReadRules = (source: RuleInput) => Promise<RuleFiles>;

/** Reports what in the files of a deployment differs from the reference. Never rejects. */
export type CheckDeployment = (
  paths: readonly string[],
) => Promise<{ readonly lines: readonly string[]; readonly mistakes: number }>;

/** `ratelimit-config-check`: checks rule files, and those of CHECK_CONFIG, as the service does. */
export async function checkRules(
  args: readonly string[],
  readRules: ReadRules,
  zones?: ZoneLookup,
  checkDeployment: CheckDeployment = () => Promise.resolve({ lines: [], mistakes: 0 }),
): Promise<CheckOutcome> {
  const options = parseCheckOptions(args);
  if (options.kind === 'help') return { exitCode: 0, lines: [USAGE], errorLines: [] };
  if (options.kind === 'mistake') {
    return { exitCode: 1, lines: [], errorLines: [options.message, '', USAGE] };
  }
  const keys = readKeys(options.keyFile);
  if (typeof keys === 'string') return { exitCode: 1, lines: [keys], errorLines: [] };
  const parts = [
    ...(await checkSource(options, { keys, readRules, zones })),
    await checkChecks(options),
    { ...(await checkDeployment(options.deployments ?? [])), good: [] },
  ];
  const lines = parts.flatMap((part) => part.lines);
  const mistakes = parts.reduce((sum, part) => sum + part.mistakes, 0);
  if (mistakes === 0) {
    return { exitCode: 0, lines: [...lines, ...parts.flatMap(({ good }) => good)], errorLines: [] };
  }
  const advice = `${plural(mistakes, 'mistake')}: correct what is listed and check again`;
  return { exitCode: 1, lines: [...lines, advice], errorLines: [] };
}

type Options = Extract<ReturnType<typeof parseCheckOptions>, { readonly kind: 'check' }>;

interface Part {
  readonly lines: readonly string[];
  readonly mistakes: number;
  /** The lines without a mistake. */
  readonly good: readonly string[];
}

const NOTHING: Part = { lines: [], mistakes: 0, good: [] };

interface CheckDeps {
  readonly keys: readonly SecretKey[] | undefined;
  readonly readRules: ReadRules;
  readonly zones: ZoneLookup | undefined;
}

/** The overlays, and the rules with them. */
async function checkSource(options: Options, deps: CheckDeps): Promise<readonly Part[]> {
  const { source, overlays: path, strict } = options;
  const overlays = path === undefined ? undefined : await readOverlayFiles(path);
  const ofRules =
    source && (await checkGiven(source, options, deps, overlays ?? { directory: '' }));
  if (overlays === undefined) return [ofRules ?? NOTHING];
  const { problems, directory, count } = overlays;
  const ofOverlays = toPart(problems, strict, directory);
  return [{ ...ofOverlays, good: [`${plural(count, 'overlay')}: OK`] }, ofRules ?? NOTHING];
}

async function checkGiven(
  source: RuleInput,
  options: Options,
  { keys, readRules, zones }: CheckDeps,
  overlays: Pick<ReadOverlays, 'directory'> & Partial<ReadOverlays>,
): Promise<Part> {
  const { strict, explain } = options;
  const { files, problems } = await readRules(source);
  const parsed = (options.isXds === true ? parseDump : parseRules)(files, {
    ...options,
    overlays: overlays.set,
    hasZone: zones?.has,
    secretKeyIds: keys?.map(({ id }) => id),
  });
  const found = [...problems, ...parsed.problems, ...meetingProblems(parsed)];
  const own = found.filter((problem) => !isOfOverlay(problem));
  const part = joinParts(
    toPart(own, strict, source.kind === 'directory' ? source.path : ''),
    toPart(found.filter(isOfOverlay), strict, overlays.directory),
  );
  if (part.mistakes > 0) return part;
  if (explain === undefined) return { ...part, good: [...giftsIn(parsed), summarize(parsed)] };
  const tokens = new TokenMaker(systemClock, keys);
  const good = explainRules(parsed, explain, { tokens, ...(zones && { findZone: zones.find }) });
  return { ...part, good };
}

/** Whether its file is one of overlays. */
function isOfOverlay(problem: RuleProblem): boolean {
  return problem.class === 'idle-overlay';
}

/** What each overlay gives, and to how many rules. */
function giftsIn({ domains }: ParsedRules): readonly string[] {
  const counts = new Map<string, number>();
  for (const { rules } of domains)
    for (const { place } of rules)
      for (const { names, ...overlay } of place?.overlaid ?? []) {
        const text = `${overlayText(overlay)} gives ${names.join(', ')}`;
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
  return [...counts].map(([text, count]) => `${text} to ${plural(count, 'rule')}`);
}

function joinParts(a: Part, b: Part): Part {
  return {
    lines: [...a.lines, ...b.lines],
    mistakes: a.mistakes + b.mistakes,
    good: [...a.good, ...b.good],
  };
}

async function checkChecks({ checkConfig, strict }: Options): Promise<Part> {
  if (checkConfig === undefined) return NOTHING;
  const { set, problems } = await readCheckFiles(checkConfig, DEFAULT_REQUEST_BOUNDS);
  const part = toPart(problems, strict, set.from.isDirectory ? checkConfig : dirname(checkConfig));
  return { ...part, good: [`${plural(set.checks.size, 'check')}: OK`] };
}

function toPart(found: readonly RuleProblem[], strict: boolean, directory: string): Part {
  const all = found.map((problem) => toChecked(problem, strict));
  const lines = all.map((problem) => formatProblem(problem, directory));
  return { lines, mistakes: all.filter(isError).length, good: [] };
}

/** Undefined: no file was named. A string: why it cannot be used. */
function readKeys(file: string | undefined): readonly SecretKey[] | string | undefined {
  if (file === undefined) return undefined;
  try {
    return parseSecretKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    return `-key_file: ${toReason(error)}`;
  }
}

/** The service warns about a file that it does not read and continues; here that file must not be overlooked. */
function toChecked(problem: RuleProblem, strict: boolean): RuleProblem {
  return strict || problem.class === NOT_READ ? { ...problem, severity: 'error' } : problem;
}

/** One line: `rules/web.yaml:12:9: unit "fortnight" is not one of …`. */
function formatProblem(problem: RuleProblem, directory: string): string {
  const file = isAbsolute(problem.file) ? problem.file : join(directory, problem.file);
  const message = `${isError(problem) ? '' : 'warning: '}${problem.message}`;
  return problemText({ ...problem, file, message });
}

function summarize({ domains }: ParsedRules): string {
  const limits = domains.flatMap(({ rules }) => rules.filter(({ limit }) => limit !== undefined));
  return `${plural(domains.length, 'domain')}, ${plural(limits.length, 'limit')}: OK`;
}

function plural(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Pairs of domains that are listed one by one. */
const MAX_LISTED = 20;

/** Warns about domains whose fixed windows can share a counter key, which the service accepts silently. */
function meetingProblems({ domains }: ParsedRules): readonly RuleProblem[] {
  const meetings = findMeetingDomains(domains);
  const listed = meetings.slice(0, MAX_LISTED).map(toProblem);
  const more = meetings.length - listed.length;
  if (more === 0) return listed;
  const pairs = `${String(more)} more ${more === 1 ? 'pair' : 'pairs'} of domains`;
  return [...listed, warning(undefined, `${pairs} can count under the same keys`)];
}

function toProblem({ domains, rules }: MeetingDomains): RuleProblem {
  const [first, second] = domains.map((domain) => JSON.stringify(domain));
  const [rule, other] = rules;
  return warning(
    rule,
    `domains ${String(first)} and ${String(second)} can count under the same key, this limit and that of ${String(second)} ` +
      `${placeText(other)}: expected a domain and keys that cannot be joined into the same text`,
  );
}

function placeText({ place }: RuleDefinition): string {
  if (place === undefined) return 'elsewhere';
  return `${describePlace(place.limitAt ?? place.at)} of ${place.file}`;
}

function warning(rule: RuleDefinition | undefined, message: string): RuleProblem {
  const { file = '', at = WHOLE, limitAt = at } = rule?.place ?? {};
  return { severity: 'warning', class: 'domains-meet', file, at: limitAt, message };
}
