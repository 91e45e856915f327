import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/edge/eventually';
import { openTestedLineFile as open } from '../support/line-file';

let folder = '';
let fifo = '';
const readers: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lines-'));
  fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
});
afterEach(() => {
  readers.splice(0).forEach(closeSync);
  rmSync(folder, { recursive: true });
});

const MORE_THAN_A_PIPE_HOLDS = 200;
const lineNumber = (i: number) => `${String(i)} ${'x'.repeat(1_000)}\n`;

/** Reads nothing by itself. */
function openReader() {
  const fd = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  readers.push(fd);
  const bytes = Buffer.alloc(65_536);
  let text = '';
  const readOn = () => {
    try {
      text += bytes.toString('utf8', 0, readSync(fd, bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' });
    }
    return text;
  };
  return { readOn };
}

it('writes whole lines in order into a pipe as its reader takes them', async () => {
  const { readOn } = openReader();
  const { lines, dropped } = open(fifo);
  const written = Array.from({ length: MORE_THAN_A_PIPE_HOLDS }, (_, i) => lineNumber(i));
  written.forEach(lines.write);
  await eventually(() => {
    expect(readOn()).toHaveLength(written.join('').length);
  });
  expect(readOn()).toBe(written.join(''));
  await lines.close(10_000);
  expect(dropped()).toBe(0);
});

it('closes a pipe whose reader stands still, and counts each line that it did not take', async () => {
  const { readOn } = openReader();
  const { lines, errors, dropped } = open(fifo);
  for (let i = 0; i < MORE_THAN_A_PIPE_HOLDS; i++) lines.write(lineNumber(i));
  await lines.close(50);
  const taken = readOn().split('\n').slice(0, -1);
  expect(dropped()).toBeGreaterThan(0);
  expect(taken.length + dropped()).toBe(MORE_THAN_A_PIPE_HOLDS);
  expect(errors).toEqual([]);
  lines.write('late\n');
  expect(dropped() + taken.length).toBe(MORE_THAN_A_PIPE_HOLDS + 1);
});

it('counts no line as dropped that a write under way still takes when the time to close is over', async () => {
  const { readOn } = openReader();
  const { lines, dropped } = open(fifo);
  // All threads that write are busy for longer than that.
  const busy = Array.from({ length: 4 }, () => promisify(pbkdf2)('', '', 100_000, 64, 'sha512'));
  lines.write(lineNumber(0));
  await lines.close(1);
  await Promise.all(busy);
  expect([readOn(), dropped()]).toEqual([lineNumber(0), 0]);
});

it('does not wait for the reader of a FIFO', () => {
  expect(() => open(fifo)).toThrow('ENXIO');
});
