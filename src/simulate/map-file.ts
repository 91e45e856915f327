import { parseDocument } from 'yaml';
import { compilePattern, type Pattern } from '../platform/pattern';
import { TIME_FORMATS, type TimeFormat } from './read-time';

/** Where an entry's value comes from, as the actions of Envoy's rate limit filter do it. */
export type ValueSource =
  | { readonly kind: 'constant'; readonly value: string }
  /** A field of the line: `request.method` goes into nested objects where no field has the whole name. */
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'header'; readonly name: string }
  | {
      readonly kind: 'masked_address';
      readonly field: string;
      readonly v4: number;
      readonly v6: number;
    };

export interface MapEntry {
  readonly key: string;
  readonly source: ValueSource;
  /** Takes the first group of the match, or the whole match; the entry is missing where it does not match. */
  readonly match: Pattern | undefined;
}

export interface Condition {
  readonly field: string;
  readonly holds: (value: string) => boolean;
}

export interface MapDescriptor {
  readonly when: Condition | undefined;
  readonly entries: readonly MapEntry[];
}

/** How lines of an access log become requests. */
export interface LogMap {
  readonly domain: string;
  readonly time: { readonly field: string; readonly format: TimeFormat };
  readonly descriptors: readonly MapDescriptor[];
}

/** A map file that makes no sense: the path of the part and what was expected. */
export class MapFileError extends Error {
  override readonly name = 'MapFileError';
}

/** Reads a map file (docs/simulate.md). Throws `MapFileError`. */
export function parseMapFile(text: string): LogMap {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw new MapFileError(problem.message.split('\n')[0] ?? 'not YAML');
  const map = new Part(document.toJS(), 'the map', ['domain', 'time', 'descriptors']);
  const time = map.part('time', ['field', 'format']);
  const format = time.text('format', 'rfc3339');
  if (!isTimeFormat(format)) time.refuse('format', `one of ${TIME_FORMATS.join(', ')}`);
  return {
    domain: map.text('domain'),
    time: { field: time.text('field'), format: format as TimeFormat },
    descriptors: map.list('descriptors', ['when', 'entries']).map(readDescriptor),
  };
}

function isTimeFormat(text: string): text is TimeFormat {
  return (TIME_FORMATS as readonly string[]).includes(text);
}

function readDescriptor(descriptor: Part): MapDescriptor {
  const names = ['key', 'value', 'field', 'header', 'masked_address', 'match'];
  const when = descriptor.has('when')
    ? descriptor.part('when', ['field', 'equals', 'matches'])
    : undefined;
  return {
    when: when && readCondition(when),
    entries: descriptor.list('entries', names).map(readEntry),
  };
}

function readCondition(when: Part): Condition {
  const field = when.text('field');
  if (when.has('equals') === when.has('matches'))
    when.refuse('equals', 'one of equals and matches');
  if (when.has('equals')) {
    const expected = when.text('equals');
    return { field, holds: (value) => value === expected };
  }
  const pattern = when.pattern('matches');
  return { field, holds: (value) => pattern(value) !== undefined };
}

function readEntry(entry: Part): MapEntry {
  const match = entry.has('match') ? entry.pattern('match') : undefined;
  return { key: entry.text('key'), source: readSource(entry), match };
}

function readSource(entry: Part): ValueSource {
  const given = ['value', 'field', 'header', 'masked_address'].filter((name) => entry.has(name));
  if (given.length !== 1)
    entry.refuse('value', 'exactly one of value, field, header, masked_address');
  if (entry.has('value')) return { kind: 'constant', value: entry.text('value') };
  if (entry.has('field')) return { kind: 'field', field: entry.text('field') };
  if (entry.has('header')) return { kind: 'header', name: entry.text('header').toLowerCase() };
  const masked = entry.part('masked_address', ['field', 'v4', 'v6']);
  return {
    kind: 'masked_address',
    field: masked.text('field'),
    v4: masked.bits('v4', 32),
    v6: masked.bits('v6', 128),
  };
}

/** One mapping of the file, with its path for messages. */
class Part {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path: string, known: readonly string[]) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new MapFileError(
        `${path} is ${value === undefined ? 'missing' : JSON.stringify(value)}, expected a mapping`,
      );
    }
    this.#fields = value as Readonly<Record<string, unknown>>;
    this.#path = path;
    const unknown = Object.keys(value).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new MapFileError(
        `${path} has an unknown key "${unknown}", expected ${known.join(', ')}`,
      );
    }
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  text(name: string, otherwise?: string): string {
    const value = this.#fields[name] ?? otherwise;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' ? value : this.refuse(name, 'a text');
  }

  bits(name: string, most: number): number {
    const value = this.#fields[name] ?? most;
    const isFit =
      typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;
    return isFit ? value : this.refuse(name, `a whole number from 0 to ${String(most)}`);
  }

  pattern(name: string): Pattern {
    const source = this.text(name);
    try {
      return compilePattern(source);
    } catch (error) {
      return this.refuse(name, `a regular expression (${(error as Error).message})`);
    }
  }

  part(name: string, known: readonly string[]): Part {
    return new Part(this.#fields[name], this.#pathOf(name), known);
  }

  list(name: string, known: readonly string[]): readonly Part[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length === 0) return this.refuse(name, 'a list of mappings');
    return value.map((item, at) => new Part(item, `${this.#pathOf(name)}[${String(at)}]`, known));
  }

  refuse(name: string, expected: string): never {
    const value = this.#fields[name];
    const shown = value === undefined ? 'missing' : JSON.stringify(value);
    throw new MapFileError(`${this.#pathOf(name)} is ${shown}, expected ${expected}`);
  }

  #pathOf(name: string): string {
    return this.#path === 'the map' ? name : `${this.#path}.${name}`;
  }
}
