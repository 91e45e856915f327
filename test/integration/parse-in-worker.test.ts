import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseInWorker } from '../../src/rule-sources/loader/parse-in-worker';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-worker-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Parses with a thread of this script. */
function parseWith(script: string, signal = new AbortController().signal) {
  const path = join(directory, 'worker.js');
  writeFileSync(path, `const { parentPort: port } = require('node:worker_threads');\n${script}`);
  return parseInWorker({ script: path })(
    [{ file: 'a.yaml', bytes: new Uint8Array([1, 2, 3]) }],
    { mergeDomains: true },
    signal,
  );
}

describe('parsing in a thread', () => {
  it('hands the files over and asks for one chunk after the other', async () => {
    const parsed = await parseWith(`
      const chunks = [];
      port.on('message', (request) => {
        if (request.kind === 'parse') {
          const domain = request.files[0].file + request.files[0].bytes + request.options.mergeDomains;
          for (const key of ['a', 'b']) {
            chunks.push([{ domain, rules: [{ key }] }]);
          }
        }
        const chunk = chunks.shift();
        port.postMessage(chunk ? { kind: 'chunk', text: JSON.stringify(chunk) } : { kind: 'done', problems: ['p'], unlisted: 'u' });
      });
    `);
    expect(parsed).toEqual({
      domains: [{ domain: 'a.yaml1,2,3true', rules: [{ key: 'a' }, { key: 'b' }] }],
      problems: ['p'],
      unlisted: 'u',
    });
  });

  it('fails when the thread throws', async () => {
    const script = "port.on('message', () => { throw new Error('broken'); });";
    await expect(parseWith(script)).rejects.toThrow('parsing the rule files failed: broken');
  });

  it('fails when the thread ends before it is done', async () => {
    const script = "port.on('message', () => process.exit(3));";
    await expect(parseWith(script)).rejects.toThrow('ended with exit code 3');
  });

  it('fails when there is no such script', async () => {
    const parse = parseInWorker({ script: join(directory, 'missing.js') });
    const parsing = parse([], { mergeDomains: false }, new AbortController().signal);
    await expect(parsing).rejects.toThrow(/parsing the rule files failed: Cannot find module/);
  });

  it('gives up when it is cancelled, before or while it runs', async () => {
    const aborting = new AbortController();
    const parsing = parseWith("port.on('message', () => {});", aborting.signal);
    aborting.abort();
    await expect(parsing).rejects.toThrow('the load was cancelled');
    await expect(parseWith('', aborting.signal)).rejects.toThrow(/abort/);
  });
});
