import { DEFAULT_REQUEST_BOUNDS, type RequestBounds } from '../core/decision/request';

/** Bounds on the cost of one request, for both ports. */
export interface TransportBounds extends RequestBounds {
  /** Bytes of a `/json` body, as received and unpacked. */
  readonly maxJsonBytes: number;
  /** Bytes of a gRPC message, as received and unpacked. */
  readonly maxGrpcMessageBytes: number;
  /** Largest ratio of unpacked to packed body, above 256 KiB. */
  readonly maxUnpackRatio: number;
}

export const DEFAULT_BOUNDS: TransportBounds = {
  ...DEFAULT_REQUEST_BOUNDS,
  maxJsonBytes: 1_048_576,
  maxGrpcMessageBytes: 4_194_304,
  maxUnpackRatio: 100,
};
