import {
  createCursor,
  fail,
  readEnd,
  readTag,
  skipField,
  startAt,
  type Malformed,
} from '../protobuf/read';
import { readText } from '../protobuf/text';

/** grpc.health.v1.HealthCheckResponse.ServingStatus. */
export type ServingStatus = 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';

const SERVING_NUMBERS: Readonly<Record<ServingStatus, number>> = {
  UNKNOWN: 0,
  SERVING: 1,
  NOT_SERVING: 2,
  SERVICE_UNKNOWN: 3,
};

/** Longer names are refused before they are decoded: no service here has one. */
export const MAX_SERVICE_NAME_BYTES = 1_024;

/** Decodes grpc.health.v1.HealthCheckRequest and returns its service name. */
export function decodeHealthRequest(
  bytes: Uint8Array,
  start: number,
  end: number,
): string | Malformed {
  const cursor = createCursor();
  startAt(cursor, bytes, start, end);
  let service = '';
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag !== 0x0a) {
      skipField(cursor, tag);
      continue;
    }
    const textEnd = readEnd(cursor);
    const isTooLong = textEnd - cursor.at > MAX_SERVICE_NAME_BYTES;
    const text = isTooLong ? '' : readText(bytes, cursor.at, textEnd);
    cursor.at = textEnd;
    if (isTooLong)
      fail(cursor, `a service name is longer than ${String(MAX_SERVICE_NAME_BYTES)} bytes`);
    else if (text === undefined) fail(cursor, 'a string is not valid UTF-8');
    else service = text;
  }
  return cursor.fault === undefined ? service : { kind: 'malformed', reason: cursor.fault };
}

/** Encodes grpc.health.v1.HealthCheckResponse. */
export function encodeHealthResponse(status: ServingStatus): Uint8Array {
  const number = SERVING_NUMBERS[status];
  return number === 0 ? new Uint8Array(0) : Uint8Array.of(0x08, number);
}
