import type { HeaderList } from '../api';
import { FieldKind, type HeaderField } from './header-field';

/** A header list with all that there is to judge about it; judged while it is decoded, once per list. */
export interface DecodedHeaders extends HeaderList {
  readonly names: string[];
  readonly values: string[];
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2). Beyond the limit fields are counted, not kept. */
  listBytes: number;
  /** What is wrong with a field, whatever the list is for. */
  fault: string | undefined;
  /** Bits `1 << FieldKind` of the pseudo fields that were seen, and CONNECT. */
  seen: number;
  /** Whether a regular field was seen: pseudo fields must not follow it. */
  regular: boolean;
  /** The value of content-length, or -1. */
  contentLength: number;
}

export const NO_CONTENT_LENGTH = -1;

const METHOD = 1 << FieldKind.method;
const SCHEME = 1 << FieldKind.scheme;
const PATH = 1 << FieldKind.path;
const AUTHORITY = 1 << FieldKind.authority;
const CONNECT = 1 << 30;

export function createHeaderList(): DecodedHeaders {
  return {
    names: [],
    values: [],
    memo: undefined,
    listBytes: 0,
    fault: undefined,
    seen: 0,
    regular: false,
    contentLength: NO_CONTENT_LENGTH,
  };
}

export function addField(
  list: DecodedHeaders,
  maxListBytes: number,
  { name, value, kind, size, valueOk }: HeaderField,
): void {
  list.listBytes += size;
  if (list.listBytes > maxListBytes) return;
  list.names.push(name);
  list.values.push(value);
  if (kind === FieldKind.regular || kind === FieldKind.replaced) list.regular = true;
  else judgeField(list, kind, value);
  if (!valueOk) list.fault = BAD_VALUE;
}

/** The same for a regular field that nobody reads. */
export function countField(
  list: DecodedHeaders,
  maxListBytes: number,
  size: number,
  valueOk: boolean,
): void {
  list.listBytes += size;
  if (list.listBytes > maxListBytes) return;
  list.regular = true;
  if (!valueOk) list.fault = BAD_VALUE;
}

const BAD_VALUE = 'a field value holds a forbidden octet';

function judgeField(list: DecodedHeaders, kind: number, value: string): void {
  if (kind <= FieldKind.foreignPseudo) judgePseudo(list, kind, value);
  else judgeRegular(list, kind, value);
}

/** RFC 9113 §8.3 and §8.3.1. */
function judgePseudo(list: DecodedHeaders, kind: number, value: string): void {
  const bit = 1 << kind;
  if (kind === FieldKind.foreignPseudo) list.fault = 'a pseudo field is not one of a request';
  else if (list.regular) list.fault = 'a pseudo field follows a regular one';
  else if ((list.seen & bit) !== 0) list.fault = 'a pseudo field is there twice';
  else if (kind === FieldKind.path && value === '') list.fault = 'the path is empty';
  list.seen |= bit;
  if (kind === FieldKind.method && value === 'CONNECT') list.seen |= CONNECT;
}

/** RFC 9113 §8.2. */
function judgeRegular(list: DecodedHeaders, kind: number, value: string): void {
  list.regular = true;
  if (kind === FieldKind.contentLength) judgeContentLength(list, value);
  else if (kind === FieldKind.badName) list.fault = 'a field name is not a lower case token';
  else if (kind === FieldKind.connectionSpecific) list.fault = 'a field belongs to http/1 only';
  else if (value !== 'trailers') list.fault = 'the field te is not "trailers"';
}

function judgeContentLength(list: DecodedHeaders, value: string): void {
  const length = /^[0-9]{1,15}$/.test(value) ? Number(value) : NO_CONTENT_LENGTH;
  const agrees = list.contentLength === NO_CONTENT_LENGTH || list.contentLength === length;
  if (length === NO_CONTENT_LENGTH || !agrees) list.fault = 'content-length is not one number';
  list.contentLength = length;
}

/** Why a list cannot begin a request, or undefined (RFC 9113 §8.3.1, §8.5). */
export function requestFault(list: DecodedHeaders): string | undefined {
  if (list.fault !== undefined) return list.fault;
  const needed = METHOD | SCHEME | PATH;
  if ((list.seen & CONNECT) === 0) {
    return (list.seen & needed) === needed ? undefined : 'a pseudo field is missing';
  }
  const connects = (list.seen & (needed | AUTHORITY)) === (METHOD | AUTHORITY);
  return connects ? undefined : 'connect needs an authority, and neither scheme nor path';
}

/** Why a list cannot be trailers, or undefined (RFC 9113 §8.1). */
export function trailersFault(list: DecodedHeaders): string | undefined {
  if (list.fault !== undefined) return list.fault;
  return list.seen === 0 ? undefined : 'trailers hold a pseudo field';
}
