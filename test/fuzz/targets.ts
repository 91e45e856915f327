import { createGrpcTarget } from './grpc-target';
import { createHpackTarget } from './hpack-target';
import { createHttp2Target } from './http2-target';
import { createProtobufTarget } from './protobuf-target';
import { readCorpus } from './sessions';
import { createTablesTarget } from './tables-target';
import type { Target } from './target';

/** A target and its share of a run's octets; the shares make 1. */
export interface Share {
  readonly target: Target;
  readonly share: number;
}

export function createTargets(): Share[] {
  const corpus = readCorpus();
  return [
    { target: createHttp2Target(corpus), share: 0.3 },
    { target: createGrpcTarget(corpus), share: 0.1 },
    { target: createTablesTarget(corpus), share: 0.4 },
    { target: createHpackTarget(corpus), share: 0.1 },
    { target: createProtobufTarget(corpus), share: 0.1 },
  ];
}
