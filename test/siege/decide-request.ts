import type { DecisionRequest } from '../../src/core/model';
import type { Increment, PendingRequest } from '../../src/core/ports';
import type { Rules } from '../../src/core/rules/rules';
import { createDecideBatch } from '../../src/decisions/decide-batch';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { printDecision } from '../../src/transport/http/json-endpoint';
import { parseRequest } from '../../src/transport/http/json-request';
import {
  createRequestDecoder,
  isMalformed,
  type DecodeRequest,
} from '../../src/wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../src/wire/ratelimit/encode-response';

/** Bounds that nothing here reaches: what lies after them must be linear all the same. */
const NO_BOUNDS = {
  maxDescriptors: Infinity,
  maxEntries: Infinity,
  maxNameBytes: Infinity,
  maxValueBytes: Infinity,
};
const newDecoder: (bounds: typeof NO_BOUNDS) => DecodeRequest = createRequestDecoder;
const parseJson: (text: string, bounds: typeof NO_BOUNDS) => ReturnType<typeof parseRequest> =
  parseRequest;
const decode = newDecoder(NO_BOUNDS);
const after = (increments: readonly Increment[]) => increments.map(() => 7);

export interface Way {
  /** memcached reads before it adds. */
  readonly readFirst?: boolean;
  /** STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT. */
  readonly holdBack?: boolean;
  readonly answers?: 'gRPC' | '/json';
}

/** Decides in one batch and does with the answers and the tally what a transport and the statistics do. */
export async function decideAll(
  rules: Rules,
  requests: readonly DecisionRequest[],
  { readFirst = false, holdBack = false, answers = 'gRPC' }: Way = {},
): Promise<void> {
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters: {
        add: ({ increments }) =>
          Promise.resolve({ after: after(increments), held: undefined, failures: undefined }),
      },
      clock: () => 1_795_240_000,
      random: () => 0.5,
      onFault: (error) => {
        throw error;
      },
    },
    {
      keyPrefix: '',
      ttlJitterSeconds: 300,
      holdBack,
      nearLimitRatio: 0.8,
      quotaMode: false,
      shadowMode: false,
      headers: { limit: 'limit', remaining: 'remaining', reset: 'reset' },
      dynamicMetadata: true,
      readFirst,
    },
  );
  const responder: PendingRequest['responder'] = {
    answer(_, answer) {
      if (answer.kind !== 'decision') throw new Error(answer.message);
      if (answers === '/json') printDecision(answer);
      else writeResponse(answer, new Uint8Array(roomForResponse(answer)), 0);
      return true;
    },
  };
  const batchStats = await decideBatch(
    requests.map((request) => ({ request, responder, callId: 0 })),
  );
  createRecordStats(createRegistry())(batchStats);
}

/** A gRPC message, from its bytes to the bytes of its answer. */
export function decideBytes(rules: Rules, bytes: Uint8Array, way?: Way): Promise<void> {
  const request = decode(bytes, 0, bytes.length);
  if (isMalformed(request)) throw new Error(request.reason);
  return decideAll(rules, [request], way);
}

/** A body of `/json`, from its text to the text of its answer. */
export function decideJson(rules: Rules, text: string): Promise<void> {
  const request = parseJson(text, NO_BOUNDS);
  if (!('descriptors' in request)) throw new Error(request.message);
  return decideAll(rules, [request], { answers: '/json' });
}
