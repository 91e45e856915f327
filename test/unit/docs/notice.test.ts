import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** Licences under which a package may be brought along without asking anybody. */
const TAKEN = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

const notice = readFileSync(join(ROOT, 'NOTICE'), 'utf8');
const packages = [...notice.matchAll(/^(\S+) (\d\S*): (.+)$/gm)].map(
  ([, name = '', , licence = '']) => ({ name, licence }),
);

describe('NOTICE', () => {
  it('names every dependency of package.json and nothing that only tests need', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    const names = packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(names).not.toContain('jest');
    expect(Object.keys(devDependencies)).toContain('jest');
  });

  it('holds only licences that the image may carry', () => {
    expect(packages.filter(({ licence }) => !TAKEN.includes(licence))).toEqual([]);
  });
});
