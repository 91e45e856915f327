/**
 * A limit on useless work that a peer causes. Each budget names the attack that it stops; an honest peer never comes
 * near. A breach ends the connection with GOAWAY ENHANCE_YOUR_CALM.
 */
export interface AttackBudget {
  readonly name: string;
  /** Tokens of a full bucket. */
  readonly burst: number;
  /** Tokens refilled per second. */
  readonly perSecond: number;
  /** Tokens refilled per completed response: peers that let us do useful work may send more control frames. */
  readonly perResponse: number;
}

/**
 * Rapid reset (CVE-2023-44487): streams opened and reset at once, which no limit on open streams stops. Only young
 * resets count (RAPID_RESET_AGE_MS). Envoy resets a call at its time-out, 20 ms by default, and up to 1,024 of them
 * at once; when we stall they all look young, and so do those that it opened meanwhile: hence four times 1,024.
 */
export const RAPID_RESETS: AttackBudget = {
  name: 'RAPID_RESETS',
  burst: 4096,
  perSecond: 1024,
  perResponse: 1,
};
/** An older stream has used up its share of the concurrent streams; its reset charges RESETS only. */
export const RAPID_RESET_AGE_MS = 5;

/**
 * Resets of streams of any age: without this budget, 1,024 streams at once that are reset at 5 ms are 204,800 calls a
 * second for nothing. A proxy resets every call that times out while the store is away: Envoy with 1,024 concurrent calls
 * and its time-out of 20 ms sends 51,200 resets a second, so 65,536 a second never run out. The burst is one
 * second of that, 16 times the 4,096 streams that may be open before the peer knows our limit.
 */
export const RESETS: AttackBudget = {
  name: 'RESETS',
  burst: 65_536,
  perSecond: 65_536,
  perResponse: 1,
};

/** Made you reset (CVE-2025-8671): frames that provoke our own RST_STREAM after the work has begun. */
export const PROVOKED_RESETS: AttackBudget = {
  name: 'PROVOKED_RESETS',
  burst: 256,
  perSecond: 8,
  perResponse: 0,
};

/** PING flood (CVE-2019-9512). Clients that measure their bandwidth send one per round trip that brings data. */
export const PINGS: AttackBudget = { name: 'PINGS', burst: 1024, perSecond: 128, perResponse: 2 };

/**
 * SETTINGS flood (CVE-2019-9515); a frame may also cost a walk over all open streams. It costs one token, and one more per
 * SETTINGS_PER_TOKEN entries: clients send up to 8 entries, and a frame has room for 2,730.
 */
export const SETTINGS_FRAMES: AttackBudget = {
  name: 'SETTINGS_FRAMES',
  burst: 64,
  perSecond: 8,
  perResponse: 0,
};

export const SETTINGS_PER_TOKEN = 32;

/** Empty frames (CVE-2019-9518): DATA without content or END_STREAM, also when it is all padding. */
export const EMPTY_FRAMES: AttackBudget = {
  name: 'EMPTY_FRAMES',
  burst: 128,
  perSecond: 16,
  perResponse: 1,
};

/** Tiny windows (CVE-2019-9511, CVE-2019-9517): a WINDOW_UPDATE for every byte that we send. */
export const WINDOW_UPDATES: AttackBudget = {
  name: 'WINDOW_UPDATES',
  burst: 4096,
  perSecond: 512,
  perResponse: 4,
};

/**
 * Frames without effect: PRIORITY (CVE-2019-9513), unknown types, frames on closed streams. An honest peer's RST_STREAM
 * crosses our response, up to 1,024 at once.
 */
export const IGNORED_FRAMES: AttackBudget = {
  name: 'IGNORED_FRAMES',
  burst: 4096,
  perSecond: 512,
  perResponse: 4,
};

/**
 * Replies (PING and SETTINGS ACK, RST_STREAM, WINDOW_UPDATE) that wait for `takeOutput`, which the owner does not call
 * unless the peer reads (CVE-2019-9512, CVE-2019-9514, CVE-2019-9515: internal buffering).
 */
export const MAX_WAITING_REPLIES = 4096;

/** Bytes of responses that wait for the peer's windows (CVE-2019-9517: internal data buffering). */
export const MAX_QUEUED_BYTES = 1_048_576;

/** After waiting this long for the peer's window a response's stream is reset (zero-window stall, CVE-2019-9511). */
export const STALL_MS = 30_000;

/** Time for a frame, the preface or a header block from its first byte to its last (slow loris). */
export const SLOW_FRAME_MS = 30_000;

/** CONTINUATION flood (CVE-2024-27316): frames of one header block, and its bytes before decoding. */
export const MAX_BLOCK_FRAMES = 32;
export const MAX_BLOCK_BYTES = 65_536;

/**
 * HPACK bombs (CVE-2016-6581): a short block that expands to a long list. Beyond the limit the fields are counted but not
 * kept and the stream is refused; beyond this multiple of the limit the connection ends.
 */
export const LIST_BYTES_FACTOR = 16;

/** Concurrent streams before the peer has acknowledged our limit, which it may not know yet. */
export const MAX_STREAMS_BEFORE_ACK = 4096;

/** The tokens of a budget on one connection. */
export interface TokenBucket {
  readonly budget: AttackBudget;
  left: number;
  refilledAtMs: number;
  /** The connection's count of completed responses at the last refill. */
  responses: number;
}

export function createTokenBucket(budget: AttackBudget): TokenBucket {
  return { budget, left: budget.burst, refilledAtMs: 0, responses: 0 };
}

/** Takes `count` tokens; false is a breach. `responses` is the connection's count of completed responses. */
export function tryTake(bucket: TokenBucket, nowMs: number, responses: number, count = 1): boolean {
  if (bucket.left < count) refill(bucket, nowMs, responses);
  if (bucket.left < count) return false;
  bucket.left -= count;
  return true;
}

/** Adds the tokens earned since the last refill; called only when too few are left. */
function refill(bucket: TokenBucket, nowMs: number, responses: number): void {
  const { burst, perSecond, perResponse } = bucket.budget;
  const byTime = (Math.max(0, nowMs - bucket.refilledAtMs) * perSecond) / 1000;
  const byResponses = (responses - bucket.responses) * perResponse;
  bucket.left = Math.min(burst, bucket.left + Math.floor(byTime + byResponses));
  bucket.refilledAtMs = nowMs;
  bucket.responses = responses;
}
