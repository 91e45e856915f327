import { withoutPort } from '../platform/proxy-hops';
import type { RequestFacts, RequestField } from '../request-maps/request-map';

export type LineFields = Readonly<Record<string, unknown>>;

/** Other names of a request's fields in logs (docs/simulate.md). */
const OTHER_NAMES: Readonly<Partial<Record<RequestField, readonly string[]>>> = {
  host: ['authority'],
  remote_address: ['remote_addr', 'downstream_remote_address'],
};

export class LogFacts implements RequestFacts {
  readonly #fields: LineFields;

  constructor(fields: LineFields) {
    this.#fields = fields;
  }

  field(name: string): string | undefined {
    const own = this.#text(name);
    if (own !== undefined) return own;
    if (name === 'query') return queryOf(this.#text('path'));
    for (const other of OTHER_NAMES[name as RequestField] ?? []) {
      const value = this.#text(other);
      if (value !== undefined) return name === 'remote_address' ? withoutPort(value) : value;
    }
    return undefined;
  }

  /** Whether the line has the field at all, even as a dash or empty. */
  hasField(name: string): boolean {
    const others = name === 'query' ? ['path'] : (OTHER_NAMES[name as RequestField] ?? []);
    return [name, ...others].some((each) => this.find(each) !== undefined);
  }

  hasHeader(name: string): boolean {
    return namesOfHeader(name).some((each) => this.find(each) !== undefined);
  }

  /** The places of a header in logs: in `headers`, under its own name, or as nginx writes it (`http_user_agent`). */
  header(name: string): string | undefined {
    const [among, own, nginx] = namesOfHeader(name);
    return this.#text(among) ?? this.#text(own) ?? this.#text(nginx);
  }

  /** A field by its whole name, else by the path of its dots; undefined when missing. */
  find(name: string): unknown {
    if (Object.hasOwn(this.#fields, name)) return this.#fields[name];
    let value: unknown = this.#fields;
    for (const part of name.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
        return undefined;
      value = (value as LineFields)[part];
    }
    return value;
  }

  /** Envoy and nginx write a dash for an unknown value. */
  #text(name: string): string | undefined {
    const value = this.find(name);
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' && value !== '' && value !== '-' ? value : undefined;
  }
}

function namesOfHeader(name: string): readonly [among: string, own: string, nginx: string] {
  return [`headers.${name}`, name, `http_${name.replaceAll('-', '_')}`];
}

function queryOf(path: string | undefined): string | undefined {
  const at = path?.indexOf('?') ?? -1;
  return at === -1 ? undefined : path?.slice(at + 1);
}
