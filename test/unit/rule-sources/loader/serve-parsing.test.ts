import type { ParsedRules } from '../../../../src/core/rules/definition';
import type { ParseOptions } from '../../../../src/core/rules/parse/parse-rule-files';
import {
  serveParsing,
  type ParseReply,
  type ParseRequest,
} from '../../../../src/rule-sources/loader/serve-parsing';

/** A thread whose rules have these time zones, none of which its runtime knows; a mistake is the name of one. */
function createThread(zones: readonly string[]) {
  const replies: ParseReply[] = [];
  const listeners: ((request: ParseRequest) => void)[] = [];
  let parses = 0;
  const parse = (_: unknown, { hasZone }: ParseOptions): ParsedRules => {
    parses += 1;
    const wrong = zones.filter((zone) => hasZone?.(zone) !== true);
    const at = { path: '' };
    const problems = wrong.map((message) => {
      return { severity: 'error', class: 'bad-time-zone', file: '', at, message } as const;
    });
    return { domains: [], problems };
  };
  const port = {
    on: (_: 'message', listener: (request: ParseRequest) => void) => listeners.push(listener),
    postMessage: (reply: ParseReply) => replies.push(reply),
  };
  serveParsing(port, parse);
  const send = (request: ParseRequest): ParseReply | undefined => {
    for (const listener of listeners) listener(request);
    return replies.shift();
  };
  const first = () => send({ kind: 'parse', files: [], options: { mergeDomains: false } });
  const answer = (known: readonly string[]) => {
    const reply = send({ kind: 'zones', known });
    return reply?.kind === 'done' ? reply.problems.map(({ message }) => message) : reply;
  };
  return { first, answer, parses: () => parses };
}

describe('a thread that parses rules with time zones that its runtime does not know', () => {
  it('asks once which there are, and parses again where one is not', () => {
    const thread = createThread(['A/New', 'A/Old', 'A/New']);
    expect(thread.first()).toEqual({ kind: 'zones', names: ['A/New', 'A/Old'] });
    expect(thread.answer(['A/New'])).toEqual(['A/Old']);
    expect(thread.parses()).toBe(2);
  });

  it('parses once where it asks for none, or there are all', () => {
    const none = createThread([]);
    expect(none.first()).toMatchObject({ kind: 'done', problems: [] });
    const all = createThread(['A/New']);
    all.first();
    expect(all.answer(['A/New'])).toEqual([]);
    expect([none.parses(), all.parses()]).toEqual([1, 1]);
  });

  it('asks for a bounded number, and takes the others for mistakes', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `A/${String(at)}`);
    const thread = createThread(names);
    const asked = thread.first();
    expect(asked).toEqual({ kind: 'zones', names: names.slice(0, 32) });
    const found = thread.answer(names.slice(0, 32)) as readonly string[];
    expect(found[0]).toBe('A/32');
  });
});
