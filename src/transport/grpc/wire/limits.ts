/** Closes a connection whose client has not sent the preface and SETTINGS by then (slow preface; idle port scanners). */
export const PREFACE_MS = 10_000;
/** SETTINGS_TIMEOUT (RFC 9113 §6.5.3): time for a client to acknowledge our SETTINGS. */
export const SETTINGS_ACK_MS = 20_000;
/** Silence after which a PING asks whether the client is still there (half-open connections). */
export const KEEPALIVE_MS = 60_000;
/** Silence after the PING at which the connection is closed. */
export const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Time for a client that has closed its side to get its answers. */
export const HALF_CLOSED_MS = 10_000;
/** From our FIN to the close: time for the client to read what is on the way. */
export const LINGER_MS = 1_000;
/** Wait of a drain for the answer to its PING before it names the last stream regardless. */
export const DRAIN_PING_MS = 1_000;

/** Unread response bytes at which we stop reading requests from this connection. */
export const PAUSE_BYTES = 262_144;
/** Unread response bytes at which it is closed: open calls may still add to them after the pause. */
export const MAX_UNREAD_BYTES = 16_777_216;
/** Wait of a write after which the client counts as not reading at all. */
export const BLOCKED_MS = 30_000;

/** Interval of the checks of all connections. */
export const CHECK_MS = 250;
/** Precision of the deadlines of calls, so that one timer serves all. */
export const DEADLINE_STEP_MS = 5;
