import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const DECLARED = /^export (?:abstract )?(?:interface|type|class) (\w+)/gm;

const files = ['src', 'streams'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

describe('an exported type', () => {
  it('shares its name with no other one', () => {
    const filesOf = new Map<string, string[]>();
    for (const file of files) {
      for (const [, name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARED)) {
        filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
      }
    }
    expect(filesOf.size).toBeGreaterThan(500);
    expect([...filesOf].filter(([, declaring]) => declaring.length > 1)).toEqual([]);
  });
});
