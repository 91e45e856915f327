import {
  beginHeaders,
  connectAttacker,
  connectRaw,
  repeat,
  wholeCall,
  type Attacker,
} from '../support/h2-attacker';
import { PREFACE, hello } from '../support/h2-frames';
import { besideAPoliteClient, startWarmService } from '../support/h2-siege';
import { stopServices } from '../support/service';

const MAX_GROWTH_MB = 64;
const INITIAL_WINDOW_SIZE = 4;

afterAll(stopServices);

/** All of them at once, because each takes as long as our patience with it. */
it('cuts those who keep it waiting, each in its time', async () => {
  const service = await startWarmService();
  const address = service.grpc;
  const silent = await connectRaw(address);
  const slow = await connectRaw(address);
  const unconfirmed = await connectRaw(address);
  const windowless = await connectAttacker(address, [INITIAL_WINDOW_SIZE, 0]);
  const unfinished = await connectAttacker(address);
  // Answers no PING: as if the network had gone.
  const gone = await connectAttacker(address);

  const seconds = new Map<string, number>();
  const began = Date.now();
  const timed = async (name: string, { closed }: Attacker) => {
    await closed;
    seconds.set(name, (Date.now() - began) / 1_000);
  };
  const outcome = await besideAPoliteClient(
    service,
    async () => {
      const stopTrickle = trickle(slow, PREFACE, 3_000);
      await unconfirmed.send(hello());
      await windowless.send(repeat(800, wholeCall));
      await unfinished.send(beginHeaders(1).subarray(0, 20));
      const all = { silent, slow, unconfirmed, windowless, unfinished, gone };
      await Promise.all(Object.entries(all).map(([name, one]) => timed(name, one)));
      stopTrickle();
    },
    50,
  );
  console.info('cut after seconds', Object.fromEntries(seconds), outcome);

  const between = (name: string, from: number, to: number) => {
    expect(seconds.get(name)).toBeGreaterThan(from);
    expect(seconds.get(name)).toBeLessThan(to);
  };
  between('silent', 9, 14);
  between('slow', 9, 14);
  between('unconfirmed', 19, 25);
  between('windowless', 29, 36);
  between('unfinished', 29, 36);
  between('gone', 79, 88);
  expect(unconfirmed.seen().at(-1)).toMatch(/^goAway 4 /);
  expect(unfinished.seen().at(-1)).toMatch(/^goAway 11 /);
  expect(windowless.seen()).toContain('rst#1 8');
  expect(windowless.seen().at(-1)).toMatch(/^goAway 11 /);
  expect(outcome.failures).toEqual([]);
  expect(outcome.grownMb).toBeLessThan(MAX_GROWTH_MB);
}, 110_000);

/** Sends octet by octet. */
function trickle({ socket }: Attacker, octets: Buffer, everyMs: number): () => void {
  let at = 0;
  const timer = setInterval(() => socket.write(octets.subarray(at, ++at)), everyMs);
  return () => {
    clearInterval(timer);
  };
}
