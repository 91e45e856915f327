import { connectAttacker, openCall, ponged, repeat, wholeCall } from '../support/edge/h2-attacker';
import { rst } from '../support/h2-frames';
import { besideAPoliteClient, startWarmService } from '../support/edge/h2-siege';
import { eventually } from '../support/edge/eventually';
import { stopServices, type Service } from '../support/edge/service';
import { ATTACKS, CALMED, MAX_GROWTH_MB, attackOnce } from '../support/edge/wire-attacks';

const INTERNAL_ERROR = 2;

let service: Service;

beforeAll(async () => {
  service = await startWarmService();
});
afterAll(stopServices);

it.each(ATTACKS)('ends %s each time, and answers others meanwhile', async (_, make) => {
  const bytes = make();
  const ends: string[] = [];
  const { failures, grownMb } = await besideAPoliteClient(service, async () => {
    for (let i = 0; i < 3; i++) ends.push(await attackOnce(service, bytes));
  });
  expect(ends).toEqual([CALMED, CALMED, CALMED]);
  expect(failures).toEqual([]);
  expect(grownMb).toBeLessThan(MAX_GROWTH_MB);
});

it('does not take the time-outs of a thousand calls for an attack, also when it stalls', async () => {
  const proxy = await connectAttacker(service.grpc);
  await proxy.send(repeat(1_000, openCall));
  await ponged(proxy);
  await proxy.send(repeat(1_000, (id) => rst(id, INTERNAL_ERROR)));
  await ponged(proxy);
  service.child.kill('SIGSTOP');
  await proxy.send(repeat(1_000, wholeCall, 2_001));
  await proxy.send(repeat(1_000, (id) => rst(id, INTERNAL_ERROR), 2_001));
  service.child.kill('SIGCONT');
  await ponged(proxy);
  await proxy.send(wholeCall(4_001));
  await eventually(() => {
    expect(proxy.seen()).toContain('headers#4001 end');
  });
  expect(proxy.seen().filter((seen) => seen.startsWith('goAway'))).toEqual([]);
  proxy.socket.destroy();
});
