/** A caller who has not sent the preface and SETTINGS by then is cut (slow preface; idle port scanners). */
export const PREFACE_MS = 10_000;
/** SETTINGS_TIMEOUT (RFC 9113 §6.5.3): a caller who has not acknowledged our SETTINGS by then. */
export const SETTINGS_ACK_MS = 20_000;
/** After so long a silence the caller is asked by a PING whether it is there (half-open connections). */
export const KEEPALIVE_MS = 60_000;
/** And cut when nothing came so long after the PING. */
export const KEEPALIVE_TIMEOUT_MS = 20_000;
/** A caller who has closed its side gets its answers within this time. */
export const HALF_CLOSED_MS = 10_000;
/** From our FIN to the cut: time for the caller to read what is on the way. */
export const LINGER_MS = 1_000;
/** How long a drain waits for the answer to its PING before the last stream is named all the same. */
export const DRAIN_PING_MS = 1_000;

/** Octets of answers that a caller does not read, from which on its requests are not read either. */
export const PAUSE_BYTES = 262_144;
/** And from which on it is cut: calls already asked may still add to it after the pause. */
export const MAX_UNREAD_BYTES = 16_777_216;
/** A caller that lets a write wait so long does not read at all. */
export const BLOCKED_MS = 30_000;

/** How often connections are looked after. */
export const UPKEEP_MS = 250;
/** Deadlines of calls are kept to this, so that one timer serves all. */
export const DEADLINE_STEP_MS = 5;
