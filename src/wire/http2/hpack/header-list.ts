import { FieldKind, type HeaderField } from './header-field';

/** A decoded header list in wire order, pseudo headers first. Names are lower case; bytes are latin1. */
export interface HeaderList {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** What the owner derived from this list. A repeated block gives the same object again. */
  memo: unknown;
}

/** The checks of a header list, made once per list. */
interface ListChecks {
  /** Why a field is invalid, whether in a request's list or in trailers. */
  fault: string | undefined;
  /** Bits `1 << FieldKind` of the pseudo fields in the list, and CONNECT. */
  seen: number;
  /** Whether it holds a regular field: pseudo fields must not follow one. */
  regular: boolean;
  /** The value of content-length, or -1. */
  contentLength: number;
}

export interface DecodedHeaders extends HeaderList, Readonly<ListChecks> {
  /** All fields, with UNREAD in place of those that the owner does not read. */
  readonly fields: readonly HeaderField[];
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2). Beyond the limit fields are counted, not kept. */
  readonly listBytes: number;
}

/** A list that is being decoded: the first `count` fields. One serves all lists of an owner. */
export interface HeaderDraft {
  readonly fields: HeaderField[];
  count: number;
  listBytes: number;
}

export const NO_CONTENT_LENGTH = -1;
/** Larger lists are not kept: one request must not cost a connection memory for ever. */
export const MAX_KEPT_BYTES = 4096;

const METHOD = 1 << FieldKind.method;
const SCHEME = 1 << FieldKind.scheme;
const PATH = 1 << FieldKind.path;
const AUTHORITY = 1 << FieldKind.authority;
const CONNECT = 1 << 30;

/** In place of all fields that the owner does not read. */
const UNREAD: HeaderField = unread(true);
const BAD_UNREAD: HeaderField = unread(false);

function unread(isValidValue: boolean): HeaderField {
  return { name: '', value: '', kind: FieldKind.unread, isValidValue, size: 0, derived: undefined };
}

export function createHeaderDraft(): HeaderDraft {
  return { fields: [], count: 0, listBytes: 0 };
}

/** The latest distinct lists. */
export interface ListMemory {
  readonly lists: (DecodedHeaders | undefined)[];
  next: number;
}

const LISTS = 8;

export function createListMemory(): ListMemory {
  return { lists: new Array<DecodedHeaders | undefined>(LISTS).fill(undefined), next: 0 };
}

export function beginList(draft: HeaderDraft): void {
  draft.count = 0;
  draft.listBytes = 0;
}

export function addField(list: HeaderDraft, maxListBytes: number, field: HeaderField): void {
  const { kind, size, isValidValue } = field;
  list.listBytes += size;
  if (list.listBytes > maxListBytes) return;
  if (kind !== FieldKind.unread) list.fields[list.count++] = field;
  else list.fields[list.count++] = isValidValue ? UNREAD : BAD_UNREAD;
}

/**
 * The drafted list; `before` or another remembered list if that has the same fields, with its `memo`: blocks that differ
 * only in fields that the owner does not read share a list.
 */
export function finishList(
  draft: HeaderDraft,
  before: DecodedHeaders | undefined,
  memory: ListMemory,
): DecodedHeaders {
  if (before !== undefined && isSame(draft, before)) return before;
  for (const list of memory.lists) {
    if (list !== undefined && isSame(draft, list)) return list;
  }
  const list = makeList(draft);
  if (list.listBytes > MAX_KEPT_BYTES) draft.fields.length = 0;
  else memory.lists[memory.next++ % LISTS] = list;
  return list;
}

function makeList({ fields, count, listBytes }: HeaderDraft): DecodedHeaders {
  const kept = fields.slice(0, count);
  const read = kept.filter(({ kind }) => kind !== FieldKind.unread);
  return {
    names: read.map(({ name }) => name),
    values: read.map(({ value }) => value),
    memo: undefined,
    fields: kept,
    listBytes,
    ...check(kept),
  };
}

/** Compares objects: repeated fields are the same objects, from a table or from remembered literals. */
function isSame({ fields, count, listBytes }: HeaderDraft, list: DecodedHeaders): boolean {
  if (count !== list.fields.length || listBytes !== list.listBytes) return false;
  for (let i = 0; i < count; i++) {
    if (fields[i] !== list.fields[i]) return false;
  }
  return true;
}

function check(fields: readonly HeaderField[]): ListChecks {
  const list: ListChecks = {
    fault: undefined,
    seen: 0,
    regular: false,
    contentLength: NO_CONTENT_LENGTH,
  };
  for (const { kind, value, isValidValue } of fields) {
    checkField(list, kind, value);
    if (!isValidValue) list.fault = BAD_VALUE;
  }
  return list;
}

const BAD_VALUE = 'a field value holds a forbidden byte';

function checkField(list: ListChecks, kind: number, value: string): void {
  if (kind > FieldKind.regular && kind <= FieldKind.unknownPseudo) checkPseudo(list, kind, value);
  else checkRegular(list, kind, value);
}

/** RFC 9113 §8.3 and §8.3.1. */
function checkPseudo(list: ListChecks, kind: number, value: string): void {
  const bit = 1 << kind;
  if (kind === FieldKind.unknownPseudo) list.fault = 'a pseudo field is not one of a request';
  else if (list.regular) list.fault = 'a pseudo field follows a regular one';
  else if ((list.seen & bit) !== 0) list.fault = 'a pseudo field is repeated';
  else if (kind === FieldKind.path && value === '') list.fault = 'the path is empty';
  list.seen |= bit;
  if (kind === FieldKind.method && value === 'CONNECT') list.seen |= CONNECT;
}

/** RFC 9113 §8.2. */
function checkRegular(list: ListChecks, kind: number, value: string): void {
  list.regular = true;
  if (kind === FieldKind.contentLength) checkContentLength(list, value);
  else if (kind === FieldKind.badName) list.fault = 'a field name is not a lower case token';
  else if (kind === FieldKind.connectionSpecific) list.fault = 'a field belongs to http/1 only';
  else if (kind === FieldKind.te && value !== 'trailers') {
    list.fault = 'the field te is not "trailers"';
  }
}

function checkContentLength(list: ListChecks, value: string): void {
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
