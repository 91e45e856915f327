import { HOW_TO_WRITE } from '../../../src/settings/settings-help';
import { SUBJECTS } from '../../../src/settings/tables';

const NUMBERS = SUBJECTS.flatMap(({ settings }) => settings).filter(({ parser }) =>
  /^a (?:whole number|port) /.test(parser.expected),
);

it('has ports and other whole numbers', () => {
  const names = NUMBERS.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['PORT', 'GRPC_PORT', 'STATSD_PORT', 'WORKERS']));
});

it.each([
  ['0x10', 16],
  ['0o17', 15],
  ['0b1', 1],
  ['1_000', 1_000],
  ['010', 8],
])('every whole number and port may be written as the head of the page says: %s', (text, value) => {
  expect(HOW_TO_WRITE.join(' ')).toContain(text);
  const read = NUMBERS.map(({ name, parser }) => [name, parser.parse(text)]);
  expect(read).toEqual(NUMBERS.map(({ name, parser }) => [name, parser.parse(String(value))]));
});
