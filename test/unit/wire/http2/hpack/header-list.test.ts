import { createHpackDecoder, decodeBlock } from '../../../../../src/wire/http2/hpack/decoder';
import { requestFault, trailersFault } from '../../../../../src/wire/http2/hpack/header-list';
import { field } from '../../../../support/h2-frames';

type Fields = readonly (readonly [name: string, value: string])[];

function decode(fields: Fields) {
  const decoder = createHpackDecoder(16_384, true);
  const block = Buffer.concat(fields.map(([name, value]) => field(name, value)));
  const list = decodeBlock(decoder, block, 0, block.length);
  if (list === undefined) throw new Error(decoder.headers.block.fault);
  return list;
}

const METHOD = [':method', 'POST'] as const;
const SCHEME = [':scheme', 'http'] as const;
const PATH = [':path', '/x'] as const;
const AUTHORITY = [':authority', 'rls'] as const;
const GOOD: Fields = [METHOD, SCHEME, PATH, AUTHORITY];

describe("judging a request's header list", () => {
  it.each<[string, Fields]>([
    ['the four pseudo fields in any order', [AUTHORITY, PATH, SCHEME, METHOD]],
    ['no authority', [METHOD, SCHEME, PATH]],
    ['te: trailers', [...GOOD, ['te', 'trailers']]],
    ['an empty value, and octets above 127', [...GOOD, ['tracestate', ''], ['x', 'caf\xe9 \xff']]],
    ['a tab and a blank inside a value', [...GOOD, ['x', 'a\tb c']]],
    [
      'content-length twice with one value',
      [...GOOD, ['content-length', '5'], ['content-length', '5']],
    ],
    ['CONNECT with an authority', [[':method', 'CONNECT'], AUTHORITY]],
    ['OPTIONS *', [[':method', 'OPTIONS'], SCHEME, [':path', '*']]],
  ])('takes %s', (_name, fields) => {
    expect(requestFault(decode(fields))).toBeUndefined();
  });

  it.each<[string, Fields]>([
    ['no method', [SCHEME, PATH]],
    ['no scheme', [METHOD, PATH]],
    ['no path', [METHOD, SCHEME]],
    ['an empty path', [METHOD, SCHEME, [':path', '']]],
    ['a pseudo field twice', [...GOOD, PATH]],
    ['a pseudo field behind a regular one', [METHOD, SCHEME, ['x', 'y'], PATH]],
    ['a pseudo field behind te', [METHOD, SCHEME, ['te', 'trailers'], PATH]],
    ['an unknown pseudo field', [...GOOD, [':protocol', 'websocket']]],
    ['a pseudo field of answers', [...GOOD, [':status', '200']]],
    ['CONNECT with a path', [[':method', 'CONNECT'], AUTHORITY, PATH]],
    ['CONNECT without an authority', [[':method', 'CONNECT']]],
    ['a capital in a name', [...GOOD, ['X-Id', 'y']]],
    ['an empty name', [...GOOD, ['', 'y']]],
    ['a blank in a name', [...GOOD, ['a b', 'y']]],
    ['a name with octets above 127', [...GOOD, ['caf\xe9', 'y']]],
    ['connection', [...GOOD, ['connection', 'close']]],
    ['keep-alive', [...GOOD, ['keep-alive', '5']]],
    ['proxy-connection', [...GOOD, ['proxy-connection', 'close']]],
    ['transfer-encoding', [...GOOD, ['transfer-encoding', 'chunked']]],
    ['upgrade', [...GOOD, ['upgrade', 'h2c']]],
    ['te: gzip', [...GOOD, ['te', 'gzip']]],
    ['NUL in a value', [...GOOD, ['x', 'a\0b']]],
    ['CR in a value', [...GOOD, ['x', 'a\rb']]],
    ['LF in a value', [...GOOD, ['x', 'a\nb']]],
    ['a blank before a value', [...GOOD, ['x', ' a']]],
    ['a tab behind a value', [...GOOD, ['x', 'a\t']]],
    ['a negative content-length', [...GOOD, ['content-length', '-5']]],
    ['an empty content-length', [...GOOD, ['content-length', '']]],
    ['two content-lengths', [...GOOD, ['content-length', '5'], ['content-length', '6']]],
  ])('refuses %s', (_name, fields) => {
    expect(requestFault(decode(fields))).toEqual(expect.any(String));
  });
});

describe('judging trailers', () => {
  it('takes regular fields, or none', () => {
    expect(trailersFault(decode([['x', 'y']]))).toBeUndefined();
    expect(trailersFault(decode([]))).toBeUndefined();
  });

  it.each<[string, Fields]>([
    ['a pseudo field', [PATH]],
    ['a pseudo field of answers', [[':status', '200']]],
    ['a connection-specific field', [['upgrade', 'x']]],
  ])('refuses %s', (_name, fields) => {
    expect(trailersFault(decode(fields))).toEqual(expect.any(String));
  });
});
