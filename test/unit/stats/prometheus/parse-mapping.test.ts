import type { MappingSet } from '../../../../src/stats/prometheus/mapping';
import { parseMapping } from '../../../../src/stats/prometheus/parse-mapping';

function mappingOf(text: string): MappingSet {
  const parsed = parseMapping(text);
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.mapping;
}

function problemsOf(text: string): readonly string[] {
  const parsed = parseMapping(text);
  return parsed.ok ? [] : parsed.problems;
}

/** Name and labels that a counter gets. */
function shown(set: MappingSet, name: string) {
  const found = set.find(name, 'counter');
  if (found === undefined) return undefined;
  const { mapping, groups } = found;
  if (mapping.drop) return 'dropped';
  const labels = mapping.labels.map(([label, value]) => [label, value(groups)]);
  return [mapping.name(groups), Object.fromEntries(labels)];
}

const FILE = `
defaults:
  timer_type: histogram
  buckets: [0.1, 1]
mappings:
  - match: 'rl\\.(\\w+)\\..*\\.(\\w+)'
    match_type: regex
    name: "rl_\${2}"
    labels: {domain: "$1"}
  - match: rl.*.*.hits
    name: hits
    help: all of them
    scale: 0.5
    labels: {domain: "$1", both: "$1/$2"}
  - match: secret.*
    action: drop
    name: dropped
  - match: took.*
    match_metric_type: observer
    observer_type: summary
    summary_options:
      quantiles: [{quantile: 0.5, error: 0.05}]
    name: took
`;

describe('parseMapping', () => {
  const set = mappingOf(FILE);

  it.each([
    [
      'a glob, with what its stars stand for',
      'rl.web.a.hits',
      ['hits', { domain: 'web', both: 'web/a' }],
    ],
    ['a regular expression', 'rl.web.a.b.over', ['rl_over', { domain: 'web' }]],
    ['nothing of a longer name', 'x.rl.web', undefined],
    ['what is dropped', 'secret.x', 'dropped'],
    ['nothing of another kind', 'took.x', undefined],
  ])('finds %s', (_, name, expected) => {
    expect(shown(set, name)).toEqual(expected);
  });

  it('reads how timers are shown, for all and for one', () => {
    expect(set.unmappedTimer).toEqual({ type: 'histogram', bounds: [0.1, 1] });
    expect(set.find('took.x', 'timer')?.mapping.timer).toEqual({
      type: 'summary',
      quantiles: [0.5],
    });
  });

  it('reads scale and help', () => {
    expect(set.find('rl.a.b.hits', 'counter')?.mapping).toMatchObject({
      scale: 0.5,
      help: 'all of them',
    });
  });

  it('takes summaries where the file says nothing, as statsd_exporter does', () => {
    expect(mappingOf('mappings: []').unmappedTimer.type).toBe('summary');
    expect(mappingOf('').find('a', 'counter')).toBeUndefined();
  });

  it.each([
    ['mappings: [', 'Flow sequence'],
    ['- a', 'the file: expected a map'],
    ['mappings: {a: 1}', 'mappings is {"a":1}, expected a list'],
    ['mappings: [3]', 'mapping 1: expected a map'],
    ['mapings: []', 'the file: unknown field mapings'],
    ['mappings: [{name: a}]', 'mapping 1: expected a match'],
    ['mappings: [{match: a}]', 'mapping 1: expected a name'],
    ['mappings: [{match: a*.b, name: a}]', 'match is "a*.b", expected * between dots only'],
    ['mappings: [{match: "(", match_type: regex, name: a}]', 'expected a regular expression'],
    ['mappings: [{match: a, name: a, match_type: fnmatch}]', 'expected glob or regex'],
    ['mappings: [{match: a, name: a, action: keep}]', 'action is "keep", expected map or drop'],
    ['mappings: [{match: a, name: a, timer_type: timer}]', 'expected histogram or summary'],
    ['mappings: [{match: a, name: a, buckets: [2, 1]}]', 'expected a list of increasing numbers'],
    ['mappings: [{match: a, name: a, scale: much}]', 'scale is "much", expected a number'],
    ['mappings: [{match: a, name: a, labels: {a-b: c}}]', '"a-b" is not a valid label name'],
    ['mappings: [{match: a, name: a, colour: red}]', 'mapping 1: unknown field colour'],
    ['mappings: [{match: a, name: a, quantiles: [{quantile: 2}]}]', 'not between 0 and 1'],
  ])('refuses %s', (text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem);
  });

  it('names every mistake of a file', () => {
    expect(problemsOf('mappings: [{name: a}, {match: a}, {match: b, name: b, x: 1}]')).toHaveLength(
      3,
    );
  });
});
