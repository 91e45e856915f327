import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEnvoyWith, type EnvoyProcess } from './envoy';
import { eventually } from './eventually';
import { freePort } from '../free-port';

const HOST = '127.0.0.1';
/** The example whose Envoy, model and rules are tried. */
export const LLM_EXAMPLE = join(__dirname, '../../../examples/llm');

/** A request for as many words; the model counts one token for each, and three for asking. */
export interface Question {
  readonly words: number;
  readonly model?: string;
  readonly max_tokens?: unknown;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage: boolean };
}

export interface Asking {
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the client's connection. */
  readonly signal?: AbortSignal;
  /** Told with each piece of the answer. */
  readonly onPiece?: () => void;
}

export interface ModelAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** False where the answer was cut. */
  readonly isWhole: boolean;
}

export interface ModelBehindEnvoy extends EnvoyProcess {
  /** Rejects when there is no answer at all. */
  ask(question: Question | string, asking?: Asking): Promise<ModelAnswer>;
}

/** The Envoy and the model of the example in front of a rate limit service, `host:port`; `edit` changes Envoy's file once it has the places of this machine. */
export async function startModelBehindEnvoy(
  program: string,
  service: string,
  edit = (config: string): string => config,
): Promise<ModelBehindEnvoy> {
  const [port, modelPort] = await Promise.all([freePort(), freePort()]);
  const places = [
    ['0.0.0.0, port_value: 9901', `${HOST}, port_value: 0`],
    ['0.0.0.0, port_value: 10000', `${HOST}, port_value: ${String(port)}`],
    ['model, port_value: 10001', `${HOST}, port_value: ${String(modelPort)}`],
    ['ratelimit, port_value: 8081', service.replace(':', ', port_value: ')],
    // This is about what is asked, not about how fast a busy machine answers.
    ['timeout: 0.250s', 'timeout: 5s'],
  ] as const;
  const config = places.reduce(
    (text, [place, here]) => {
      if (!text.includes(place)) throw new Error(`the example has no ${place}`);
      return text.replace(place, here);
    },
    readFileSync(join(LLM_EXAMPLE, 'envoy.yaml'), 'utf8'),
  );
  const model = spawn(process.execPath, [join(LLM_EXAMPLE, 'model.mjs')], {
    env: { PORT: String(modelPort), HOST },
    stdio: 'ignore',
  });
  const stopModel = () => model.kill('SIGKILL');
  try {
    const envoy = await startEnvoyWith(program, edit(config));
    await eventually(() => fetch(`http://${HOST}:${String(modelPort)}/`));
    const url = `http://${HOST}:${String(port)}/v1/chat/completions`;
    return {
      ...envoy,
      ask: (question, asking) => ask(url, question, asking),
      async stop() {
        stopModel();
        await envoy.stop();
      },
    };
  } catch (error) {
    stopModel();
    throw error;
  }
}

async function ask(
  url: string,
  question: Question | string,
  { user = 'ann', headers = {}, signal, onPiece }: Asking = {},
): Promise<ModelAnswer> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': user, ...headers },
    body: typeof question === 'string' ? question : toBody(question),
    ...(signal && { signal }),
  });
  let body = '';
  let isWhole = true;
  const decoder = new TextDecoder();
  try {
    for await (const piece of answer.body ?? []) {
      body += decoder.decode(piece as Uint8Array, { stream: true });
      onPiece?.();
    }
  } catch {
    isWhole = false;
  }
  return { status: answer.status, headers: answer.headers, body, isWhole };
}

function toBody({ words, ...question }: Question): string {
  const messages = [{ role: 'user', content: `say ${String(words)} words` }];
  return JSON.stringify({ model: 'small', messages, ...question });
}
