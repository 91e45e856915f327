import { describeCode, errorCode, toReason } from '../../../src/platform/errors';

const WRONG_VERSION =
  '80FC04B9147F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/record.c:350:\n';
const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
  code: 'ECONNREFUSED',
});

it.each<[unknown, string]>([
  [refused, 'connection refused (ECONNREFUSED 127.0.0.1:1)'],
  [Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'connection refused (ECONNREFUSED)'],
  [
    new AggregateError([refused, new Error('connect EHOSTUNREACH ::1:1'), refused]),
    'connection refused (ECONNREFUSED 127.0.0.1:1), no route to the host (EHOSTUNREACH ::1:1)',
  ],
  [new Error('getaddrinfo ENOTFOUND redis.test'), 'the name has no address (ENOTFOUND redis.test)'],
  [new Error('read ECONNRESET'), 'the other side reset the connection (ECONNRESET)'],
  [new Error('connect ETIMEDOUT'), 'no answer in time (ETIMEDOUT)'],
  [
    new Error("ENOENT: no such file or directory, open '/run/a b'"),
    'it does not exist (ENOENT /run/a b)',
  ],
  [new Error(WRONG_VERSION), 'the server does not speak TLS'],
  [new Error(`write EPROTO ${WRONG_VERSION}`), 'the server does not speak TLS'],
  [
    new Error('C0:error:0A00045C:SSL routines:ssl3_read:tlsv13 alert certificate required:a.c:1:'),
    'the server requires a client certificate',
  ],
  [new Error('error:0A000126:SSL routines::unexpected eof'), 'TLS: unexpected eof'],
  [new Error('error:0480006C:PEM routines::no start line'), 'expected a PEM file'],
  [new Error('certificate has expired'), "the server's certificate has expired"],
  [new Error('certificate is not yet valid'), "the server's certificate is not valid yet"],
  ...[
    'self-signed certificate',
    'self-signed certificate in certificate chain',
    'unable to verify the first certificate',
    'unable to get local issuer certificate',
  ].map((text): [Error, string] => [
    new Error(text),
    "an unknown authority signed the server's certificate",
  ]),
  [
    new Error(
      "Hostname/IP does not match certificate's altnames: Host: a.test. is not in the cert's altnames: DNS:b.test",
    ),
    "the server's certificate is for DNS:b.test and not for a.test",
  ],
  [
    new Error(
      "Hostname/IP does not match certificate's altnames: IP: 10.0.0.1 is not in the cert's list: ",
    ),
    "the server's certificate is for no address and not for 10.0.0.1",
  ],
  [
    new Error('Client network socket disconnected before secure TLS connection was established'),
    'the server closed the connection before TLS was set up',
  ],
  [new Error('Unknown RESP type 72 "H". Please report this.'), 'this is an HTTP port, not Redis'],
  [
    new Error('Unknown RESP type 34 """. Please report this.'),
    'the server does not speak the Redis protocol',
  ],
  [new Error('Unknown RESP type 72 "H"'), 'this is an HTTP port, not Redis'],
  [new Error('Unknown RESP type 21 "\u0015"'), 'the server speaks TLS only'],
  [new Error('Unknown RESP type 83 "S"'), 'the server does not speak the Redis protocol'],
  [
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    'the connection is closed',
  ],
  [
    new Error(
      '14 UNAVAILABLE: No connection established. Last error: Failed to connect (2026-11-22T18:26:08.919Z). Resolution note: ',
    ),
    'no connection: the server closed the connection',
  ],
  [
    new Error(
      '14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED ::1:1. Resolution note: ',
    ),
    'no connection: connection refused (ECONNREFUSED ::1:1)',
  ],
  [
    new Error(
      `14 UNAVAILABLE: No connection established. Last error: Error: ${WRONG_VERSION}. Resolution note: `,
    ),
    'no connection: the server does not speak TLS',
  ],
  [
    new Error('14 UNAVAILABLE: Name resolution failed for target dns:xds.test:1'),
    'the name of xds.test:1 has no address',
  ],
  [
    new TypeError('fetch failed', { cause: refused }),
    'connection refused (ECONNREFUSED 127.0.0.1:1)',
  ],
  [new Error('no answer within 5 ms'), 'no answer within 5 ms'],
  [new RangeError(), 'RangeError'],
  ['a string', 'a string'],
  [undefined, 'undefined'],
])('says %s in words, and leaves its own words as they are', (error, words) => {
  expect(toReason(error)).toBe(words);
  expect(toReason(new Error(words))).toBe(words);
});

it('cuts a long text', () => {
  expect(toReason(new Error('a'.repeat(10_000)))).toBe(`${'a'.repeat(200)}…`);
});

it('knows the code of an error, and what it means', () => {
  expect([errorCode(refused), errorCode(undefined), errorCode({ code: 5 })]).toEqual([
    'ECONNREFUSED',
    'unknown',
    'unknown',
  ]);
  expect(describeCode('EACCES')).toBe('permission denied (EACCES)');
  expect(describeCode('EWHAT')).toBe('EWHAT');
});
