import type { ParsedRules } from '../../core/rules/definition';
import type { ParseOptions } from '../../core/rules/parse/parse-rule-files';
import { firstProblems, type RuleProblem, type Unlisted } from '../../fields/problem';
import type { RuleFile } from '../load-result';
import { toChunks } from './chunks';

/** Messages to the worker: first the files, then one `more` for each chunk to send. */
export type ParseRequest =
  | {
      readonly kind: 'parse';
      readonly files: readonly RuleFile[];
      readonly options: ParseOptions;
    }
  | { readonly kind: 'more' };

/** Messages from the worker. An exception in it arrives as its `error` event. */
export type ParseReply =
  /** A `ParsedChunk` as JSON: the receiver reads a string in a third of the time that objects take. */
  | { readonly kind: 'chunk'; readonly text: string }
  | {
      readonly kind: 'done';
      readonly problems: readonly RuleProblem[];
      readonly unlisted: Unlisted | undefined;
    };

/** The part of a `MessagePort` that a worker needs. */
interface Port {
  on(event: 'message', listener: (request: ParseRequest) => void): unknown;
  postMessage(reply: ParseReply): void;
}

/** Entries per message: the receiver reads these in about a third of a millisecond. */
const CHUNK_SIZE = 250;

/**
 * Answers requests to parse. Chunks are sent one at a time and on demand: all messages queued in a port are received in one turn,
 * and ten thousand rules at once would stall the receiver.
 */
export function serveParsing(
  port: Port,
  parse: (files: readonly RuleFile[], options: ParseOptions) => ParsedRules,
): void {
  let replies: Generator<ParseReply> | undefined;
  port.on('message', (request) => {
    if (request.kind === 'parse') replies = toReplies(parse(request.files, request.options));
    const step = replies?.next();
    if (step?.done === false) port.postMessage(step.value);
  });
}

function* toReplies({ domains, problems }: ParsedRules): Generator<ParseReply> {
  for (const chunk of toChunks(domains, CHUNK_SIZE))
    yield { kind: 'chunk', text: JSON.stringify(chunk) };
  yield { kind: 'done', ...firstProblems(problems) };
}
