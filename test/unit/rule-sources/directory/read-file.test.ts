import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readBounded } from '../../../../src/rule-sources/directory/read-rule-files';
import { createTemporaryDirectory, type TemporaryDirectory } from '../../../support/rule-directory';

let directory: TemporaryDirectory;
let path: Buffer;
beforeEach(() => {
  directory = createTemporaryDirectory();
  path = Buffer.from(directory.at('a.yaml'));
});
afterEach(() => {
  directory.remove();
});

describe('reading a file within bounds', () => {
  it.each([0, 1, 999, 1_000])('answers %i bytes of at most 1000', async (size) => {
    const content = Buffer.alloc(size, 'x');
    writeFileSync(path, content);
    expect(Buffer.from((await readBounded(path, 1_000)) ?? [0])).toEqual(content);
  });

  it('answers nothing for a file that holds more', async () => {
    writeFileSync(path, Buffer.alloc(1_001));
    expect(await readBounded(path, 1_000)).toBeUndefined();
  });

  it('reads a large file in pieces', async () => {
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i).join());
    writeFileSync(path, content);
    expect(content.equals((await readBounded(path, 2_000_000)) ?? Buffer.alloc(0))).toBe(true);
  });

  it('reads to the end although a file holds more than its size tells, up to the bound', async () => {
    // The kernel's own files have the size 0, as if all of it came while they are read.
    const growing = existsSync('/proc/version') ? '/proc/version' : __filename;
    const content = readFileSync(growing);
    expect(Buffer.from((await readBounded(Buffer.from(growing), 10_000)) ?? [])).toEqual(content);
    expect(await readBounded(Buffer.from(growing), 5)).toBeUndefined();
  });
});
