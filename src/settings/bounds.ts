import { listOf } from '../platform/env-table/lists';
import { wholeNumber, word } from '../platform/env-table/scalars';
import type { Values } from '../platform/env-table/setting';
import { setting } from './setting';

/** Bounds on the cost of one request, one client and all clients together. */
export const boundsTable = {
  maxDescriptors: setting('MAX_DESCRIPTORS', wholeNumber(1, 100_000), {
    default: '256',
    doc: 'descriptors of a request; more are refused',
  }),
  maxEntries: setting('MAX_DESCRIPTOR_ENTRIES', wholeNumber(1, 100_000), {
    default: '64',
    doc: 'entries of a descriptor; more are refused',
  }),
  maxNameBytes: setting('MAX_NAME_BYTES', wholeNumber(1, 1_048_576), {
    default: '1024',
    doc: 'bytes of a domain and of a key; longer ones are refused',
  }),
  maxValueBytes: setting('MAX_VALUE_BYTES', wholeNumber(1, 4_194_304), {
    default: '65536',
    doc: 'bytes of a value; keep it above what the proxy allows for headers: a refused request passes a proxy that fails open',
  }),
  maxJsonBytes: setting('MAX_JSON_BYTES', wholeNumber(1_024, 16_777_216), {
    default: '1048576',
    doc: 'bytes of a /json body, as it arrives and unpacked',
  }),
  maxGrpcMessageBytes: setting('MAX_GRPC_MESSAGE_BYTES', wholeNumber(1_024, 16_777_216), {
    default: '4194304',
    doc: 'bytes of a gRPC message, as it arrives and unpacked',
  }),
  maxUnpackRatio: setting('MAX_UNPACK_RATIO', wholeNumber(1, 100_000), {
    default: '100',
    doc: 'times its packed size that a body above 256 KiB may unpack to',
  }),
  maxHeldBytes: setting('MAX_HELD_BYTES', wholeNumber(1_048_576), {
    default: '134217728',
    doc: 'bytes that all connections may hold (unread answers, unfinished messages); beyond, new work is refused and the connection that holds most is closed',
  }),
  maxConnections: setting('MAX_CONNECTIONS', wholeNumber(1, 1_000_000), {
    default: '10000',
    doc: 'connections of each port; more are closed as soon as they are accepted',
  }),
  debugAllowedHosts: setting('DEBUG_ALLOWED_HOSTS', listOf(word, '<host>'), {
    doc: 'further Host names that the debug port serves, with commas; addresses, localhost and names of one label always are',
  }),
};

export type BoundSettings = Values<typeof boundsTable>;
