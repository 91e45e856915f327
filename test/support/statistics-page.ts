import type { Service } from './service';

/** What `/stats` of the debug port lists, by name. */
export async function readStatistics({ debug }: Service): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${debug}/stats`)).text();
  return new Map(
    text.split('\n').map((line) => {
      const at = line.lastIndexOf(': ');
      return [line.slice(0, at), Number(line.slice(at + 2))];
    }),
  );
}
