import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { withoutMapping } from '../../../platform/proxy-hops';
import { STYLES, WORDS, type Check, type ProxyWords } from '../../../request-maps/check';
import type { RequestFacts, RequestField } from '../../../request-maps/request-map';
import {
  normalizeHost,
  parseForwardedUri,
  parseOriginalUrl,
  parseUriBytes,
  toText,
  type RequestUri,
  isHost,
} from '../../../request-maps/request-uri';

/**
 * A call to `/check`, as a check sees it: the request that its proxy describes where the peer is that proxy, else the call itself.
 * Header values are bytes in UTF-8.
 */
export class CallFacts implements RequestFacts {
  readonly peer: string;
  /** Undefined: the peer is not trusted. */
  readonly #words: ProxyWords | undefined;
  readonly #request: IncomingMessage;
  readonly #check: Check;
  #uri: RequestUri | undefined;

  constructor(request: IncomingMessage, check: Check) {
    this.#request = request;
    this.#check = check;
    this.peer = withoutMapping(request.socket.remoteAddress ?? '');
    const { proxy, hops } = check;
    this.#words = proxy !== undefined && hops.isTrusted(this.peer) ? WORDS[proxy] : undefined;
  }

  get isTrusted(): boolean {
    return this.#words !== undefined;
  }

  /**
   * The first header that the check needs and its proxy, or a call without one, sends wrongly; undefined when all are right.
   * `Host: .` and `Host: :80` name no host: such a call would pass uncounted.
   */
  findAmiss(): string | undefined {
    const { neededHeaders, needsHost, readsHostHeader } = this.#check;
    const words = this.#words;
    if (words === undefined)
      return (needsHost || readsHostHeader) && !this.#hasOneHost() ? 'host' : undefined;
    const amiss = neededHeaders.find((name) => this.#isAmiss(name));
    if (amiss !== undefined || !needsHost || this.#host() !== undefined) return amiss;
    return words.host;
  }

  /** Node takes the first of two headers; another server may take the last. */
  #hasOneHost(): boolean {
    const { rawHeaders, headers } = this.#request;
    const names = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host');
    return names.length === 1 && isHost(headers.host ?? '');
  }

  #isAmiss(name: string): boolean {
    const value = this.header(name);
    if (value === undefined) return true;
    if (name === 'x-real-ip') return isIP(withoutMapping(value)) === 0;
    return URIS.has(name) && this.#parsedUri(name) === undefined;
  }

  field(name: RequestField): string | undefined {
    switch (name) {
      case 'method':
        return this.#method();
      case 'path':
        return this.#parsedUri(this.#words?.path)?.path;
      case 'query':
        return this.#query();
      case 'host':
        return this.#host();
      case 'scheme':
        return this.#scheme();
      case 'remote_address':
        return this.#address();
    }
  }

  header(name: string): string | undefined {
    const bytes = this.#bytesOf(name);
    return bytes === undefined ? undefined : toText(bytes);
  }

  #bytesOf(name: string): string | undefined {
    const { headers } = this.#request;
    // An entry of a check may name a property of every object: `constructor`.
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    const text = Array.isArray(value) ? value.join(', ') : value;
    return text === '' ? undefined : text;
  }

  #method(): string | undefined {
    const name = this.#words?.method;
    return name === undefined ? this.#request.method : this.header(name);
  }

  #query(): string | undefined {
    const query = this.#parsedUri(this.#words?.query)?.query;
    return query === '' ? undefined : query;
  }

  /** Undefined where the proxy writes it wrongly. */
  #parsedUri(header: string | undefined): RequestUri | undefined {
    return (this.#uri ??= this.#parseUri(header));
  }

  #parseUri(header: string | undefined): RequestUri | undefined {
    if (header === undefined) return parseUriBytes(this.#request.url ?? '');
    const bytes = this.#bytesOf(header) ?? '';
    if (header !== 'x-original-url')
      return parseForwardedUri(bytes, STYLES[this.#check.proxy ?? 'nginx']);
    // Only for `GET http://a?b/c`: nginx serves `/`, and writes the same as for `/c` with the Host `a?b`.
    if (this.#bytesOf('x-auth-request-redirect')?.startsWith('?') === true) return undefined;
    return parseOriginalUrl(bytes);
  }

  #host(): string | undefined {
    const name = this.#words?.host ?? 'host';
    const isInUrl = name === 'x-original-url';
    const host = isInUrl ? this.#parsedUri(name)?.host : normalizeHost(this.header(name) ?? '');
    return host === '' ? undefined : host;
  }

  #scheme(): string | undefined {
    const name = this.#words?.scheme;
    if (name === undefined) return 'http';
    return name === 'x-original-url' ? this.#parsedUri(name)?.scheme : this.header(name);
  }

  #address(): string | undefined {
    const name = this.#words?.remote_address;
    if (name === undefined) return this.peer === '' ? undefined : this.peer;
    const header = this.header(name) ?? '';
    return name === 'x-real-ip'
      ? withoutMapping(header)
      : this.#check.hops.clientOf(this.peer, [header]);
  }
}

const URIS = new Set(['x-original-uri', 'x-original-url', 'x-forwarded-uri']);
