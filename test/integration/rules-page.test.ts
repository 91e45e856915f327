import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseText } from '../support/rule-texts';

const page = readFileSync(join(__dirname, '../../docs/rules.md'), 'utf8');
const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text ?? '');

describe('the page about rule files', () => {
  it('has examples', () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
  });

  it.each(examples)('shows a file that is good:\n%s', (text) => {
    expect(parseText(text).problems).toEqual([]);
  });
});
