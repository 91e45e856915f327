import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../../../support/scenario/read-scenarios';
import { playCalls } from './play-calls';

const CASES = blocksOf(readFileSync(join(__dirname, 'calls.txt'), 'utf8')).map(
  ([title, lines]) => [title, lines.map((line) => line.trim())] as const,
);

it.each(CASES)('%s', (_, lines) => {
  expect(playCalls(lines)).toEqual(lines);
});
