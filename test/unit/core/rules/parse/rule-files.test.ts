import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import ruleFiles from '../../../../parity/vectors/rule-files.json';

interface Vector {
  readonly name: string;
  readonly merge?: boolean;
  readonly files: Readonly<Record<string, string>>;
  readonly valid: boolean;
  readonly class?: string;
}

const vectors = ruleFiles as unknown as readonly Vector[];

function check({ files, merge }: Vector) {
  const sources = Object.entries(files).map(([file, text]) => readRuleFile(file, text));
  return parseRuleFiles(sources, { mergeDomains: merge === true });
}

describe('the recorded rule files', () => {
  const good = vectors.filter(({ valid }) => valid);
  const bad = vectors.filter(({ valid }) => !valid);

  it.each(good)('takes $name', (vector) => {
    const { domains, problems } = check(vector);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(domains).toHaveLength(1);
  });

  it.each(bad)('refuses $name', (vector) => {
    const { domains, problems } = check(vector);
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect([...new Set(errors.map((problem) => problem.class))]).toEqual([vector.class]);
    expect(errors[0]?.at).toEqual({
      line: expect.any(Number) as number,
      column: expect.any(Number) as number,
    });
    expect(domains).toEqual([]);
  });
});
