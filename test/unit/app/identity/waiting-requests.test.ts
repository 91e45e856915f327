import { createWaitingRequests } from '../../../../src/app/identity/waiting-requests';

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
  const startedAt = performance.now();
  const first = putOne(waiting);
  await expect(first.answer).rejects.toThrow('no decision within 30 ms');
  const second = putOne(waiting);
  const answered = putOne(waiting);
  waiting.take(answered.callId)?.resolve(VERDICT);
  await expect(second.answer).rejects.toThrow('no decision within 30 ms');
  expect(performance.now() - startedAt).toBeGreaterThan(50);
  expect(await answered.answer).toEqual(VERDICT);
  expect(waiting.take(second.callId)).toBeUndefined();
});
