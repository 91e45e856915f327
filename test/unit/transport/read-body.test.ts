import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readBody } from '../../../src/transport/read-body';

const TOO_LARGE = {
  status: 413,
  body: { code: 'too_large', error: 'the body is larger than MAX_JSON_BYTES (10)' },
  headers: {},
};

/** A request of which only the head has come, and what was said about its body. */
function read(length: string | undefined) {
  const request = new IncomingMessage(new Socket());
  if (length !== undefined) request.headers['content-length'] = length;
  const said: unknown[] = [];
  readBody(request, { maxJsonBytes: 10, maxUnpackRatio: 10 }, (body) => said.push(body));
  return { request, said };
}

it('refuses a body that is announced as too large before a byte of it has come, and once', () => {
  const { request, said } = read('11');
  expect(said).toEqual([TOO_LARGE]);
  request.emit('data', Buffer.from('01234567890'));
  request.emit('end');
  expect(said).toHaveLength(1);
});

it.each(['10', undefined])(
  'takes a body of as many bytes as it may have, announced: %s',
  (length) => {
    const { request, said } = read(length);
    expect(said).toEqual([]);
    for (const part of ['01234', '56789']) request.emit('data', Buffer.from(part));
    request.emit('end');
    expect(said).toEqual(['0123456789']);
  },
);

it('refuses with the byte that is too many what was not announced', () => {
  const { request, said } = read(undefined);
  request.emit('data', Buffer.from('0123456789'));
  expect(said).toEqual([]);
  request.emit('data', Buffer.from('0'));
  expect(said).toEqual([TOO_LARGE]);
  request.emit('end');
  expect(said).toHaveLength(1);
});

it('names no setting for a bound that none changes', () => {
  const said: unknown[] = [];
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = '9';
  const bounds = { maxJsonBytes: 10, maxUnpackRatio: 10, maxFixedBytes: 8 };
  readBody(request, bounds, (body) => said.push(body));
  const error = 'the body is larger than 8 bytes';
  expect(said).toEqual([{ ...TOO_LARGE, body: { code: 'too_large', error } }]);
});
