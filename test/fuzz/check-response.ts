import { roomForResponse, writeResponse } from '../../src/wire/ratelimit/encode-response';
import type { WireResponse, WireStatus } from '../../src/wire/ratelimit/messages';
import { responseType } from '../unit/wire/ratelimit/schema';
import type { Random } from './random';
import { expectSame } from './target';

const UNITS = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'] as const;
const CODES = ['OK', 'OVER_LIMIT'] as const;
const TEXTS = [
  '',
  'a',
  'per user',
  'é'.repeat(64),
  'x'.repeat(127),
  'y'.repeat(128),
  '漢'.repeat(5_500),
];
const NUMBERS = [0, 1, 127, 128, 16_383, 16_384, 0xffff_ffff];
const GUARD = 0xee;
const GUARD_BYTES = 4;

/** Writes some response, and throws unless protobufjs reads the same and no octet outside of its room changed. */
export function checkResponse(random: Random): void {
  const response = someResponse(random);
  const room = roomForResponse(response);
  const memory = Buffer.alloc(room + 2 * GUARD_BYTES, GUARD);
  const end = writeResponse(response, memory, GUARD_BYTES);
  const around = Buffer.concat([
    memory.subarray(0, GUARD_BYTES),
    memory.subarray(GUARD_BYTES + room),
  ]);
  if (end > GUARD_BYTES + room || !around.every((octet) => octet === GUARD)) {
    throw new Error('a response is written beyond its room');
  }
  const read = responseType.decode(memory.subarray(GUARD_BYTES, end));
  expectSame('response', JSON.stringify(read.toJSON()), JSON.stringify(jsonOf(response)));
}

function someResponse(random: Random): WireResponse {
  const status = (): WireStatus => ({
    code: random.pick(CODES),
    currentLimit: random.oneIn(3)
      ? undefined
      : {
          requestsPerUnit: random.pick(NUMBERS),
          unit: random.pick(UNITS),
          name: random.pick(TEXTS),
        },
    limitRemaining: random.pick(NUMBERS),
    secondsUntilReset: random.oneIn(3) ? undefined : random.pick(NUMBERS),
  });
  const header = () => ({ key: random.pick(TEXTS), value: random.pick(TEXTS) });
  return {
    overallCode: random.pick(CODES),
    statuses: Array.from({ length: random.below(4) }, status),
    responseHeaders: Array.from({ length: random.below(3) }, header),
    dynamicMetadata: undefined,
  };
}

/** As protobufjs writes JSON: what is at its default in proto3 is not there. */
function jsonOf({ overallCode, statuses, responseHeaders }: WireResponse): object {
  return {
    overallCode: numberOf(overallCode),
    ...(statuses.length > 0 && { statuses: statuses.map(statusJson) }),
    ...(responseHeaders.length > 0 && {
      responseHeadersToAdd: responseHeaders.map(({ key, value }) => ({
        ...(key !== '' && { key }),
        ...(value !== '' && { value }),
      })),
    }),
  };
}

function statusJson({ code, currentLimit, limitRemaining, secondsUntilReset }: WireStatus): object {
  return {
    code: numberOf(code),
    ...(currentLimit !== undefined && { currentLimit: limitJson(currentLimit) }),
    ...(limitRemaining > 0 && { limitRemaining }),
    ...(secondsUntilReset !== undefined && {
      durationUntilReset: secondsUntilReset === 0 ? {} : { seconds: String(secondsUntilReset) },
    }),
  };
}

function limitJson({
  requestsPerUnit,
  unit,
  name,
}: NonNullable<WireStatus['currentLimit']>): object {
  return {
    ...(requestsPerUnit > 0 && { requestsPerUnit }),
    ...(unit !== 'UNKNOWN' && { unit: UNITS.indexOf(unit) + 1 }),
    ...(name !== '' && { name }),
  };
}

const numberOf = (code: (typeof CODES)[number]) => (code === 'OK' ? 1 : 2);
