import type { HeaderList } from '../api';
import { FieldKind, type HeaderField } from './header-field';

/** All that there is to judge about a header list; judged while it is decoded, once per list. */
interface Judgement {
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

export type DecodedHeaders = HeaderList & Readonly<Judgement>;

/** A list that is being decoded: the first `count` names and values. One is used for all lists of a connection. */
export interface HeaderDraft extends Judgement {
  readonly names: string[];
  readonly values: string[];
  count: number;
}

export const NO_CONTENT_LENGTH = -1;
/** Lists above this size are not held on to: a connection must not cost memory because of what it said once. */
export const LARGEST_KEPT = 4096;

const METHOD = 1 << FieldKind.method;
const SCHEME = 1 << FieldKind.scheme;
const PATH = 1 << FieldKind.path;
const AUTHORITY = 1 << FieldKind.authority;
const CONNECT = 1 << 30;

export function createHeaderDraft(): HeaderDraft {
  return {
    names: [],
    values: [],
    count: 0,
    listBytes: 0,
    fault: undefined,
    seen: 0,
    regular: false,
    contentLength: NO_CONTENT_LENGTH,
  };
}

export function beginList(draft: HeaderDraft): void {
  draft.count = 0;
  draft.listBytes = 0;
  draft.fault = undefined;
  draft.seen = 0;
  draft.regular = false;
  draft.contentLength = NO_CONTENT_LENGTH;
}

/**
 * The list that was drafted; the list before when that says the same, with what its owner made of it: blocks that
 * differ only in fields that nobody reads make no new list.
 */
export function finishList(draft: HeaderDraft, before: DecodedHeaders | undefined): DecodedHeaders {
  if (before !== undefined && isSame(draft, before)) return before;
  const { names, values, count, listBytes, fault, seen, regular, contentLength } = draft;
  const list: DecodedHeaders = {
    names: names.slice(0, count),
    values: values.slice(0, count),
    memo: undefined,
    listBytes,
    fault,
    seen,
    regular,
    contentLength,
  };
  if (listBytes > LARGEST_KEPT) {
    names.length = 0;
    values.length = 0;
  }
  return list;
}

function isSame(draft: HeaderDraft, list: DecodedHeaders): boolean {
  return (
    draft.count === list.names.length &&
    draft.listBytes === list.listBytes &&
    draft.fault === list.fault &&
    draft.seen === list.seen &&
    draft.regular === list.regular &&
    draft.contentLength === list.contentLength &&
    hasFieldsOf(draft, list)
  );
}

function hasFieldsOf({ names, values, count }: HeaderDraft, list: DecodedHeaders): boolean {
  for (let i = 0; i < count; i++) {
    if (values[i] !== list.values[i] || names[i] !== list.names[i]) return false;
  }
  return true;
}

export function addField(
  list: HeaderDraft,
  maxListBytes: number,
  { name, value, kind, size, valueOk }: HeaderField,
): void {
  list.listBytes += size;
  if (list.listBytes > maxListBytes) return;
  list.names[list.count] = name;
  list.values[list.count] = value;
  list.count++;
  if (kind === FieldKind.regular || kind === FieldKind.replaced) list.regular = true;
  else judgeField(list, kind, value);
  if (!valueOk) list.fault = BAD_VALUE;
}

/** The same for a regular field that nobody reads. */
export function countField(
  list: HeaderDraft,
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

function judgeField(list: HeaderDraft, kind: number, value: string): void {
  if (kind <= FieldKind.foreignPseudo) judgePseudo(list, kind, value);
  else judgeRegular(list, kind, value);
}

/** RFC 9113 §8.3 and §8.3.1. */
function judgePseudo(list: HeaderDraft, kind: number, value: string): void {
  const bit = 1 << kind;
  if (kind === FieldKind.foreignPseudo) list.fault = 'a pseudo field is not one of a request';
  else if (list.regular) list.fault = 'a pseudo field follows a regular one';
  else if ((list.seen & bit) !== 0) list.fault = 'a pseudo field is there twice';
  else if (kind === FieldKind.path && value === '') list.fault = 'the path is empty';
  list.seen |= bit;
  if (kind === FieldKind.method && value === 'CONNECT') list.seen |= CONNECT;
}

/** RFC 9113 §8.2. */
function judgeRegular(list: HeaderDraft, kind: number, value: string): void {
  list.regular = true;
  if (kind === FieldKind.contentLength) judgeContentLength(list, value);
  else if (kind === FieldKind.badName) list.fault = 'a field name is not a lower case token';
  else if (kind === FieldKind.connectionSpecific) list.fault = 'a field belongs to http/1 only';
  else if (value !== 'trailers') list.fault = 'the field te is not "trailers"';
}

function judgeContentLength(list: HeaderDraft, value: string): void {
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
