import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { readSettings } from '../../../src/settings/settings';

const FOLDER = join(__dirname, '../../../docs/gateways');

const pages = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );

describe.each(pages)('docs/gateways/$name', ({ text }) => {
  it('shows an environment that the service takes without a warning', () => {
    const [block = '', ...more] = blocks(text, 'env');
    expect(more).toEqual([]);
    const pairs = block
      .trim()
      .split('\n')
      .map((line) => /^(\w+)=(.*)$/.exec(line)?.slice(1));
    expect(pairs.length).toBeGreaterThan(5);
    const env = Object.fromEntries(pairs as [string, string][]) as NodeJS.ProcessEnv;
    expect(readSettings(env)).toMatchObject({ ok: true, warnings: [] });
  });

  it('says to set the time-out of the store below that of the proxy', () => {
    expect(text).toContain('Add `REDIS_TIMEOUT=40ms`');
  });

  it('shows YAML that can be read', () => {
    for (const block of blocks(text, 'yaml'))
      for (const document of parseAllDocuments(block)) expect(document.errors).toEqual([]);
  });

  it('says what was not run', () => {
    expect(text).toContain('**Not run here**');
  });
});
