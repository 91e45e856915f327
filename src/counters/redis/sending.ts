/** How to send a batch. */
export interface Sending {
  /** By plain commands, whose answers say where a key of a cluster is. */
  readonly withoutScripts?: boolean;
  /** For slots of a cluster that are being moved to this node. Implies `withoutScripts`. */
  readonly asking?: boolean;
}
