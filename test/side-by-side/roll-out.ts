import { resolve } from 'node:path';
import { startRedisServer } from '../support/edge/redis-server';
import { startPlayed, type Played } from './services';

const CALLS = 200;
const YEAR = { unit: 'year' };
const plain = { ...YEAR, requests_per_unit: 60 };
const gcra = { ...YEAR, requests_per_unit: 50, algorithm: 'gcra' };
/** Counted otherwise since 1.0.0-rc.1. */
const small = { unit: 'day', requests_per_unit: 40, algorithm: 'sliding_window' };
const large = { ...YEAR, requests_per_unit: 80, algorithm: 'sliding_window' };
const calendar = { ...YEAR, requests_per_unit: 70, calendar: true, time_zone: 'Europe/Berlin' };
const inFlight = { algorithm: 'in_flight', requests_per_unit: 10 };
const block = { after: 3, within: '10m', for: '10m' };
const blocking = { ...YEAR, requests_per_unit: 20, block };
const four = [plain, gcra, large, calendar];

interface Rule {
  readonly key: string;
  readonly reserve?: object;
  readonly [word: string]: unknown;
}

/** A rule of each kind, with the most that both builds may admit of one counter together (budgets.md section 10). */
const RULES: readonly (readonly [rule: Rule, atMost: number])[] = [
  [{ key: 'plain', rate_limit: plain }, 60],
  [{ key: 'fixed', rate_limit: { ...plain, charge_denied: false } }, 60],
  [{ key: 'gcra', rate_limit: gcra }, 50],
  [{ key: 'large', rate_limit: large }, 80],
  [{ key: 'small', rate_limit: small }, 2 * 40],
  [{ key: 'calendar', rate_limit: calendar }, 70],
  [{ key: 'list', rate_limits: four }, 50],
  [{ key: 'small_list', rate_limits: [{ ...plain, requests_per_unit: 90 }, small] }, 2 * 40],
  [{ key: 'block', rate_limits: [blocking] }, 20],
  [{ key: 'held', rate_limit: plain, reserve: {} }, 60],
  [{ key: 'held_gcra', rate_limit: gcra, reserve: {} }, 50],
  [{ key: 'held_large', rate_limit: large, reserve: {} }, 80],
  [{ key: 'held_list', rate_limits: four, reserve: {} }, 50],
  [
    { key: 'held_small', rate_limits: [{ ...plain, requests_per_unit: 90 }, small], reserve: {} },
    2 * 40,
  ],
  [{ key: 'slots', rate_limits: [plain, inFlight], reserve: {} }, 60],
];

/** By turns, the other build first, and three calls of this one in a row. */
const TURNS = [0, 1, 0, 1, 1, 1];

/** Each domain counts its requests in another way. */
const DOMAINS = { alone: {}, together: { charge: 'together' } };

/**
 * Plays rules of every kind by turns on another build and on this one, with one Redis: no call fails, and together they admit no
 * more than one build would, but for what the page says. `npm run test:roll-out -- ../other/dist` (docs/internals/testing.md)
 */
async function rollOut(other: string): Promise<void> {
  const redis = await startRedisServer();
  const rules = Object.fromEntries(
    Object.entries(DOMAINS).map(([domain, words]) => [`${domain}.yaml`, toRules(domain, words)]),
  );
  const builds: Played[] = [];
  for (const dist of [other, 'dist']) {
    const script = resolve(dist, 'src/bin/ratelimit.js');
    builds.push(await startPlayed([process.execPath, script], rules, redis, {}));
  }
  let isGood = true;
  for (const domain of Object.keys(DOMAINS))
    for (const [{ key, reserve }, atMost] of RULES) {
      const played = await playCalls(builds, domain, key, reserve !== undefined);
      isGood = report(`${domain} ${key}`, atMost, played) && isGood;
    }
  await Promise.all(builds.map((one) => one.stop()));
  await redis.stop();
  process.exitCode = isGood ? 0 : 1;
}

function toRules(domain: string, words: object): string {
  return JSON.stringify({ domain, ...words, descriptors: RULES.map(([rule]) => rule) });
}

interface Done {
  /** Hits that each build admitted. */
  readonly admitted: readonly number[];
  readonly failures: readonly string[];
}

async function playCalls(
  builds: readonly Played[],
  domain: string,
  key: string,
  isHeld: boolean,
): Promise<Done> {
  const admitted = builds.map(() => 0);
  const failures: string[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const turn = isHeld ? call % builds.length : (TURNS[call % TURNS.length] as number);
    const { isHit, entry } = isHeld ? reservationAt(call) : { isHit: true, entry: [] };
    const descriptors = [{ entries: [{ key, value: 'v' }, ...entry] }];
    const { code, details, response } = await (builds[turn] as Played).ask({ domain, descriptors });
    if (code !== 0) failures.push(`${String(code)} ${details}`);
    const { overallCode } = (response ?? {}) as { readonly overallCode?: string };
    if (isHit && overallCode === 'OK') admitted[turn] = (admitted[turn] as number) + 1;
  }
  return { admitted, failures };
}

/** Whether it was as it should: a build that admits next to nothing has lost its place as well. */
function report(name: string, atMost: number, { admitted, failures }: Done): boolean {
  const sum = admitted.reduce((all, one) => all + one, 0);
  const isGood = sum <= atMost && sum >= 20 && failures.length === 0;
  const counts = `${admitted.join(' + ')} of at most ${String(atMost)}`;
  const failed = `${String(failures.length)} failed ${failures[0] ?? ''}`.trim();
  console.log(`${isGood ? 'ok    ' : 'MISSED'} ${name}: ${counts}, ${failed}`);
  return isGood;
}

/** Both builds reserve, then each settles what the other holds. */
function reservationAt(call: number) {
  const [round, place] = [Math.floor(call / 4), call % 4];
  const isHit = place < 2;
  const id = `r${String(round)}-${String(isHit ? place : 3 - place)}`;
  return { isHit, entry: [{ key: isHit ? 'reserve' : 'settle', value: id }] };
}

const [, , other] = process.argv;
if (other === undefined) throw new Error('npm run test:roll-out -- <folder of the other build>');
void rollOut(other);
