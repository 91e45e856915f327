import { createOwnerLink } from '../../../../../src/app/workers/worker/owner-link';
import type { FromWorker, ToWorker } from '../../../../../src/app/workers/messages';
import { DEFAULT_REQUEST_BOUNDS } from '../../../../../src/core/decision/request';
import { listLimits } from '../../../../../src/core/rules/dump';
import { definitionsOf } from '../../../../support/rules';

const HOUR = 3_600;

function start() {
  const said: FromWorker[] = [];
  const nothing = () => undefined;
  const link = createOwnerLink(
    (message) => said.push(message),
    {
      ...{ start: nothing, collect: nothing, watch: nothing, profile: nothing, drain: nothing },
      ...{ 'count-connections': nothing, 'keep-connections': nothing },
    },
    { bounds: DEFAULT_REQUEST_BOUNDS },
  );
  const inForce = async (number: number) => {
    while (!said.some((message) => message.kind === 'in-force' && message.number === number))
      await new Promise((resolve) => setImmediate(resolve));
  };
  return { link, inForce };
}

/** A zone that lies so many hours east of UTC. */
const zone = (hours: number): ToWorker => ({
  kind: 'zone',
  name: 'Europe/Berlin',
  zone: {
    data: { changes: [], offsets: [hours * HOUR], yearly: undefined },
    origin: { source: 'package', release: '2026f' },
  },
});

const rulesOf = (timeZone: string | undefined): ToWorker => {
  const calendar = timeZone && { timeZone, weekStart: 'monday', monthStart: 1 };
  const limit = { unit: 'DAY', requestsPerUnit: 1, ...(calendar && { calendar }) } as const;
  const rules = definitionsOf([{ key: 'user', limit: limit as never }]);
  return { kind: 'rules-part', chunk: [{ domain: 'shop', rules }] };
};

it('compiles each set of rules with the zones that the owner sent before it', async () => {
  const { link, inForce } = start();
  link.take(zone(5));
  link.take(rulesOf('Europe/Berlin'));
  link.take({ kind: 'rules', number: 1 });
  // Before the first set is compiled.
  link.take(zone(7));
  link.take(rulesOf('Europe/Berlin'));
  link.take({ kind: 'rules', number: 2 });
  link.take(rulesOf(undefined));
  link.take({ kind: 'rules', number: 3 });
  const ends: (number | undefined)[] = [];
  link.rules.changes$.subscribe((rules) => {
    if (rules === undefined) return;
    const [place] = listLimits(rules);
    ends.push(place?.limit.windowAt?.(0).endSeconds);
  });
  await inForce(3);
  expect(ends).toEqual([19 * HOUR, 17 * HOUR, undefined]);
  link.close();
});
