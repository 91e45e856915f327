import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestedLineFile as open } from '../../support/line-file';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('drops and counts what a file does not take, with the reason', async () => {
  const { lines, errors, dropped } = open('/dev/full');
  lines.write('one\n');
  lines.write('two\n');
  await lines.close(10_000);
  expect(dropped()).toBe(2);
  expect(errors[0]).toContain('ENOSPC');
});

it('makes a file that others than owner and group cannot read', async () => {
  const path = join(folder, 'lines');
  const umask = process.umask(0);
  const { lines } = open(path);
  process.umask(umask);
  await lines.close(10_000);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('640');
});
