import { Subject } from 'rxjs';
import { createRulesActor, type RulesActorOptions } from '../../../../src/app/rules/rules';
import { createOutageLog } from '../../../../src/app/outage-log';
import type { Rules } from '../../../../src/core/rules/rules';
import { compileRules } from '../../../../src/core/rules/compile';
import { WHOLE, type RuleProblem } from '../../../../src/fields/problem';
import type { LoadResult } from '../../../../src/rule-sources/load-result';
import { createRegistry } from '../../../../src/stats/registry';
import { createRecordingLogger } from '../../../support/recording-logger';

const mistake: RuleProblem = {
  ...{ severity: 'error', class: 'syntax', file: 'a.yaml', at: WHOLE },
  message: 'it makes no sense',
};
const bad = (errors: number): LoadResult<Rules> => ({
  ok: false,
  problems: Array.from({ length: errors }, () => mistake),
  durationMs: 1,
});
const GOOD: LoadResult<Rules> = {
  ...{ ok: true, rules: compileRules([]), domainCount: 0, ruleCount: 0, digest: 'sha256:0' },
  ...{ problems: [], durationMs: 1 },
};

const UNREAD: LoadResult<Rules> = {
  ...{ ok: false, durationMs: 1 },
  problems: [{ ...mistake, class: 'no-directory' }],
};

function start({ startsWithoutRules = false, source = 'files' }: Partial<RulesActorOptions> = {}) {
  const loads = new Subject<LoadResult<Rules>>();
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  let seconds = 0;
  const actor = createRulesActor(
    loads,
    {
      statistics: registry,
      logger,
      outages: createOutageLog({ logger, monotonicMs: () => 0 }),
      clock: () => seconds,
    },
    { startsWithoutRules, source },
  );
  actor.run$.subscribe();
  return {
    actor,
    lines,
    failing: () => registry.readGauges().get('weir.rules_load_failing'),
    load(result: LoadResult<Rules>) {
      seconds += 1;
      loads.next(result);
    },
  };
}

it('shows for as long as the rules are broken that the last load failed', () => {
  const { failing, load, actor } = start();
  const seen = [failing()];
  for (const result of [GOOD, bad(2), bad(1), GOOD]) {
    load(result);
    seen.push(failing());
  }
  expect(seen).toEqual([0, 0, 1, 1, 0]);
  actor.close();
  expect(failing()).toBeUndefined();
});

it.each([
  ['files', false, [false, false, true]],
  ['files', true, [false, true, true]],
  ['xds', false, [false, false, true]],
  ['xds', true, [true, true, true]],
] as const)(
  'counts rules from %s as read, where a start without rules is %p: before, after a load that read none, after one with mistakes: %p',
  (source, startsWithoutRules, expected) => {
    const { actor, load } = start({ source, startsWithoutRules });
    const seen = [actor.isRead.current];
    for (const result of [UNREAD, bad(1)]) {
      load(result);
      seen.push(actor.isRead.current);
    }
    expect(seen).toEqual(expected);
  },
);

it('says how the last load went, and when', () => {
  const { actor, load } = start();
  expect(actor.lastLoad()).toBeUndefined();
  load(GOOD);
  expect(actor.lastLoad()).toEqual({ ok: true, at: '1970-01-01T00:00:01.000Z', errors: 0 });
  load(bad(3));
  expect(actor.lastLoad()).toEqual({ ok: false, at: '1970-01-01T00:00:02.000Z', errors: 3 });
});

it('has a text for callers while there are no rules', () => {
  const { actor, load } = start();
  const texts = [actor.whyNoRules.current];
  for (const errors of [3, 1]) {
    load(bad(errors));
    texts.push(actor.whyNoRules.current);
  }
  expect(texts).toEqual([
    'no rules are loaded yet',
    'the first load had 3 mistakes, see the log',
    'the last load had 1 mistake, see the log',
  ]);
});

it('logs the first mistakes, how many more there are, and whole milliseconds', () => {
  const { load, lines } = start();
  load({ ...bad(2), unlisted: { errors: 1_900, warnings: 0 } });
  load({ ...GOOD, durationMs: 2.5 });
  expect(lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ['error', 'a mistake in the rules', { file: 'a.yaml', error: 'it makes no sense' }],
    ['error', 'a mistake in the rules', { file: 'a.yaml', error: 'it makes no sense' }],
    [
      'error',
      'more problems in the rules than are logged: ratelimit-config-check lists all',
      { errors: 1_900, warnings: 0 },
    ],
    ['info', 'loaded the rules', { domains: 0, descriptors: 0, limits: 0, durationMs: 3 }],
  ]);
});
