import { LEVELS, RULE_LEVELS, type Level } from '../../../../../src/core/rules/parse/table/levels';
import { algorithmsOf } from '../../../../../src/core/rules/parse/table/limit';
import { parseText } from '../../../../support/rule-texts';

type Fields = Readonly<Record<string, unknown>>;

/** A file whose only map of this level has these fields. */
function fileWith(level: Level, fields: Fields): Fields {
  switch (level) {
    case 'file':
      return { domain: 'x', ...fields };
    case 'descriptor':
      return fileWith('file', { descriptors: [{ key: 'k', ...fields }] });
    case 'rate_limit':
      return fileWith('descriptor', {
        rate_limit: { unit: 'month', requests_per_unit: 1, ...fields },
      });
    case 'replaces':
      return fileWith('rate_limit', { replaces: [fields] });
    case 'limits_from':
      return fileWith('rate_limit', { limits_from: { key: 'k', ...fields } });
    case 'block':
      return fileWith('rate_limit', { block: { for: '1m', ...fields } });
    case 'reserve':
      return fileWith('descriptor', {
        rate_limit: { unit: 'day', requests_per_unit: 1 },
        reserve: fields,
      });
  }
}

/** What a field needs so that it is read at all. */
const WITH: Readonly<Record<string, Fields>> = {
  'calendar: true': { calendar: true },
  'unit: week': { calendar: true, unit: 'week' },
  'unit: month': { calendar: true },
  rate_limit: {},
};

const rows = LEVELS.flatMap((level) =>
  Object.entries(RULE_LEVELS[level].fields).map(([name, row]) => ({ level, name, ...row })),
);

it.each(rows)('reads $name of $level: a value of another type is a mistake', (row) => {
  const { level, name, needs = 'rate_limit', ofKinds, type } = row;
  const wrong = type.words.startsWith('map') ? 7 : { a: 1 };
  const algorithm = ofKinds && { algorithm: algorithmsOf(ofKinds[0])[0] };
  const text = JSON.stringify(fileWith(level, { ...WITH[needs], ...algorithm, [name]: wrong }));
  const messages = parseText(text).problems.map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringMatching(`^${name} must be `));
});

it.each(rows.filter(({ required }) => required !== undefined))(
  'reports that $name of $level is missing, and that it is empty',
  ({ level, name, required: [mistake, expected] = ['wrong-type', ''] }) => {
    for (const nothing of [undefined, null, '']) {
      const text = JSON.stringify(fileWith(level, { [name]: nothing }));
      const { problems } = parseText(text);
      expect(problems).toMatchObject([{ class: mistake, severity: 'error' }]);
      expect(problems[0]?.message).toMatch(new RegExp(`^.* has no ${name}: expected ${expected}$`));
    }
  },
);
