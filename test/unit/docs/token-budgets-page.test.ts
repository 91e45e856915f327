import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const page = read('docs/budgets/token-budgets.md');

function blocksOf(heading: string): readonly string[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']) => block);
}

/** Without indentation, nor where lines break. */
const wordsOf = (text: string) => text.split(/\s+/).join(' ').trim();

it('shows the rules of the example', () => {
  const rules = read('examples/llm/config/llm.yaml').replace(/^(?:#.*\n)+/, '');
  expect(blocksOf('The rule')).toEqual([rules]);
});

it.each(blocksOf('Envoy'))("shows what is in the example's Envoy: %s", (block) => {
  expect(wordsOf(read('examples/llm/envoy.yaml'))).toContain(wordsOf(block));
});

it('shows its id, its metadata and its route', () => {
  expect(blocksOf('Envoy')).toHaveLength(3);
});
