import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseCheckOptions } from '../../../../src/rule-sources/check/options';
import { readTable } from '../../../support/text-table';

const TABLE = readTable(readFileSync(join(__dirname, 'options.txt'), 'utf8'));

it.each(TABLE)('$title', ({ title, expected: [options = ''] }) => {
  const args = title === 'none' ? [] : title.split(' ');
  expect(parseCheckOptions(args)).toEqual(parse(`{${options}}`));
});
