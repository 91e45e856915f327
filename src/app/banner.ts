import type { Addresses } from './create-app';

/** What a person who started the service in a terminal wants to know: where it listens, what to try. */
export function banner({ grpc, http, debug }: Addresses, store: string): string {
  return [
    '',
    `  gRPC   ${grpc}`,
    `  HTTP   http://${http}`,
    `  debug  http://${debug}`,
    `  counts in ${store}`,
    `  live view at http://${local(debug)}/ui`,
    '',
    '  Try the example rules (the same line again is over the limit):',
    '',
    `  curl -s ${local(http)}/json -d '{"domain":"example","descriptors":[{"entries":[{"key":"try","value":"curl"}]}]}'`,
    `  node dist/src/bin/ratelimit-client.js -dial_string ${local(grpc)} -domain example -descriptors try=client`,
    '',
    '',
  ].join('\n');
}

/** An address to connect to: one that listens everywhere is reached at localhost. */
function local(address: string): string {
  return address.replace(/^(0\.0\.0\.0|\[::\]):/, 'localhost:');
}
