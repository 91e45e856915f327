import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';

const GROUPS = readFileSync(join(__dirname, 'messages.txt'), 'utf8').slice(2).split('\n\n# ');
const CASES = GROUPS.flatMap((group) => {
  const [behaviour = '', ...blocks] = group.trim().split('\n\n');
  return blocks.map((block) => {
    const [given = '', ...messages] = block.split('\n').map((line) => line.trim());
    const pairs = [...given.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)];
    const env = pairs.map(([, name = '', text = '']) => [name, JSON.parse(text) as string]);
    return { behaviour, given, env: Object.fromEntries(env) as Env, messages };
  });
});

type Env = Readonly<Record<string, string>>;

describe('what operators read, word for word', () => {
  it.each(CASES)('$behaviour: $given', ({ env, messages }) => {
    const read = readSettings(env);
    const lines = read.ok
      ? read.warnings.map((text) => `warning: ${text}`)
      : read.problems.map((text) => `problem: ${text}`);
    expect(lines.length === 0 ? ['nothing'] : lines).toEqual(messages);
  });

  it('is here for every setting that refuses a text', () => {
    const refused = CASES.flatMap(({ messages }) =>
      messages.map((line) => line.split(/[ =:]+/)[1]),
    );
    const refusing = SUBJECTS.flatMap(({ settings }) => settings)
      .filter(({ parser }) => parser.expected !== 'a string')
      .map(({ name }) => name.replace('<NAME>', 'HITS'));
    expect(refusing.filter((name) => !refused.includes(name))).toEqual([]);
  });
});
