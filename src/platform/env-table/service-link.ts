/** As Kubernetes joins them: an IPv6 address stands in brackets. */
const LINK = /^(?:tcp|udp|sctp):\/\/(?:[\d.]+|\[[\da-f:.]+\]):\d{1,5}$/i;

/**
 * Whether Kubernetes has set this variable because a Service of the namespace is called like it:
 * `grpc` makes `GRPC_PORT=tcp://10.0.0.1:8081`. Of the names that it makes, ours can only be `<SERVICE>_PORT`.
 */
export function isServiceLink(name: string, text: string): boolean {
  return name.endsWith('_PORT') && LINK.test(text);
}
