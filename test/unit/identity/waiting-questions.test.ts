import { createWaitingQuestions } from '../../../src/app/identity/waiting-questions';

const VERDICT = { isOver: false, limit: undefined, resetSeconds: undefined };

function putOne(waiting: ReturnType<typeof createWaitingQuestions>) {
  let ticket = 0;
  const answer = new Promise((resolve, reject) => {
    ticket = waiting.put({ resolve, reject });
  });
  return { answer, ticket };
}

it('hands a question out once', async () => {
  const waiting = createWaitingQuestions(10_000);
  const { answer, ticket } = putOne(waiting);
  waiting.take(ticket)?.resolve(VERDICT);
  expect(await answer).toEqual(VERDICT);
  expect(waiting.take(ticket)).toBeUndefined();
});

it('rejects what has waited too long, each in its time', async () => {
  const waiting = createWaitingQuestions(30);
  const startedAt = performance.now();
  const first = putOne(waiting);
  await expect(first.answer).rejects.toThrow('no decision within 30 ms');
  const second = putOne(waiting);
  const answered = putOne(waiting);
  waiting.take(answered.ticket)?.resolve(VERDICT);
  await expect(second.answer).rejects.toThrow('no decision within 30 ms');
  expect(performance.now() - startedAt).toBeGreaterThan(50);
  expect(await answered.answer).toEqual(VERDICT);
  expect(waiting.take(second.ticket)).toBeUndefined();
});
