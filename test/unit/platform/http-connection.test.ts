import type { Socket } from 'node:net';
import { ByteBudget } from '../../../src/platform/byte-budget';
import { HttpConnection } from '../../../src/platform/http-connection';

const noop = () => undefined;

/** What a connection reads of its socket, in the hands of the test. */
function connection() {
  const socket = { bytesRead: 0, bytesWritten: 0, writableLength: 0, isReset: false };
  const asSocket = { ...socket, resetAndDestroy: () => (asSocket.isReset = true) };
  let ended = 0;
  const budget = new ByteBudget(1_000_000, () => (ended += 1));
  const pipeline = { take: noop, close: noop, refuse: noop, waitingBytes: 0 };
  const connection = new HttpConnection(asSocket as unknown as Socket, budget, pipeline);
  const look = (times: number) => {
    for (let i = 0; i < times; i++) connection.check(1_000, 30_000);
  };
  return { socket: asSocket, connection, budget, look, ended: () => ended };
}

it('ends a client that read nothing for the whole time, and not a moment sooner', () => {
  const { socket, budget, look, ended } = connection();
  Object.assign(socket, { bytesWritten: 500, writableLength: 400 });
  look(30);
  expect([ended(), socket.isReset, budget.heldBytes]).toEqual([0, false, 400]);
  look(1);
  expect([ended(), socket.isReset, budget.heldBytes]).toEqual([1, true, 0]);
});

it('lets a client take its time that reads a little now and then', () => {
  const { socket, look, ended } = connection();
  Object.assign(socket, { bytesWritten: 500, writableLength: 400 });
  for (let minute = 0; minute < 10; minute++) {
    look(29);
    socket.writableLength -= 1;
  }
  expect(ended()).toBe(0);
});

it('does not take more answers for a sign that the client reads', () => {
  const { socket, look, ended } = connection();
  Object.assign(socket, { bytesWritten: 500, writableLength: 400 });
  for (let second = 0; second < 31; second++) {
    look(1);
    socket.writableLength += 10;
    socket.bytesWritten += 10;
  }
  expect(ended()).toBe(1);
});

it('begins to count anew when everything was read', () => {
  const { socket, look, ended } = connection();
  for (let i = 0; i < 3; i++) {
    Object.assign(socket, { bytesWritten: 500, writableLength: 400 });
    look(29);
    socket.writableLength = 0;
    look(1);
  }
  expect(ended()).toBe(0);
});
