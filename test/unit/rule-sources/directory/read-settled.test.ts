import { writeFileSync } from 'node:fs';
import { readSettled } from '../../../../src/rule-sources/directory/follow-directory';
import { createTemporaryDirectory, type TemporaryDirectory } from '../../../support/rule-directory';

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = createTemporaryDirectory();
  directory.write('config/a.yaml', 'first');
});
afterEach(() => {
  directory.remove();
});

/** Reads on a clock that is far from the files' own times; `between` runs after each survey that is read. */
function read(between: () => void, seen?: string, clock = () => (between(), 0)) {
  return readSettled(
    {
      root: directory.path,
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      maxBytes: 1_000,
    },
    seen,
    clock,
    new AbortController().signal,
  );
}
const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

describe('reading a directory that settles', () => {
  it('answers the files, and nothing when their survey is known', async () => {
    const first = await read(() => undefined);
    expect(textOf(first?.found.files[0]?.bytes)).toBe('first');
    expect(first?.isDoubtful).toBe(false);
    expect(await read(() => undefined, first?.survey.fingerprint)).toBeUndefined();
  });

  it('reads again when a file was written meanwhile', async () => {
    const writes = ['second', 'third and last'];
    const settled = await read(() => {
      const text = writes.shift();
      if (text !== undefined) writeFileSync(directory.at('config/a.yaml'), text);
    });
    expect(textOf(settled?.found.files[0]?.bytes)).toBe('third and last');
    expect(settled?.isDoubtful).toBe(false);
  });

  it('reads again when a file came meanwhile', async () => {
    let isWritten = false;
    const settled = await read(() => {
      if (isWritten) return;
      isWritten = true;
      directory.write('config/b.yaml', 'new');
    });
    expect(settled?.found.files.map(({ file }) => file)).toEqual(['a.yaml', 'b.yaml']);
  });

  it('takes files that never settle as they are, in doubt', async () => {
    let text = '';
    const settled = await read(() => {
      text += 'x';
      writeFileSync(directory.at('config/a.yaml'), text);
    });
    expect(textOf(settled?.found.files[0]?.bytes)).toBe('xxxxx');
    expect(settled?.isDoubtful).toBe(true);
  });

  it('is in doubt while the clock says that a file changes this very moment', async () => {
    const { survey } = (await read(() => undefined)) ?? {};
    const settled = await read(
      () => undefined,
      undefined,
      () => survey?.changedAtSeconds ?? 0,
    );
    expect(settled?.isDoubtful).toBe(true);
  });
});
