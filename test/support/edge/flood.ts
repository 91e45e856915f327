import type { Envoy, EnvoyAnswer } from './envoy';

/** Keeps `width` requests open until told to stop; answers what they got. */
export function flood(
  envoy: Envoy,
  width: number,
  headers: Readonly<Record<string, string>>,
): { count(): number; stop(): Promise<readonly EnvoyAnswer[]> } {
  let isOver = false;
  const answers: EnvoyAnswer[] = [];
  const one = async () => {
    while (!isOver) answers.push(await envoy.get(headers));
  };
  const all = Promise.all(Array.from({ length: width }, one));
  return {
    count: () => answers.length,
    async stop() {
      isOver = true;
      await all;
      return answers;
    },
  };
}
