import { createCursor, readEnd, readTag, skipField, startAt } from '../../wire/protobuf/read';
import { roomForBytes, writeBytes } from '../../wire/protobuf/write';
import { DESCRIPTOR_FILES } from './generated/descriptors';
import { StatusCode } from '../../wire/grpc/status';

/**
 * grpc.reflection.v1.ServerReflection in bytes, for either server; v1alpha has the same messages. The descriptors are generated
 * from the .proto files, so nothing is parsed at run time, and each answer is made once: there are as many as files, whatever the
 * requests.
 */

/** Numbers of the requests in ServerReflectionRequest. */
const FILE_BY_FILENAME = 3;
const FILE_CONTAINING_SYMBOL = 4;
const LIST_SERVICES = 7;
/** Numbers of the answers in ServerReflectionResponse. */
const VALID_HOST = 1;
const ORIGINAL_REQUEST = 2;
const FILE_DESCRIPTOR_RESPONSE = 4;
const LIST_SERVICES_RESPONSE = 6;
const ERROR_RESPONSE = 7;

const SERVICES = [
  'envoy.service.ratelimit.v3.RateLimitService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];

const FILES_BY_NAME = new Map(DESCRIPTOR_FILES.map((file) => [file.name, file]));
const NAMES_BY_SYMBOL = new Map(
  DESCRIPTOR_FILES.flatMap(({ name, symbols }) => symbols.map((symbol) => [symbol, name])),
);

/** The encoded answer to an encoded ServerReflectionRequest; undefined when it is invalid. */
export function answerReflection(request: Uint8Array): Buffer | undefined {
  const fields = readTexts(request);
  if (fields === undefined) return undefined;
  return Buffer.concat([
    encodeField(VALID_HOST, Buffer.from(fields.get(1) ?? '')),
    encodeField(ORIGINAL_REQUEST, request),
    answer(fields),
  ]);
}

const SERVICES_ANSWER = encodeField(
  LIST_SERVICES_RESPONSE,
  Buffer.concat(SERVICES.map((name) => encodeField(1, encodeField(1, Buffer.from(name))))),
);
/** Made on first use; the names are those of our files. */
const FILES_ANSWERS = new Map<string, Buffer>();

function answer(fields: ReadonlyMap<number, string>): Buffer {
  if (fields.has(LIST_SERVICES)) return SERVICES_ANSWER;
  const name = fields.get(FILE_BY_FILENAME);
  if (name !== undefined) return filesAnswer(name) ?? unknown('file', name);
  const symbol = fields.get(FILE_CONTAINING_SYMBOL);
  if (symbol !== undefined) {
    return filesAnswer(NAMES_BY_SYMBOL.get(symbol) ?? '') ?? unknown('symbol', symbol);
  }
  // The other requests concern proto2 extensions.
  return errorAnswer(StatusCode.notFound, 'there are no extensions here');
}

/** A file and all that it imports. */
function filesAnswer(name: string): Buffer | undefined {
  if (!FILES_BY_NAME.has(name)) return undefined;
  const known = FILES_ANSWERS.get(name);
  if (known !== undefined) return known;
  const made = makeFilesAnswer(name);
  FILES_ANSWERS.set(name, made);
  return made;
}

function makeFilesAnswer(name: string): Buffer {
  const wanted = new Set([name]);
  // A set that grows while it is iterated: the iteration reaches the added items.
  for (const file of wanted) {
    for (const imported of FILES_BY_NAME.get(file)?.imports ?? []) wanted.add(imported);
  }
  const files = [...wanted].map((file) =>
    encodeField(1, Buffer.from(FILES_BY_NAME.get(file)?.base64 ?? '', 'base64')),
  );
  return encodeField(FILE_DESCRIPTOR_RESPONSE, Buffer.concat(files));
}

/** A longer name would come back up to six times as long. */
const MAX_SHOWN_LENGTH = 1_024;

function unknown(what: string, name: string): Buffer {
  const shown = JSON.stringify(name.slice(0, MAX_SHOWN_LENGTH));
  return errorAnswer(StatusCode.notFound, `${what} ${shown} is not known`);
}

function errorAnswer(code: number, message: string): Buffer {
  const error = [Buffer.from([0x08, code]), encodeField(2, Buffer.from(message))];
  return encodeField(ERROR_RESPONSE, Buffer.concat(error));
}

/** The string fields of a message by their numbers. */
function readTexts(bytes: Uint8Array): Map<number, string> | undefined {
  const texts = new Map<number, string>();
  const cursor = createCursor();
  startAt(cursor, bytes, 0, bytes.length);
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if ((tag & 7) !== 2) {
      skipField(cursor, tag);
      continue;
    }
    const end = readEnd(cursor);
    texts.set(tag >>> 3, Buffer.from(bytes.subarray(cursor.at, end)).toString('utf8'));
    cursor.at = end;
  }
  return cursor.fault === undefined ? texts : undefined;
}

/** A length-delimited field. */
function encodeField(number: number, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(roomForBytes(content));
  return bytes.subarray(0, writeBytes(bytes, 0, (number << 3) | 2, content));
}
