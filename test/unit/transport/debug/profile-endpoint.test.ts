import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createProfileEndpoint } from '../../../../src/transport/debug/profile-endpoint';
import { createWorkScheduler } from '../../../../src/transport/debug/work/work-scheduler';

/** An endpoint whose turns the test takes, and the profiles that workers were asked for. */
function setUp() {
  const turns: (() => void)[] = [];
  const asked: AbortSignal[] = [];
  const work = createWorkScheduler({
    monotonicMs: () => 0,
    nextTurn: (go) => turns.push(go),
    later: () => undefined,
  });
  const endpoint = createProfileEndpoint({
    clock: () => 0,
    work,
    workers: {
      count: 1,
      take: (_worker, _request, signal) =>
        new Promise((_, reject) => {
          asked.push(signal);
          signal.addEventListener('abort', () => {
            reject(new Error('cancelled'));
          });
        }),
    },
  });
  const call = () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    endpoint.serve('profile', new URLSearchParams('worker=1&seconds=1'), response);
    return response;
  };
  const takeTurns = () => {
    for (const turn of turns.splice(0)) turn();
  };
  return { call, asked, takeTurns };
}

it('asks a worker for nothing when the client hung up before its turn', () => {
  const { call, asked, takeTurns } = setUp();
  call().destroy().emit('close');
  takeTurns();
  expect(asked).toEqual([]);
});

it('ends the profile of a worker when the client hangs up, and takes the next one', () => {
  const { call, asked, takeTurns } = setUp();
  const response = call();
  takeTurns();
  response.destroy().emit('close');
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  call();
  takeTurns();
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, false]);
});
