import { createRuleLoader, type ParseRules } from '../../../../src/rule-sources/loader/rule-loader';
import type { RuleFiles } from '../../../../src/rule-sources/load-result';
import type { DomainDefinition, ParsedRules } from '../../../../src/core/rules/definition';
import type { RuleProblem } from '../../../../src/fields/problem';

const signal = new AbortController().signal;
const problem = (severity: RuleProblem['severity'], message: string): RuleProblem => ({
  severity,
  class: 'any',
  file: 'a.yaml',
  at: { line: 1, column: 1 },
  message,
});
const found = (size: number, problems: readonly RuleProblem[] = []): RuleFiles => ({
  files: [{ file: 'a.yaml', bytes: new Uint8Array(size) }],
  problems,
});
const parsed: ParsedRules = {
  domains: [
    { domain: 'shop', rules: [{}, {}] },
    { domain: 'web', rules: [{}] },
  ] as unknown as DomainDefinition[],
  problems: [problem('warning', 'from parsing')],
};

/** A loader whose rules are the names of the domains, on a clock that moves a second per look. */
function createLoader(parse: ParseRules, parseSmall?: ParseRules) {
  let seconds = 0;
  const load = createRuleLoader(
    {
      parse,
      ...(parseSmall !== undefined && { parseSmall }),
      compile: function* (domains) {
        const names: string[] = [];
        for (const { domain } of domains) {
          names.push(domain);
          yield;
        }
        return names;
      },
      clock: () => (seconds += 1),
    },
    { mergeDomains: true },
  );
  return { load };
}

describe('a rule loader', () => {
  it('answers the rules with every warning, their number and the time it took', async () => {
    const { load } = createLoader(() => Promise.resolve(parsed));
    expect(await load(found(1, [problem('warning', 'from reading')]), signal)).toEqual({
      ok: true,
      rules: ['shop', 'web'],
      domainCount: 2,
      ruleCount: 3,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      problems: [problem('warning', 'from reading'), problem('warning', 'from parsing')],
      durationMs: 1_000,
    });
  });

  it('passes on how to parse', async () => {
    const parse = jest.fn<ReturnType<ParseRules>, Parameters<ParseRules>>(() =>
      Promise.resolve(parsed),
    );
    const input = found(1);
    await createLoader(parse).load(input, signal);
    expect(parse).toHaveBeenCalledWith(input.files, { mergeDomains: true }, signal);
  });

  it('lists the mistakes of reading and of parsing together', async () => {
    const { load } = createLoader(() => Promise.resolve(parsed));
    const reading = problem('error', 'unreadable');
    expect(await load(found(1, [reading]), signal)).toEqual({
      ok: false,
      problems: [reading, ...parsed.problems],
      durationMs: 1_000,
    });
  });

  it('has nothing to parse where there are no files', async () => {
    const { load } = createLoader(() => Promise.reject(new Error('must not be called')));
    const nothing = { files: [], problems: [problem('warning', 'no files')] };
    expect(await load(nothing, signal)).toMatchObject({ ok: true, domainCount: 0, ruleCount: 0 });
  });

  it.each([
    [new Error('the thread crashed'), 'the thread crashed'],
    ['odd', 'odd'],
  ])('answers a crash of the parser as a problem: %s', async (reason, message) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what a library may do
    const { load } = createLoader(() => Promise.reject(reason));
    expect(await load(found(1), signal)).toMatchObject({
      ok: false,
      problems: [{ severity: 'error', class: 'load-failed', message }],
    });
  });

  it('parses small files where it is fastest until rules are loaded, then elsewhere', async () => {
    const calls: string[] = [];
    const parser = (name: string, result: ParsedRules) => () => {
      calls.push(name);
      return Promise.resolve(result);
    };
    const broken = { domains: [], problems: [problem('error', 'broken')] };
    const results = [broken, parsed];
    const { load } = createLoader(parser('thread', parsed), () =>
      parser('here', results.shift() ?? parsed)(),
    );
    await load(found(20_000), signal);
    expect(calls).toEqual(['thread']);

    const second = createLoader(parser('thread', parsed), () =>
      parser('here', results.shift() ?? parsed)(),
    );
    await second.load(found(100), signal);
    await second.load(found(100), signal);
    await second.load(found(100), signal);
    expect(calls).toEqual(['thread', 'here', 'here', 'thread']);
  });
});
