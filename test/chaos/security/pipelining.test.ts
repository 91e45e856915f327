import { once } from 'node:events';
import { connect } from 'node:net';
import { createStoreFile } from '../../support/identity';
import { startIdentityProcess, stopIdentities } from '../../support/identity-service';
import { sendBytes } from '../../support/raw-http';
import { expired, sharedService, stopSmallServices } from '../../support/small-service';

/** A good request with garbage after it in the same packet: nobody may get the answer of another request. */

afterAll(async () => {
  await stopIdentities();
  await stopSmallServices();
});

/** All of the answer to the first request, and only behind it the refusal of what followed. */
const answerThenRefusal = (status: string, part: string) =>
  new RegExp(
    `^HTTP/1.1 ${status}\\r\\n(?:(?!HTTP/1.1)[^])*${part}[^]*}HTTP/1.1 400 Bad Request\\r\\n`,
  );
const GARBAGE = 'GARBAGE\r\n\r\n';
const portOf = (url: string) => Number(new URL(url).port);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

it('never answers a question on /json with the refusal of what follows it', async () => {
  const service = await sharedService();
  const body = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}]}]}';
  const post = `POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
  expect(await sendBytes(portOf(service.http), post + GARBAGE)).toMatch(
    answerThenRefusal('200 OK', '"overallCode":"OK"'),
  );
});

it('never answers a token with the refusal of what follows it', async () => {
  const place = await createStoreFile();
  const identity = await startIdentityProcess({ IDENTITY_STORE_FILE: place.file });
  const answer = await sendBytes(portOf(identity.baseUrl), get('/v1/userinfo') + GARBAGE);
  await place.remove();
  expect(answer).toMatch(answerThenRefusal('401 Unauthorized', '"error":"unauthorized"'));
});

it('writes no refusal into a stream of events', async () => {
  const service = await sharedService();
  const socket = connect(portOf(service.debug), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString())).on('error', () => undefined);
  const closed = once(socket, 'close').catch(() => undefined);
  socket.write(get('/ui/events'));
  await once(socket, 'data');
  socket.write(GARBAGE);
  await Promise.race([closed, expired(3_000)]);
  socket.destroy();
  expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\nevent: rules\n/);
  expect(received).not.toContain('HTTP/1.1 400');
});
