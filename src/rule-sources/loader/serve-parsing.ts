import type { OverlayCounts, ParsedRules } from '../../core/rules/definition';
import type { ParseOptions } from '../../core/rules/parse/parse-rule-files';
import { firstProblems, type RuleProblem, type Unlisted } from '../../fields/problem';
import type { RuleFile } from '../load-result';
import { toChunks } from './chunks';

/** Messages to the worker: first the files, the zones that it asks for, then one `more` for each chunk to send. */
export type ParseRequest =
  | ParseOrder
  | { readonly kind: 'zones'; readonly known: readonly string[] }
  | { readonly kind: 'more' };

interface ParseOrder {
  readonly kind: 'parse';
  readonly files: readonly RuleFile[];
  readonly options: Omit<ParseOptions, 'hasZone'>;
}

/** Messages from the worker. An exception in it arrives as its `error` event. */
export type ParseReply =
  /** Time zones that the runtime does not know: which of them do others have? Once, before all else, where rules have some. */
  | { readonly kind: 'zones'; readonly names: readonly string[] }
  /** A chunk of domains as JSON: the receiver reads a string in a third of the time that objects take. */
  | { readonly kind: 'chunk'; readonly text: string }
  | {
      readonly kind: 'done';
      readonly problems: readonly RuleProblem[];
      readonly unlisted: Unlisted | undefined;
      readonly overlaid: OverlayCounts | undefined;
    };

/** The part of a `MessagePort` that a worker needs. */
interface Port {
  on(event: 'message', listener: (request: ParseRequest) => void): unknown;
  postMessage(reply: ParseReply): void;
}

/** At most this many zones are looked up: releases differ in few, and each lookup may open files. */
const MAX_ZONES = 32;

type Parse = (files: readonly RuleFile[], options: ParseOptions) => ParsedRules;

/** Entries per message: the receiver reads these in about a third of a millisecond. */
const CHUNK_SIZE = 250;

/**
 * Answers requests to parse. Chunks are sent one at a time and on demand: all messages queued in a port are received in one turn,
 * and ten thousand rules at once would stall the receiver.
 */
export function serveParsing(port: Port, parse: Parse): void {
  let replies: Replies | undefined;
  port.on('message', (request) => {
    if (request.kind === 'parse') replies = toReplies(request, parse);
    const step = replies?.next(request.kind === 'zones' ? request.known : []);
    if (step?.done === false) port.postMessage(step.value);
  });
}

/** Each is sent when the next message comes, which may bring the zones. */
type Replies = Generator<ParseReply, void, readonly string[]>;

function* toReplies(order: ParseOrder, parse: Parse): Replies {
  const { domains, problems, overlaid } = yield* parseWithZones(order, parse);
  for (const chunk of toChunks(domains, CHUNK_SIZE))
    yield { kind: 'chunk', text: JSON.stringify(chunk) };
  yield { kind: 'done', ...firstProblems(problems), overlaid };
}

/** The thread cannot look into files of zones: it takes what it does not know for right, asks, and parses again where it was wrong. */
function* parseWithZones(
  { files, options }: ParseOrder,
  parse: Parse,
): Generator<ParseReply, ParsedRules, readonly string[]> {
  const asked = new Set<string>();
  const hasZone = (name: string): boolean => {
    if (asked.size < MAX_ZONES) asked.add(name);
    return asked.has(name);
  };
  const parsed = parse(files, { ...options, hasZone });
  if (asked.size === 0) return parsed;
  const known = yield { kind: 'zones', names: [...asked] };
  if (known.length === asked.size) return parsed;
  return parse(files, { ...options, hasZone: (name) => known.includes(name) });
}
