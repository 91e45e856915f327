import { type RedisConnection } from './connection';

/** Asks for fields of a hash by one command; null for those that it has not. */
export async function readHashFields(
  connection: RedisConnection,
  key: string,
  fields: readonly string[],
): Promise<readonly (string | null)[]> {
  try {
    return await connection.client.hmget(key, ...fields);
  } catch (error) {
    throw connection.toError(error);
  }
}
