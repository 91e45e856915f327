import { Fields } from '../../../src/fields/fields';
import type { Located, LocatedMap, LocatedScalar } from '../../../src/fields/located';
import { problemText, type RuleProblem } from '../../../src/fields/problem';
import { createReport } from '../../../src/fields/report';

const at = { line: 1, column: 1 };
const scalar = (text: string): LocatedScalar => ({ kind: 'scalar', at, text, quoted: false });
const map = (...pairs: readonly (readonly [Located, Located])[]): LocatedMap => ({
  kind: 'map',
  at,
  pairs: pairs.map(([key, value]) => ({ key, value })),
});

const WORDS = { known: ['yes', 'name'], where: 'in a test' } as const;
const everywhere = { known: ['yes', 'name'], misplaced: () => undefined };

function read(words: ConstructorParameters<typeof Fields<'yes' | 'name'>>[1], ...keys: Located[]) {
  const problems: RuleProblem[] = [];
  const report = createReport('a.yaml', problems);
  const fields = new Fields(map(...keys.map((key) => [key, scalar('1')] as const)), words, report);
  return { fields, problems: problems.map(problemText) };
}

describe('keys that are no text', () => {
  it('are names as they are written, or unknown, where names mean one thing', () => {
    const { fields, problems } = read(WORDS, scalar('yes'), map());
    expect(fields.has('yes')).toBe(true);
    expect(problems).toEqual(['a.yaml:1:1: unknown key a map in a test: known keys are yes, name']);
  });

  it('are refused as such in rule files', () => {
    const { fields, problems } = read({ ...WORDS, elsewhere: everywhere }, scalar('yes'), map());
    expect(fields.has('yes')).toBe(false);
    expect(problems).toEqual([
      'a.yaml:1:1: a key in a test must be a string, one of yes, name; found yes',
      'a.yaml:1:1: a key in a test must be a string, one of yes, name; found a map',
    ]);
  });
});
