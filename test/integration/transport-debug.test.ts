import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { createDebugListener, type DebugDeps } from '../../src/transport/debug/listener';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';
import { piecesOf } from '../support/run-steps';

const run = promisify(execFile);

const quiet: DebugDeps['live'] = {
  start: () => undefined,
  stop: () => undefined,
  base: { version: 1, read: () => ({}) },
  next: () => ({}),
};

describe('profiles of the debug port', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function start() {
    const listener = createDebugListener(
      {
        dumpRules: () => [],
        dumpStats: () => piecesOf(),
        dumpStatsJson: () => piecesOf(),
        live: quiet,
        clock: () => 1_700_000_000,
      },
      { host: '127.0.0.1', port: 0, limits: httpLimits(), allowedHosts: [] },
    );
    const address = await listener.listen();
    cleanups.push(() => listener.close(0));
    const port = 'port' in address ? address.port : 0;
    const url = `http://127.0.0.1:${String(port)}`;
    return { listener, get: (path: string) => fetch(url + path) };
  }

  it('takes CPU and heap profiles that pprof opens, one at a time', async () => {
    const { get } = await start();
    const kept: object[] = [];
    const folder = await mkdtemp(join(tmpdir(), 'weir-profile-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const tops: string[] = [];
    for (const [index, kind] of ['profile', 'heap'].entries()) {
      const pending = get(`/debug/pprof/${kind}?seconds=2`);
      for (const other of ['profile', 'heap']) {
        const second = await get(`/debug/pprof/${other}?seconds=1`);
        expect([second.status, await second.text()]).toEqual([
          409,
          'a profile is being taken already, try again later\n',
        ]);
      }
      const until = Date.now() + 600;
      while (Date.now() < until) kept.push(Array.from({ length: 1_000 }, () => ({})));
      const answer = await pending;
      expect(answer.status).toBe(200);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(Profile.decode(gunzipSync(bytes)).sample.length).toBeGreaterThan(0);
      const file = join(folder, `${String(index)}.pb.gz`);
      await writeFile(file, bytes);
      tops.push(await pprofTop(file));
    }
    expect(tops).toEqual([
      expect.stringMatching(/^no Go here$|Type: cpu[^]*Duration: \d/),
      expect.stringMatching(/^no Go here$|Type: inuse_space[^]*Duration: \d/),
    ]);
    expect(kept.length).toBeGreaterThan(0);
    // The first time, Go builds its tool.
  }, 120_000);

  it("gives V8's own format to those who ask for it", async () => {
    const { get } = await start();
    /** In this large process one profile may use up the time for the next. */
    const take = (path: string) =>
      eventually(async () => {
        const answer = await get(path);
        expect(answer.status).toBe(200);
        return answer;
      });
    const cpu = await take('/debug/pprof/profile?seconds=1&format=v8');
    expect(cpu.headers.get('content-disposition')).toContain('cpu.cpuprofile');
    expect(await cpu.json()).toHaveProperty('nodes');
    const heap = await take('/debug/pprof/heap?seconds=1&format=v8&gc=1');
    expect(await heap.json()).toHaveProperty('head');
  });

  it('ends a running profile when it closes', async () => {
    const { get, listener } = await start();
    const pending = get('/debug/pprof/profile?seconds=60');
    const second = async (): Promise<number> =>
      (await get('/debug/pprof/profile?seconds=0')).status;
    expect(await second()).toBe(400);
    await listener.close(5_000);
    expect((await pending).status).toBe(503);
  });
});

/** What `go tool pprof -top` says about a file, where Go is installed. */
async function pprofTop(file: string): Promise<string> {
  try {
    await run('go', ['version']);
  } catch {
    return 'no Go here';
  }
  return (await run('go', ['tool', 'pprof', '-top', file])).stdout;
}
