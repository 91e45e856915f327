import { createTestClient, encodeRequest } from '../../support/edge/grpc-client';
import { expectFigure, isSiege } from '../../support/edge/figure';
import { besideAPoliteClient } from '../../support/edge/h2-siege';
import { askPaced, type PacedAnswers } from '../../support/edge/paced-load';
import type { Service } from '../../support/edge/service';
import {
  expectAlive,
  inRedis,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';

/** Clients whose requests hold reservations choose their ids and how many are open: decisions go on beside them, and stay exact. */

const MANY = 10_000_000;
const ADMITTED = 150;
/** The costliest rule: eight limits of all algorithms, holds, slots and a block. */
const RULES = `domain: llm
descriptors:
  - key: user
    rate_limits:
      - { unit: second, requests_per_unit: ${String(MANY)} }
      - { unit: minute, requests_per_unit: ${String(MANY)}, algorithm: gcra }
      - { unit: minute, requests_per_unit: ${String(MANY)}, algorithm: sliding_window }
      - { unit: hour, requests_per_unit: ${String(MANY)} }
      - { unit: hour, requests_per_unit: ${String(MANY)}, algorithm: gcra }
      - { unit: day, requests_per_unit: ${String(MANY)}, algorithm: sliding_window }
      - { unit: day, requests_per_unit: ${String(MANY)} }
      - { algorithm: in_flight, requests_per_unit: 100000 }
    reserve: { lease: 1s }
    block: { after: 1000, within: 1m, for: 1m }
  - key: other
    rate_limit: { unit: year, requests_per_unit: ${String(ADMITTED)} }
`;

type Entry = readonly [key: string, value: string];
const request = (...descriptors: (readonly Entry[])[]) => ({
  domain: 'llm',
  descriptors: descriptors.map((entries) => ({
    entries: entries.map(([key, value]) => ({ key, value })),
  })),
});

/** As long as ids may be, so many in one request. */
const ID_BYTES = 256;
const IDS = 100;
const idOf = (at: number) => String(at).padStart(ID_BYTES, 'x');
const idsOf = (call: number) => Array.from({ length: IDS }, (_, at) => idOf(call * IDS + at));

const CALLERS = 8;
/** Of each caller two at least: one stands in the way of the other. */
const CALLS = isSiege ? 160 : 2 * CALLERS;
const ALONE = { perSecond: 400, forMs: 500 };

const call = (user: string, mode: 'reserve' | 'settle', id: string): readonly Entry[] => [
  ['user', user],
  [mode, id],
];
const floods: readonly (readonly [what: string, of: (id: string) => readonly Entry[]])[] = [
  ['that open one reservation after another under one counter', (id) => call('ann', 'reserve', id)],
  ['that open reservations of as many counters', (id) => call(id, 'reserve', id)],
  ['that settle what nobody opened', (id) => call('bob', 'settle', id)],
  ['that try one reservation again and again', () => call('cid', 'reserve', idOf(0))],
];

const stores = {
  memory: () => Promise.resolve({ BACKEND_TYPE: 'memory' }),
  Redis: async () => (await inRedis()).env,
};

afterAll(stopSmallServices);

describe.each(Object.entries(stores))('in %s', (_, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await startSmallService(RULES, await start());
  });

  it.each(floods)('decides exactly beside requests %s', async (what, descriptorOf) => {
    const client = createTestClient(service.grpc);
    const codes = new Set<number>();
    let sent = 0;
    const keepAsking = async () => {
      while (sent < CALLS) {
        const bytes = encodeRequest(request(...idsOf((sent += 1)).map(descriptorOf)));
        codes.add((await client.askBytes(bytes)).code);
      }
    };
    let beside: PacedAnswers | undefined;
    const { failures, worstMs, grownMb } = await besideAPoliteClient(service, async () => {
      const calls = Promise.all(Array.from({ length: CALLERS }, keepAsking));
      beside = await askPaced(service, request([['other', what]]), ALONE);
      await calls;
    });
    client.close();
    expectAlive(service);
    expect(failures).toEqual([]);
    expect([...codes]).toEqual([0]);
    const asked = (ALONE.perSecond * ALONE.forMs) / 1_000;
    expect(beside).toMatchObject({ admitted: ADMITTED, refused: asked - ADMITTED, failed: 0 });
    expectFigure({ name: 'longest wait of a decision', value: worstMs, unit: 'ms', below: 500 });
    expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: 100 });
  });
});
