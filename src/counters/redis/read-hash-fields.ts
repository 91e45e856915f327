import { type RedisConnection } from './connection';

/** Asks for fields of a hash by one command; null for those that it has not. An answer of another shape is an error. */
export async function readHashFields(
  connection: RedisConnection,
  key: string,
  fields: readonly string[],
): Promise<readonly (string | null)[]> {
  const ask = async (): Promise<unknown> => {
    try {
      return await connection.client.hmget(key, ...fields);
    } catch (error) {
      throw connection.toError(error);
    }
  };
  const answer = await ask();
  if (isTexts(answer) && answer.length === fields.length) return answer;
  throw new Error(
    `unexpected reply to HMGET of ${String(fields.length)} fields, expected a string or nil for each`,
  );
}

function isTexts(answer: unknown): answer is readonly (string | null)[] {
  return Array.isArray(answer) && answer.every((text) => typeof text === 'string' || text === null);
}
