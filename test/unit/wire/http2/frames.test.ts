import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { playFrames } from '../../../support/h2-script/play-frames';
import { blocksOf } from '../../../support/scenario/read-scenarios';

const CASES = blocksOf(readFileSync(join(__dirname, 'frames.txt'), 'utf8')).map(
  ([title, lines]) => [title, lines.map((line) => line.trim())] as const,
);

it.each(CASES)('%s', (_, lines) => {
  expect(playFrames(lines)).toEqual(lines);
});
