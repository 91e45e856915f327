import { FieldKind, type HeaderField } from './header-field';

/** A decoded header list in wire order, pseudo headers first. Names are lower case; octets are latin1. */
export interface HeaderList {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** What the owner derived from this very list. A repeated block gives the same object again. */
  memo: unknown;
}

/** All that there is to judge about a header list; judged once per list. */
interface Judgement {
  /** What is wrong with a field, whatever the list is for. */
  fault: string | undefined;
  /** Bits `1 << FieldKind` of the pseudo fields that were seen, and CONNECT. */
  seen: number;
  /** Whether a regular field was seen: pseudo fields must not follow it. */
  regular: boolean;
  /** The value of content-length, or -1. */
  contentLength: number;
}

export interface DecodedHeaders extends HeaderList, Readonly<Judgement> {
  /** What it was made of: fields of the tables, and those that stand for fields that nobody reads. */
  readonly fields: readonly HeaderField[];
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2). Beyond the limit fields are counted, not kept. */
  readonly listBytes: number;
}

/** A list that is being decoded: the first `count` fields. One is used for all lists of an owner. */
export interface HeaderDraft {
  readonly fields: HeaderField[];
  count: number;
  listBytes: number;
}

export const NO_CONTENT_LENGTH = -1;
/** Lists above this size are not held on to: a connection must not cost memory because of what it said once. */
export const LARGEST_KEPT = 4096;

const METHOD = 1 << FieldKind.method;
const SCHEME = 1 << FieldKind.scheme;
const PATH = 1 << FieldKind.path;
const AUTHORITY = 1 << FieldKind.authority;
const CONNECT = 1 << 30;

/** Stand in lists for all fields that nobody reads. */
const UNREAD: HeaderField = unread(true);
const BAD_UNREAD: HeaderField = unread(false);

function unread(valueOk: boolean): HeaderField {
  return { name: '', value: '', kind: FieldKind.unread, valueOk, size: 0, made: undefined };
}

export function createHeaderDraft(): HeaderDraft {
  return { fields: [], count: 0, listBytes: 0 };
}

/** The last lists that differed. */
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
  const { kind, size, valueOk } = field;
  list.listBytes += size;
  if (list.listBytes > maxListBytes) return;
  if (kind !== FieldKind.unread) list.fields[list.count++] = field;
  else list.fields[list.count++] = valueOk ? UNREAD : BAD_UNREAD;
}

/**
 * The list that was drafted; `before` or another one that is remembered when that has the same fields, with what its
 * owner made of it: blocks that differ only in fields that nobody reads make no new list.
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
  if (list.listBytes > LARGEST_KEPT) draft.fields.length = 0;
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
    ...judge(kept),
  };
}

/** By the objects: fields that come again are the same ones, from a table or from the memory of literals. */
function isSame({ fields, count, listBytes }: HeaderDraft, list: DecodedHeaders): boolean {
  if (count !== list.fields.length || listBytes !== list.listBytes) return false;
  for (let i = 0; i < count; i++) {
    if (fields[i] !== list.fields[i]) return false;
  }
  return true;
}

function judge(fields: readonly HeaderField[]): Judgement {
  const list: Judgement = {
    fault: undefined,
    seen: 0,
    regular: false,
    contentLength: NO_CONTENT_LENGTH,
  };
  for (const { kind, value, valueOk } of fields) {
    judgeField(list, kind, value);
    if (!valueOk) list.fault = BAD_VALUE;
  }
  return list;
}

const BAD_VALUE = 'a field value holds a forbidden octet';

function judgeField(list: Judgement, kind: number, value: string): void {
  if (kind > FieldKind.regular && kind <= FieldKind.foreignPseudo) judgePseudo(list, kind, value);
  else judgeRegular(list, kind, value);
}

/** RFC 9113 §8.3 and §8.3.1. */
function judgePseudo(list: Judgement, kind: number, value: string): void {
  const bit = 1 << kind;
  if (kind === FieldKind.foreignPseudo) list.fault = 'a pseudo field is not one of a request';
  else if (list.regular) list.fault = 'a pseudo field follows a regular one';
  else if ((list.seen & bit) !== 0) list.fault = 'a pseudo field is there twice';
  else if (kind === FieldKind.path && value === '') list.fault = 'the path is empty';
  list.seen |= bit;
  if (kind === FieldKind.method && value === 'CONNECT') list.seen |= CONNECT;
}

/** RFC 9113 §8.2. */
function judgeRegular(list: Judgement, kind: number, value: string): void {
  list.regular = true;
  if (kind === FieldKind.contentLength) judgeContentLength(list, value);
  else if (kind === FieldKind.badName) list.fault = 'a field name is not a lower case token';
  else if (kind === FieldKind.connectionSpecific) list.fault = 'a field belongs to http/1 only';
  else if (kind === FieldKind.te && value !== 'trailers') {
    list.fault = 'the field te is not "trailers"';
  }
}

function judgeContentLength(list: Judgement, value: string): void {
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
