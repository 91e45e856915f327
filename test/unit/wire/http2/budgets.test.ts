import {
  createTokenBucket,
  RAPID_RESET_AGE_MS,
  RAPID_RESETS,
  RESETS,
  tryTake,
} from '../../../../src/wire/http2/budgets';
import { ping, request, rst } from '../../../support/h2-frames';
import { openH2Session, type H2Session } from '../../../support/h2-session';

/** What frames.txt cannot say: loops by time, and what is read between them. */

const CALM = 11;
const HEADERS = Buffer.from([0x88]);

function expectCalm(session: H2Session, budget: string): void {
  expect(session.connection.failure).toMatchObject({ errorCode: CALM, budget });
  expect(session.connection).toMatchObject({
    wantsClose: true,
    openStreams: 0,
    queuedResponseBytes: 0,
  });
}

describe('an bucket', () => {
  const budget = { name: 'TEST', burst: 3, perSecond: 2, perResponse: 1 };

  it('lasts for its burst, and comes back with time and with answers, never above the burst', () => {
    const bucket = createTokenBucket(budget);
    const takeAll = (nowMs: number, answers: number) => {
      let count = 0;
      while (count < 100 && tryTake(bucket, nowMs, answers)) count++;
      return count;
    };
    expect(takeAll(0, 0)).toBe(3);
    expect(takeAll(499, 0)).toBe(0);
    expect(takeAll(1499, 0)).toBe(2);
    expect(takeAll(1499, 1)).toBe(1);
    expect(takeAll(1_000_000, 500)).toBe(3);
    expect(takeAll(0, 500)).toBe(0); // a clock that goes back earns nothing
  });

  it('takes several at once, or none of them, and keeps what was left', () => {
    const bucket = createTokenBucket(budget);
    expect(tryTake(bucket, 0, 0, 2)).toBe(true);
    expect(tryTake(bucket, 0, 0, 2)).toBe(false);
    expect(tryTake(bucket, 0, 1, 2)).toBe(true);
    expect(tryTake(bucket, 0, 1, 4)).toBe(false);
  });
});

describe('rapid reset (CVE-2023-44487)', () => {
  it('lets Envoy time out all of its 1,024 calls at once, over and over', () => {
    const session = openH2Session();
    const ids = (round: number) => Array.from({ length: 1024 }, (_, i) => round * 2048 + 2 * i + 1);
    for (let round = 0; round < 100; round++) {
      session.send(...ids(round).map((id) => request(id)));
      session.nowMs += 20;
      session.send(...ids(round).map((id) => rst(id, 2)));
      session.connection.takeOutput();
    }
    expect(session.connection.failure).toBeUndefined();
    expect(session.connection.requestCount).toBe(102_400);
    expect(session.replies()).toEqual([]);
  });

  it('ends a connection that keeps its streams just long enough, over and over', () => {
    const session = openH2Session();
    let opened = 0;
    for (let round = 0; round < 300 && !session.connection.wantsClose; round++) {
      const ids = Array.from({ length: 1024 }, () => 2 * opened++ + 1);
      session.send(...ids.map((id) => request(id)));
      session.nowMs += RAPID_RESET_AGE_MS;
      session.send(...ids.map((id) => rst(id)));
      session.connection.takeOutput();
    }
    expectCalm(session, 'RESETS');
    // One burst, and what came back in half a second.
    expect(session.connection.requestCount).toBeLessThan(1.6 * RESETS.burst);
  });

  it('lets Envoy time out all of its 1,024 calls after 20 ms for as long as an outage lasts', () => {
    const resets = createTokenBucket(RESETS);
    for (let nowMs = 20; nowMs < 600_000; nowMs += 20)
      expect(tryTake(resets, nowMs, 0, 1024)).toBe(true);
    expect(RAPID_RESETS.burst).toBeGreaterThanOrEqual(4096);
  });
});

describe('replies that are not read', () => {
  it('stop a peer that sends and sends but does not read our replies', () => {
    const session = openH2Session();
    let most = 0;
    for (let i = 0; i < 200_000 && !session.connection.wantsClose; i++) {
      session.send(ping());
      most = Math.max(most, session.connection.pendingOutputBytes);
    }
    expectCalm(session, 'PINGS');
    expect(most).toBeLessThan(32_768);
  });

  it('stop one whose replies are all earned by work, too', () => {
    const session = openH2Session();
    for (let i = 0; i < 6000 && !session.connection.wantsClose; i++) {
      session.send(request(2 * i + 1, 0));
      const stream = session.stream(2 * i + 1);
      session.connection.sendHeaders(stream, HEADERS, true); // answered early: RST_STREAM goes with it
    }
    expectCalm(session, 'MAX_WAITING_REPLIES');
  });
});
