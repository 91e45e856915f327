import { createWaitingRequests } from '../../../../src/app/identity/in-process-decisions';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const VERDICT = { isOver: false, limit: undefined, resetSeconds: undefined };

function putOne(waiting: ReturnType<typeof createWaitingRequests>) {
  let callId = 0;
  const answer = new Promise((resolve, reject) => {
    callId = waiting.put({ resolve, reject });
  });
  return { answer, callId };
}

it('hands a question out once', async () => {
  const waiting = createWaitingRequests(10_000);
  const { answer, callId } = putOne(waiting);
  waiting.take(callId)?.resolve(VERDICT);
  expect(await answer).toEqual(VERDICT);
  expect(waiting.take(callId)).toBeUndefined();
});

it('rejects what has waited too long, each in its time', async () => {
  const waiting = createWaitingRequests(30);
  const startedMs = jest.now();
  const rejectedMs = async (answer: Promise<unknown>) => {
    await expect(answer).rejects.toThrow('no decision within 30 ms');
    return jest.now() - startedMs;
  };
  const first = rejectedMs(putOne(waiting).answer);
  await jest.advanceTimersByTimeAsync(35);
  const { answer, callId } = putOne(waiting);
  const second = rejectedMs(answer);
  const answered = putOne(waiting);
  waiting.take(answered.callId)?.resolve(VERDICT);
  await jest.advanceTimersByTimeAsync(35);
  expect(await Promise.all([first, second])).toEqual([30, 65]);
  expect(await answered.answer).toEqual(VERDICT);
  expect(waiting.take(callId)).toBeUndefined();
});
