import { toGiven, type Deployment, type GivenValue } from './workload';

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/;
const COMMENT = /^\s*(?:#|$)/;

/** Files from Windows end their lines with CR LF. */
const LINE_END = /\r?\n/;

/** Whether a text is a list of settings, one per line, instead of YAML. */
export function isEnvFile(text: string): boolean {
  const first = text.split(LINE_END).find((line) => !COMMENT.test(line));
  return first !== undefined && LINE.test(first);
}

/** Reads `NAME=value`, one per line, as a shell or a composition does. */
export function readEnvFile(text: string): Deployment {
  const env = new Map<string, GivenValue>();
  const skipped: string[] = [];
  text.split(LINE_END).forEach((line, at) => {
    if (COMMENT.test(line)) return;
    const [, name, value = ''] = LINE.exec(line.trimEnd()) ?? [];
    if (name === undefined) skipped.push(`line ${String(at + 1)}: skipped, expected NAME=value`);
    else env.set(name, toGiven(value.replace(/^(["'])(.*)\1$/, '$2')));
  });
  return { workloads: [{ name: 'environment', env, words: [], mounts: undefined }], skipped };
}
