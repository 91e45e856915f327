import { request } from 'node:http';
import { connect } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** One HTTP request with headers as they are, duplicates too, on a connection of its own. */
export function send(
  url: string,
  headers: readonly (readonly [string, string])[] = [],
  method = 'GET',
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const host: [string, string] = ['Host', new URL(url).host];
    const flat = [host, ...headers].flat();
    const call = request(url, { method, headers: flat, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const single = response.headers as Record<string, string | undefined>;
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: single, body });
      });
    });
    call.on('error', reject);
    call.end();
  });
}

/** Bytes as they are; answers everything that came back. */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer);
    });
    socket.write(bytes, 'latin1');
  });
}
