import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';
import { readEnvTable } from './results';

const CASES = readEnvTable('messages.txt');

describe('what operators read, word for word', () => {
  it.each(CASES)('$given', ({ env, lines }) => {
    const read = readSettings(env);
    const said = read.ok
      ? read.warnings.map((text) => `warning: ${text}`)
      : read.problems.map((text) => `problem: ${text}`);
    expect(said.length === 0 ? ['nothing'] : said).toEqual(lines);
  });

  it('is here for every setting that refuses a text', () => {
    const refused = CASES.flatMap(({ lines }) => lines.map((line) => line.split(/[ =:]+/)[1]));
    const refusing = SUBJECTS.flatMap(({ settings }) => settings)
      .filter(({ parser }) => parser.expected !== 'a string')
      .map(({ name }) => name.replace('<NAME>', 'HITS'));
    expect(refusing.filter((name) => !refused.includes(name))).toEqual([]);
  });
});
