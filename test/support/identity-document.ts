import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemsOf, type Schema } from './json-schema';
import { send, type HttpAnswer } from './raw-http';

interface DocumentedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface DocumentedResponse {
  readonly $ref?: string;
  readonly headers: Readonly<Record<string, DocumentedHeader>>;
  readonly content?: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<Method, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
  };
}

type Method = 'get' | 'head' | 'options';

const file = join(__dirname, '../../docs/identity/identity.openapi.json');
/** What users are told of the identity service. */
export const openapi = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
export const operations = openapi.paths['/v1/userinfo'] as Readonly<Record<Method, Operation>>;
const { schemas, headers: sharedHeaders, responses: sharedResponses } = openapi.components;

/** Of HTTP itself. */
const OF_HTTP = new Set('connection content-length content-type date keep-alive'.split(' '));

const lastPart = (reference = ''): string => reference.replace(/^.*\//, '');

/** In both directions: what the document promises is there, and what is there is in the document. */
export function problemsOfAnswer(
  { status, headers, body }: HttpAnswer,
  method: Method = 'get',
): readonly string[] {
  const found = operations[method].responses[String(status)];
  if (found === undefined) return [`the status ${String(status)} is not documented`];
  const documented = sharedResponses[lastPart(found.$ref)] ?? found;
  const known = Object.entries(documented.headers);
  const ofHeaders = known.flatMap(([name, header]) => {
    const { required = false, schema = {} } = sharedHeaders[lastPart(header.$ref)] ?? header;
    const value = headers[name.toLowerCase()];
    if (value === undefined && !required) return [];
    return problemsOf(value, schema, schemas, name);
  });
  const names = new Set([...OF_HTTP, ...known.map(([name]) => name.toLowerCase())]);
  const unknown = Object.keys(headers)
    .filter((name) => !names.has(name))
    .map((name) => `the header ${name} is not documented`);
  const schema = documented.content?.['application/json'].schema;
  if (method !== 'get' || schema === undefined)
    return [...ofHeaders, ...unknown, ...(body === '' ? [] : ['there is a body'])];
  return [...ofHeaders, ...unknown, ...problemsOf(JSON.parse(body), schema, schemas)];
}

/** As `send`, and sees that the answer is what the document says of it. */
export async function sendDocumented(...[url, headers, method = 'GET']: Parameters<typeof send>) {
  const answer = await send(url, headers, method);
  const known = method === 'HEAD' || method === 'OPTIONS' ? method : 'GET';
  const problems = problemsOfAnswer(answer, known.toLowerCase() as Method);
  expect([method, answer.status, ...problems]).toEqual([method, answer.status]);
  return answer;
}
