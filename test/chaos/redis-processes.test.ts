import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { unpackRecord } from '../support/packed-record';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

const PROCESSES = 4;
const RESERVER = join(__dirname, '../support/redis-reserver.cjs');
const HELD = '{c:everybody_reserves~1}~r';
const SLOTS = 5;
const LEASE_MS = 1_000;
/** Of each process that reserves: most are refused, for want of a slot or, at the end, by the limit. */
const ROUNDS = 400;

jest.setTimeout(300_000);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The record of a counter with reservations: hits that are charged, and whether any is open. */
async function heldOf({ client }: RedisServer) {
  const sums = await client.hgetBuffer(HELD, 's');
  const runs = sums?.[0] ?? 0;
  const record = sums?.subarray(25 + 32 * runs) ?? Buffer.alloc(0);
  const [, used = '0'] = unpackRecord(record).split(' ');
  return { used: Number(used), isOpen: runs > 0 };
}

function reserve(server: RedisServer, rounds: number, limit: number, leaseMs: number) {
  const numbers = [rounds, SLOTS, limit, leaseMs].map(String);
  return spawn(process.execPath, [RESERVER, String(server.port), HELD, ...numbers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

type Reserver = ReturnType<typeof reserve>;

/** What a process has printed when it ends. */
async function linesOf({ stdout }: Reserver): Promise<readonly string[]> {
  let text = '';
  for await (const piece of stdout) text += String(piece);
  return text.trim().split('\n');
}

describe('several processes that reserve under one key', () => {
  it('never have more slots than there are, nor more charged and held than the limit', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const limit = 150;
    const all = Array.from({ length: PROCESSES }, () => reserve(server, ROUNDS, limit, 600_000));
    const printed = await Promise.all(all.map(linesOf));
    const last = printed.map((lines) => (lines.at(-1) ?? '').split(' ').map(Number));
    const settled = printed.flatMap((lines) => lines.slice(0, -1).map(Number));
    const sum = settled.reduce((all, hits) => all + hits, 0);
    const highest = Math.max(...last.map(([, most = 0]) => most));
    expect(highest).toBeLessThanOrEqual(SLOTS);
    expect(highest).toBeGreaterThan(1);
    expect(await heldOf(server)).toEqual({ used: sum, isOpen: false });
    expect(sum).toBeLessThanOrEqual(limit);
    // The last that is refused wants three.
    expect(sum).toBeGreaterThan(limit - 3);
    expect(settled.length + last.reduce((all, [no = 0]) => all + no, 0)).toBe(PROCESSES * ROUNDS);
  });

  it('leave nothing held when they are killed between any two calls, and what they held is charged', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const limit = 1_000_000;
    const all = Array.from({ length: 4 }, () => reserve(server, 100_000, limit, LEASE_MS));
    const printed = Promise.all(all.map(linesOf));
    await eventually(async () => {
      expect((await heldOf(server)).used).toBeGreaterThan(500);
    });
    for (const each of all) each.kill('SIGKILL');
    // The last line may be half of one.
    const told = (await printed).flatMap((lines) => lines.slice(0, -1).map(Number));
    const sum = told.reduce((all, hits) => all + hits, 0);
    await eventually(
      async () => {
        const next = reserve(server, 1, limit, LEASE_MS);
        const [, last = ''] = await linesOf(next);
        expect(last).toMatch(/^0 /);
        expect((await heldOf(server)).isOpen).toBe(false);
      },
      { everyMs: LEASE_MS / 2 },
    );
    const { used } = await heldOf(server);
    expect(used).toBeGreaterThanOrEqual(sum);
    // Of each worker one call may be under way, one more told and not printed; the rounds above charge three at most.
    expect(used).toBeLessThanOrEqual(sum + 4 * 8 * 2 * 3 + 60);
  });
});
