import { digestFiles } from '../../../src/rule-sources/loader/rule-loader';
import type { RuleFile } from '../../../src/rule-sources/load-result';

function digest(files: readonly RuleFile[]): { readonly text: string; readonly slices: number } {
  const steps = digestFiles(files);
  for (let slices = 0; ; slices += 1) {
    const step = steps.next();
    if (step.done === true) return { text: step.value, slices };
  }
}
const file = (name: string, text: string): RuleFile => ({ file: name, bytes: Buffer.from(text) });

describe('the digest of rules', () => {
  it('is of names and contents, whatever the order of the files', () => {
    const both = digest([file('a.yaml', '1'), file('b.yaml', '2')]).text;
    expect(both).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digest([file('b.yaml', '2'), file('a.yaml', '1')]).text).toBe(both);
  });

  it('differs by a name, a content, and where one ends', () => {
    const texts = [
      [file('a.yaml', '1'), file('b.yaml', '2')],
      [file('a.yaml', '2'), file('b.yaml', '1')],
      [file('c.yaml', '1'), file('b.yaml', '2')],
      [file('a.yaml', '12'), file('b.yaml', '')],
      [file('a.yaml', '1')],
      [],
    ].map((files) => digest(files).text);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('hashes large files in slices', () => {
    expect(digest([file('a.yaml', 'x'.repeat(1_000_000))]).slices).toBe(4);
  });
});
